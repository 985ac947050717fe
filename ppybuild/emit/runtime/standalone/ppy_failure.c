#define _POSIX_C_SOURCE 200809L
#include "ppy_failure.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ppy_number_text.h"
#include "ppy_process.h"
#include "ppy_stream_state.h"

#define LITERAL(text) {text, (int64_t)sizeof(text) - 1, (int64_t)sizeof(text) - 1}
#define PPY_EXCEPTION_ROW(name, parent) {LITERAL(#name), LITERAL(#name), PPY_##parent},
static const ppy_exception_row exceptions[] = {PPY_EXCEPTIONS(PPY_EXCEPTION_ROW)};
const ppy_exception_row *ppy_own_exceptions;

static const ppy_exception_row *row(ppy_exception kind) {
    return kind < PPY_EXCEPTION_COUNT ? &exceptions[kind] : &ppy_own_exceptions[kind - PPY_EXCEPTION_COUNT];
}

ppy_frame *ppy_top_frame;
const ppy_showing *ppy_shown_now;
static ppy_handler *handlers; /* of the bodies that run now, the innermost first */
static ppy_handler *caught;   /* of the exceptions that are being handled */

bool ppy_is_kind_of(ppy_exception kind, ppy_exception ancestor) {
    while (kind != ancestor && kind != PPY_BaseException) kind = (ppy_exception)row(kind)->parent;
    return kind == ancestor;
}

/* The end of the program. */

/* Lines of frames that are alike are written three times, then counted. */
typedef struct {
    ppy_place last;
    int64_t times;
} repetition;

static void say(ppy_text text) { ppy_write_failure(text); }

static void end_repetition(const repetition *seen) {
    if (seen->times <= 3) return;
    const int64_t more = seen->times - 3;
    const ppy_text parts[] = {PPY_TEXT("  [Previous line repeated "), ppy_str_int(more),
                              more == 1 ? PPY_TEXT(" more time]\n") : PPY_TEXT(" more times]\n")};
    say(ppy_concat(parts, 3));
}

static void say_place(ppy_place place, repetition *seen) {
    const bool again = seen->times && strcmp(place.file, seen->last.file) == 0 && place.line == seen->last.line &&
                       strcmp(place.function, seen->last.function) == 0;
    if (!again) {
        end_repetition(seen);
        *seen = (repetition){place, 0};
    }
    if (++seen->times > 3) return;
    const ppy_text parts[] = {PPY_TEXT("  File \""), ppy_text_of_bytes(place.file, (int64_t)strlen(place.file)),
                              PPY_TEXT("\", line "), ppy_str_int(place.line), PPY_TEXT(", in "),
                              ppy_text_of_bytes(place.function, (int64_t)strlen(place.function)), PPY_TEXT("\n")};
    say(ppy_concat(parts, 7));
}

static ppy_place place_of(const ppy_frame *frame) { return (ppy_place){frame->file, frame->function, frame->line}; }

/* The frames that run, the outermost first, then those that were left. */
static void say_traceback(const ppy_error *error) {
    const ppy_mark mark = ppy_arena_mark();
    repetition seen = {{0}, 0};
    int64_t depth = 0;
    for (const ppy_frame *at = ppy_top_frame; at; at = at->caller) depth++;
    const ppy_frame **running = ppy_arena_allocate(depth * (int64_t)sizeof *running);
    int64_t left = depth;
    for (const ppy_frame *at = ppy_top_frame; at; at = at->caller) running[--left] = at;
    if (depth + error->place_count) say(PPY_TEXT("Traceback (most recent call last):\n"));
    for (int64_t i = 0; i < depth; i++) say_place(place_of(running[i]), &seen);
    for (int64_t i = 0; i < error->place_count; i++) say_place(error->places[i], &seen);
    end_repetition(&seen);
    ppy_arena_release(mark);
}

static void say_last_line(const ppy_error *error) {
    const ppy_text name = row(error->kind)->shown;
    const ppy_text parts[] = {name, PPY_TEXT(": "), error->message, PPY_TEXT("\n")};
    if (error->message.bytes) say(ppy_concat(parts, 4));
    else say(name), say(PPY_TEXT("\n"));
}

static _Noreturn void end(int status) {
    const int failed = ppy_finish();
    _exit(failed ? failed : status & 0xFF);
}

static _Noreturn void end_with_exit(const ppy_error *error) {
    if (error->message.bytes) {
        say(error->message);
        say(PPY_TEXT("\n"));
    }
    end((int)(error->status & 0xFF));
}

static _Noreturn void end_uncaught(const ppy_error *error) {
    ppy_flush_quietly();
    if (error->kind == PPY_SystemExit) end_with_exit(error);
    say_traceback(error);
    if (error->beyond) {
        say(ppy_text_of_bytes(error->beyond, (int64_t)strlen(error->beyond)));
        say(PPY_TEXT(": run this program with Python, or package it in another format\n"));
    } else {
        say_last_line(error);
    }
    if (error->kind != PPY_KeyboardInterrupt) end(1);
    ppy_finish();
    signal(SIGINT, SIG_DFL); /* as the shell expects of what Ctrl-C ended */
    kill(getpid(), SIGINT);
    _exit(130);
}

