/* str() and repr(). */
#include "ppy_number_text.h"

#include <string.h>

#include "ppy_digits.h"
#include "ppy_unicode.h"

ppy_text ppy_str_bool(bool value) { return value ? PPY_TEXT("True") : PPY_TEXT("False"); }

ppy_text ppy_str_int(int64_t value) {
    char digits[PPY_INT_DIGITS];
    const int count = ppy_int_digits(value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 10, digits);
    char *to = ppy_arena_allocate(count + 1);
    to[0] = '-';
    memcpy(to + (value < 0), digits, (size_t)count);
    return (ppy_text){to, count + (value < 0), count + (value < 0)};
}

ppy_text ppy_str_float(double value) {
    char digits[PPY_SHORTEST_DIGITS], *to = ppy_arena_allocate(PPY_FLOAT_BYTES);
    const ppy_decimal decimal = ppy_shortest(value, digits);
    char *end = to;
    if (decimal.negative && decimal.kind != PPY_NAN) *end++ = '-';
    const ppy_layout layout = {.form = PPY_EITHER, .exponent_above = 16, .point_zero = true};
    end = ppy_lay_out(&decimal, &layout, end);
    return (ppy_text){to, end - to, end - to};
}

/* Two hexadecimal digits for each byte that `width` counts. */
static char *put_escape(char *to, char letter, uint32_t value, int width) {
    static const char hexadecimal[] = "0123456789abcdef";
    *to++ = '\\';
    *to++ = letter;
    for (int i = width - 1; i >= 0; i--) *to++ = hexadecimal[value >> 4 * i & 15];
    return to;
}

static char *put_escaped(char *to, uint32_t c) {
    return c < 0x100 ? put_escape(to, 'x', c, 2) : c < 0x10000 ? put_escape(to, 'u', c, 4) : put_escape(to, 'U', c, 8);
}

static char *put_quoted(char *to, uint32_t c, char quote) {
    const char letter = c == '\t' ? 't' : c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\\' || c == (uint32_t)quote ? (char)c : 0;
    if (letter) {
        *to++ = '\\';
        *to++ = letter;
        return to;
    }
    return ppy_is_printable(c) ? to + ppy_encode(c, to) : put_escaped(to, c);
}

static ppy_text made(char *from, const char *to) { return ppy_text_of_bytes(from, to - from); }

ppy_text ppy_repr_text(ppy_text text) {
    const bool single = text.bytes && memchr(text.data, '\'', (size_t)text.bytes);
    const bool both = single && memchr(text.data, '"', (size_t)text.bytes);
    const char quote = single && !both ? '"' : '\'';
    char *from = ppy_arena_allocate(text.length * 10 + 2), *to = from; /* \U and eight digits */
    *to++ = quote;
    for (int64_t at = 0; at < text.bytes;) to = put_quoted(to, ppy_next(text, &at), quote);
    *to++ = quote;
    return made(from, to);
}

ppy_text ppy_ascii(ppy_text repr) {
    if (repr.bytes == repr.length) return repr;
    char *from = ppy_arena_allocate(repr.length * 10), *to = from;
    for (int64_t at = 0; at < repr.bytes;) {
        const uint32_t c = ppy_next(repr, &at);
        if (c < 0x80) *to++ = (char)c;
        else to = put_escaped(to, c);
    }
    return made(from, to);
}

/* [items], each of which `REPR` makes a text of. */
#define REPR_LIST(name, type, REPR) \
    ppy_text name(const type *items, int64_t count) { \
        ppy_text *parts = ppy_arena_allocate(count * (int64_t)sizeof *parts); \
        for (int64_t i = 0; i < count; i++) parts[i] = REPR(items[i]); \
        const ppy_text whole[] = {PPY_TEXT("["), ppy_join(PPY_TEXT(", "), parts, count), PPY_TEXT("]")}; \
        return ppy_concat(whole, 3); \
    }

REPR_LIST(ppy_repr_ints, int64_t, ppy_str_int)
REPR_LIST(ppy_repr_floats, double, ppy_str_float)
REPR_LIST(ppy_repr_bools, bool, ppy_str_bool)
REPR_LIST(ppy_repr_texts, ppy_text, ppy_repr_text)
