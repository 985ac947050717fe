/* The functions of the runtime by number, for tests: what one gives or raises, as text. */
#include <string.h>

#include "ppy_standalone.h"

typedef struct {
    ppy_text a, b, c;
    int64_t i, j, k;
    double d;
} arguments;

typedef ppy_text (*operation)(const arguments *at);

static ppy_text str_of(int64_t value) { return ppy_str_int(value); }

#define OPERATION(name, ...) static ppy_text name(const arguments *at) { return __VA_ARGS__; }
OPERATION(str_int, ppy_str_int(at->i))
OPERATION(str_float, ppy_str_float(at->d))
OPERATION(repr_text, ppy_repr_text(at->a))
OPERATION(ascii_text, ppy_ascii(ppy_repr_text(at->a)))
OPERATION(format_int, ppy_format_int(at->i, at->a))
OPERATION(format_float, ppy_format_float(at->d, at->a))
OPERATION(format_bool, ppy_format_bool(at->i != 0, at->a))
OPERATION(format_text, ppy_format_text(at->b, at->a))
OPERATION(percent_int, ppy_percent_int(at->a, at->i))
OPERATION(percent_float, ppy_percent_float(at->a, at->d))
OPERATION(percent_text, ppy_percent_text(at->a, at->b))
OPERATION(int_of_text, str_of(ppy_int_of_text(at->a, at->i)))
OPERATION(float_of_text, ppy_str_float(ppy_float_of_text(at->a)))
OPERATION(slice, ppy_slice(at->a, at->i, at->j, at->k))
OPERATION(item, ppy_at(at->a, at->i))
OPERATION(character, ppy_chr(at->i))
OPERATION(ordinal, str_of(ppy_ord(at->a)))
OPERATION(find, str_of(ppy_find(at->a, at->b)))
OPERATION(count, str_of(ppy_count(at->a, at->b)))
OPERATION(replace, ppy_replace(at->a, at->b, at->c))
OPERATION(strip, ppy_strip(at->a))
OPERATION(strip_left, ppy_strip_left(at->a))
OPERATION(strip_right, ppy_strip_right(at->a))
OPERATION(repeat, ppy_repeat(at->a, at->i))
OPERATION(compare, str_of((ppy_compare(at->a, at->b) > 0) - (ppy_compare(at->a, at->b) < 0)))
OPERATION(length, str_of(at->a.length))
OPERATION(starts_with, ppy_str_bool(ppy_starts_with(at->a, at->b)))
OPERATION(ends_with, ppy_str_bool(ppy_ends_with(at->a, at->b)))

static ppy_text join(const arguments *at) {
    const ppy_text parts[] = {at->b, at->c, at->b};
    return ppy_join(at->a, parts, 3);
}

static const struct {
    const char *name;
    operation run;
} operations[] = {
    {"str_int", str_int}, {"str_float", str_float}, {"repr_text", repr_text}, {"ascii_text", ascii_text},
    {"format_int", format_int}, {"format_float", format_float}, {"format_bool", format_bool},
    {"format_text", format_text}, {"percent_int", percent_int}, {"percent_float", percent_float},
    {"percent_text", percent_text}, {"int_of_text", int_of_text}, {"float_of_text", float_of_text},
    {"slice", slice}, {"item", item}, {"character", character}, {"ordinal", ordinal}, {"find", find},
    {"count", count}, {"replace", replace}, {"strip", strip}, {"strip_left", strip_left},
    {"strip_right", strip_right}, {"repeat", repeat}, {"compare", compare}, {"length", length},
    {"starts_with", starts_with}, {"ends_with", ends_with}, {"join", join},
};

/* Writes what the operation gives after `=`, or what it raises after `!`, at most `room` bytes;
 * how many there are, or -1 where there is no such operation. */
int64_t drive(const char *name, const arguments *at, char *out, int64_t room) {
    const ppy_mark mark = ppy_arena_mark();
    volatile operation run = NULL;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strcmp(operations[i].name, name) == 0) run = operations[i].run;
    if (!run) return -1;
    volatile bool raised = false;
    volatile ppy_text volatile_made = {0};
    ppy_handler handler;
    if (PPY_TRY(&handler)) {
        const ppy_text made = run(at);
        volatile_made.data = made.data;
        volatile_made.bytes = made.bytes;
        volatile_made.length = made.length;
        ppy_try_end(&handler);
    } else {
        const ppy_text made = ppy_caught_repr();
        volatile_made.data = made.data;
        volatile_made.bytes = made.bytes;
        volatile_made.length = made.length;
        raised = true;
        ppy_caught_end();
    }
    const ppy_text made = {volatile_made.data, volatile_made.bytes, volatile_made.length};
    if (made.length != ppy_text_of_bytes(made.data, made.bytes).length) return -2;
    out[0] = raised ? '!' : '=';
    if (made.bytes && made.bytes < room) memcpy(out + 1, made.data, (size_t)made.bytes);
    ppy_arena_release(mark);
    return made.bytes + 1;
}

/* The str of each, and a line's end after each; how many bytes. */
int64_t str_floats(const double *values, int64_t count, char *out) {
    char *to = out;
    const ppy_mark mark = ppy_arena_mark();
    for (int64_t i = 0; i < count; i++) {
        const ppy_text text = ppy_str_float(values[i]);
        memcpy(to, text.data, (size_t)text.bytes);
        to += text.bytes;
        *to++ = '\n';
        ppy_arena_release(mark);
    }
    return to - out;
}