/* Raising. */

/* Remembers the places of the frames below `handler`'s, and its own line. */
static void remember(ppy_error *error, const ppy_handler *handler) {
    int64_t left = 0;
    for (const ppy_frame *at = ppy_top_frame; at && at != handler->frame; at = at->caller) left++;
    ppy_place *places = malloc((size_t)(left + error->place_count + 1) * sizeof *places);
    if (!places) return;
    if (error->place_count) memcpy(places + left, error->places, (size_t)error->place_count * sizeof *places);
    error->place_count += left;
    for (const ppy_frame *at = ppy_top_frame; at && at != handler->frame; at = at->caller) places[--left] = place_of(at);
    free(error->places);
    error->places = places;
}

static void forget(ppy_error *error) {
    ppy_drop(&error->message);
    free(error->places);
    *error = (ppy_error){0};
}

/* Takes over what `error` holds. */
static _Noreturn void raise_error(ppy_error error) {
    ppy_handler *handler = error.beyond ? NULL : handlers;
    if (!handler) end_uncaught(&error);
    remember(&error, handler);
    error.line = handler->frame ? handler->frame->line : 0;
    while (ppy_top_frame != handler->frame) ppy_frame_leave(ppy_top_frame);
    for (; caught != handler->caught_before; caught = caught->caught_before) forget(&caught->error);
    ppy_arena_release(handler->mark);
    ppy_shown_now = handler->showing;
    handlers = handler->outer;
    handler->error = error;
    caught = handler;
    longjmp(handler->at, 1);
}

void ppy_raise(ppy_exception kind, ppy_text message) {
    ppy_error error = {.kind = kind};
    if (message.bytes) ppy_keep(&error.message, message);
    raise_error(error);
}

void ppy_raise_ascii(ppy_exception kind, const char *message) {
    const int64_t bytes = (int64_t)strlen(message);
    ppy_raise(kind, (ppy_text){message, bytes, bytes});
}

void ppy_raise_memory(void) { ppy_raise(PPY_MemoryError, (ppy_text){0}); }

void ppy_raise_recursion(void) { ppy_raise(PPY_RecursionError, PPY_TEXT("maximum recursion depth exceeded")); }

void ppy_raise_integer(void) { ppy_raise_beyond("an integer needs more than 64 bits"); }

void ppy_raise_beyond(const char *what) { raise_error((ppy_error){.kind = PPY_OverflowError, .beyond = what}); }

void ppy_exit(int64_t status) { raise_error((ppy_error){.kind = PPY_SystemExit, .status = status}); }

void ppy_exit_text(ppy_text message) {
    ppy_error error = {.kind = PPY_SystemExit, .status = 1};
    ppy_keep(&error.message, message.bytes ? message : PPY_TEXT(""));
    raise_error(error);
}

/* Catching. */

void ppy_try_begin(ppy_handler *handler) {
    handler->frame = ppy_top_frame;
    handler->mark = ppy_arena_mark();
    handler->showing = ppy_shown_now;
    handler->outer = handlers;
    handler->caught_before = caught;
    handlers = handler;
}

void ppy_try_end(ppy_handler *handler) { handlers = handler->outer; }

bool ppy_caught_is(ppy_exception kind) { return ppy_is_kind_of(caught->error.kind, kind); }

ppy_text ppy_caught_text(void) {
    const ppy_error *error = &caught->error;
    if (error->kind == PPY_SystemExit && error->status != 1) return ppy_str_int(error->status);
    return error->message.bytes ? ppy_arena_copy(error->message) : (ppy_text){0};
}

ppy_text ppy_caught_name(void) { return row(caught->error.kind)->name; }

ppy_text ppy_caught_repr(void) {
    const ppy_text text = ppy_caught_text();
    const bool quoted = text.bytes && caught->error.kind != PPY_SystemExit && !ppy_is_kind_of(caught->error.kind, PPY_KeyError);
    const ppy_text parts[] = {row(caught->error.kind)->name, PPY_TEXT("("), quoted ? ppy_repr_text(text) : text,
                              PPY_TEXT(")")};
    return ppy_concat(parts, 4);
}

void ppy_caught_end(void) {
    ppy_handler *handler = caught;
    caught = handler->caught_before;
    forget(&handler->error);
}

void ppy_reraise(void) {
    ppy_handler *handler = caught;
    ppy_error error = handler->error;
    handler->error = (ppy_error){0};
    caught = handler->caught_before;
    if (ppy_top_frame) ppy_top_frame->line = error.line;
    raise_error(error);
}
