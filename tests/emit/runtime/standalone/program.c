/* What `program.py` does, as a program without Python would be written. */
#include <string.h>

#include "ppy_standalone.h"

#define FILE_NAME "program.py"

static void write_much(int64_t seed) {
    ppy_frame frame = {.file = FILE_NAME, .function = "write", .line = 12};
    ppy_frame_enter(&frame);
    for (int64_t turn = 0; turn < 400; turn++) {
        const ppy_mark mark = ppy_arena_mark();
        seed = (seed * 1103515245 + 12345) % 2147483648;
        const int64_t size = seed / 65536 % (turn % 40 == 0 ? 9000 : 300);
        const ppy_text parts[] = {ppy_repeat(ppy_chr(97 + turn % 26), size), ppy_str_int(turn)};
        ppy_print(parts, 2, PPY_TEXT(" "), seed / 11 % 2 ? PPY_TEXT("\n") : PPY_TEXT(""),
                  seed / 7 % 5 == 0 ? PPY_STDERR : PPY_STDOUT, seed / 13 % 50 == 0);
        ppy_arena_release(mark);
    }
    ppy_frame_leave(&frame);
}

static int64_t deep(int64_t n) {
    ppy_text kept[1] = {{0}};
    ppy_frame frame = {.file = FILE_NAME, .function = "deep", .kept = kept, .kept_count = 1, .line = 22};
    ppy_frame_enter(&frame);
    ppy_keep(&kept[0], PPY_TEXT("lost unless the frame drops it"));
    frame.line = 22;
    const int64_t made = n < 0 ? 0 : deep(n + 1); /* always: so that compilers do not warn */
    ppy_frame_leave(&frame);
    return made;
}

static double ratio(double a, double b) {
    ppy_frame frame = {.file = FILE_NAME, .function = "ratio", .line = 26};
    ppy_frame_enter(&frame);
    if (b == 0) ppy_raise_ascii(PPY_ZeroDivisionError, "float division by zero");
    ppy_frame_leave(&frame);
    return a / b;
}

static void print_two(ppy_text a, ppy_text b) {
    const ppy_text parts[] = {a, b};
    ppy_print(parts, 2, PPY_TEXT(" "), PPY_TEXT("\n"), PPY_STDOUT, false);
}

static void caught(void) {
    ppy_text kept[1] = {{0}};
    ppy_frame frame = {.file = FILE_NAME, .function = "caught", .kept = kept, .kept_count = 1};
    ppy_frame_enter(&frame);
    ppy_keep(&kept[0], PPY_TEXT("kept"));
    ppy_handler handler, inner;
    if (PPY_TRY(&handler)) {
        ppy_keep(&kept[0], ppy_repeat(kept[0], 2));
        frame.line = 33;
        ratio(1, 0);
        ppy_try_end(&handler);
    } else if (ppy_caught_is(PPY_ZeroDivisionError)) {
        const ppy_text parts[] = {PPY_TEXT("caught"), ppy_caught_text(), ppy_caught_repr(), kept[0]};
        ppy_print(parts, 4, PPY_TEXT(" "), PPY_TEXT("\n"), PPY_STDOUT, false);
        if (PPY_TRY(&inner)) {
            ppy_raise(PPY_KeyError, PPY_TEXT("'key'"));
        } else if (ppy_caught_is(PPY_LookupError)) {
            print_two(PPY_TEXT("inner"), ppy_caught_text());
            ppy_caught_end();
        } else {
            ppy_reraise();
        }
        ppy_caught_end();
    } else {
        ppy_reraise();
    }
    if (PPY_TRY(&handler)) {
        deep(0);
        ppy_try_end(&handler);
    } else {
        ppy_print_line(ppy_caught_text());
        ppy_caught_end();
    }
    if (PPY_TRY(&handler)) {
        ppy_exit(4);
    } else {
        print_two(PPY_TEXT("exit"), ppy_caught_text());
        ppy_caught_end();
    }
    if (PPY_TRY(&handler)) {
        frame.line = 49;
        ratio(2, 0);
        ppy_try_end(&handler);
    } else {
        frame.line = 51;
        ppy_reraise();
    }
    ppy_frame_leave(&frame);
}

static void grow(void) {
    ppy_text text = {0};
    for (int64_t turn = 0; turn < 100000; turn++) {
        const ppy_mark mark = ppy_arena_mark();
        ppy_keep_more(&text, ppy_chr(97 + turn % 26));
        if (text.length > 1000) ppy_keep(&text, ppy_slice(text, 500, PPY_ABSENT, 1));
        ppy_arena_release(mark);
    }
    print_two(ppy_str_int(text.length), ppy_slice(text, -3, PPY_ABSENT, 1));
    ppy_keep_more(&text, text);
    print_two(ppy_str_int(text.length), ppy_slice(text, -3, PPY_ABSENT, 1));
    ppy_drop(&text);
}

static void echo(void) {
    ppy_handler handler;
    if (PPY_TRY(&handler)) {
        for (;;) {
            const ppy_mark mark = ppy_arena_mark();
            ppy_print_line(ppy_repr_text(ppy_input(PPY_TEXT("? "))));
            ppy_arena_release(mark);
        }
    } else if (ppy_caught_is(PPY_EOFError)) {
        print_two(PPY_TEXT("end"), ppy_caught_text());
        ppy_caught_end();
    } else {
        ppy_reraise();
    }
}

static void program(ppy_frame *frame) {
    const ppy_text name = ppy_arguments[1], more = ppy_argument_count > 2 ? ppy_arguments[2] : (ppy_text){0};
    frame->line = 76;
    if (ppy_equal(name, PPY_TEXT("write"))) write_much(ppy_int_of_text(more, 10));
    frame->line = 78;
    if (ppy_equal(name, PPY_TEXT("caught"))) caught();
    frame->line = 80;
    if (ppy_equal(name, PPY_TEXT("deep"))) deep(0);
    frame->line = 82;
    if (ppy_equal(name, PPY_TEXT("ratio"))) ratio(1, 0);
    if (ppy_equal(name, PPY_TEXT("exit"))) {
        ppy_print_line(PPY_TEXT("before"));
        ppy_exit(ppy_int_of_text(more, 10));
    }
    if (ppy_equal(name, PPY_TEXT("say"))) {
        ppy_print_line(PPY_TEXT("before"));
        ppy_exit_text(PPY_TEXT("bye"));
    }
    if (ppy_equal(name, PPY_TEXT("grow"))) grow();
    frame->line = 92;
    if (ppy_equal(name, PPY_TEXT("echo"))) echo();
    if (ppy_equal(name, PPY_TEXT("surrogate"))) {
        print_two(ppy_repr_text(more), ppy_str_int(more.length));
        ppy_print(&more, 1, PPY_TEXT(" "), PPY_TEXT("\n"), PPY_STDERR, false);
        ppy_print_line(PPY_TEXT("before"));
        frame->line = 97;
        ppy_print_line(more);
    }
    frame->line = 99;
    if (ppy_equal(name, PPY_TEXT("parse"))) ppy_print_line(ppy_str_int(ppy_int_of_text(more, 10)));
    frame->line = 102;
    for (int64_t turn = 0; ppy_equal(name, PPY_TEXT("much")) && turn < 100000; turn++) {
        const ppy_mark mark = ppy_arena_mark();
        print_two(PPY_TEXT("abcdefghijk"), ppy_str_int(turn));
        ppy_arena_release(mark);
    }
}

int main(int argc, char **argv) {
    ppy_start(argc, argv);
    ppy_frame module = {.file = FILE_NAME, .function = "<module>", .line = 105};
    ppy_frame_enter(&module);
    ppy_frame frame = {.file = FILE_NAME, .function = "main"};
    ppy_frame_enter(&frame);
    program(&frame);
    ppy_frame_leave(&frame);
    ppy_frame_leave(&module);
    return ppy_finish();
}
