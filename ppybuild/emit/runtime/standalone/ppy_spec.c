#include "ppy_spec.h"

#include "ppy_digits.h"
#include "ppy_failure.h"
#include "ppy_number_text.h"
#include "ppy_unicode.h"

static _Noreturn void refuse(const char *message) { ppy_raise_ascii(PPY_ValueError, message); }

/* `c`, or as CPython's messages show what is not a printable ASCII character: \x7f */
static ppy_text shown(uint32_t c) {
    char *to = ppy_arena_allocate(16);
    if (c > 32 && c < 128) {
        to[0] = (char)c;
        return (ppy_text){to, 1, 1};
    }
    to[0] = '\\';
    to[1] = 'x';
    const int digits = ppy_int_digits(c, 16, to + 2);
    return (ppy_text){to, digits + 2, digits + 2};
}

void ppy_refuse_type(uint32_t type, ppy_text type_name) {
    const ppy_text parts[] = {PPY_TEXT("Unknown format code '"), shown(type), PPY_TEXT("' for object of type '"), type_name,
                              PPY_TEXT("'")};
    ppy_raise(PPY_ValueError, ppy_concat(parts, 5));
}

static _Noreturn void refuse_spec(ppy_text spec, ppy_text type_name) {
    const ppy_text parts[] = {PPY_TEXT("Invalid format specifier '"), spec, PPY_TEXT("' for object of type '"), type_name,
                              PPY_TEXT("'")};
    ppy_raise(PPY_ValueError, ppy_concat(parts, 5));
}

static _Noreturn void refuse_grouping(char grouping, uint32_t type) {
    char *mark = ppy_arena_allocate(1);
    mark[0] = grouping;
    const ppy_text parts[] = {PPY_TEXT("Cannot specify '"), {mark, 1, 1}, PPY_TEXT("' with '"), shown(type), PPY_TEXT("'.")};
    ppy_raise(PPY_ValueError, ppy_concat(parts, 5));
}

/* Reading: `at` is a byte of `spec`. */

static uint32_t peek(ppy_text spec, int64_t at) { return at < spec.bytes ? ppy_next(spec, &at) : UINT32_MAX; }

static bool take(ppy_text spec, int64_t *at, char wanted) {
    if (peek(spec, *at) != (uint32_t)wanted) return false;
    ++*at;
    return true;
}

static bool is_align(uint32_t c) { return c == '<' || c == '>' || c == '=' || c == '^'; }

/* -1 where there is no digit; digits of every script count. */
static int64_t read_integer(ppy_text spec, int64_t *at) {
    int64_t value = -1;
    while (*at < spec.bytes) {
        int64_t after = *at;
        const int digit = ppy_decimal_digit(ppy_next(spec, &after));
        if (digit < 0) break;
        if (value < 0) value = 0;
        if (value > (INT64_MAX - digit) / 10) refuse("Too many decimal digits in format string");
        value = value * 10 + digit;
        *at = after;
    }
    return value;
}

/* Whether fill or align are said. */
static void read_align(ppy_text spec, int64_t *at, ppy_spec *made, bool *filled, bool *aligned) {
    int64_t second = *at;
    if (spec.bytes) ppy_next(spec, &second);
    *filled = is_align(peek(spec, second)) && spec.length >= 2;
    *aligned = *filled || is_align(peek(spec, *at));
    if (*filled) {
        made->fill = (ppy_text){spec.data + *at, second - *at, 1};
        *at = second;
    }
    if (*aligned) made->align = spec.data[(*at)++];
}

static void check_grouping(const ppy_spec *spec) {
    if (!spec->grouping) return;
    switch (spec->type) {
        case 'd': case 'e': case 'E': case 'f': case 'F': case 'g': case 'G': case '%': case 0:
            return;
        case 'b': case 'o': case 'x': case 'X':
            if (spec->grouping == '_') return;
            break;
        default:
            break;
    }
    refuse_grouping(spec->grouping, spec->type);
}

ppy_spec ppy_read_spec(ppy_text spec, uint32_t default_type, char default_align, ppy_text type_name) {
    ppy_spec made = {.fill = PPY_TEXT(" "), .align = default_align, .precision = -1, .type = default_type};
    int64_t at = 0;
    bool filled, aligned;
    read_align(spec, &at, &made, &filled, &aligned);
    const uint32_t sign = peek(spec, at);
    if (sign == '+' || sign == '-' || sign == ' ') made.sign = spec.data[at++];
    made.z = take(spec, &at, 'z');
    made.alternate = take(spec, &at, '#');
    if (!filled && take(spec, &at, '0')) {
        made.fill = PPY_TEXT("0");
        if (!aligned && default_align == '>') made.align = '=';
    }
    made.width = read_integer(spec, &at);
    if (take(spec, &at, ',')) made.grouping = ',';
    if (peek(spec, at) == '_' || (made.grouping && peek(spec, at) == ',')) {
        if (made.grouping && peek(spec, at) == '_') refuse("Cannot specify both ',' and '_'.");
        if (!made.grouping) {
            made.grouping = '_';
            at++;
            if (peek(spec, at) == ',') refuse("Cannot specify both ',' and '_'.");
        }
    }
    if (take(spec, &at, '.')) {
        made.precision = read_integer(spec, &at);
        if (made.precision < 0) refuse("Format specifier missing precision");
    }
    if (at < spec.bytes) made.type = ppy_next(spec, &at);
    if (at < spec.bytes) refuse_spec(spec, type_name);
    check_grouping(&made);
    return made;
}

/* Laying out. */

static ppy_text padding(const ppy_spec *spec, int64_t count) { return ppy_repeat(spec->fill, count); }

static ppy_text joined(ppy_text sign, ppy_text prefix, ppy_text digits, ppy_text rest, const ppy_spec *spec) {
    const int64_t length = sign.length + prefix.length + digits.length + rest.length;
    const int64_t missing = spec->width > length ? spec->width - length : 0;
    const char align = spec->align;
    const int64_t left = align == '>' ? missing : align == '^' ? missing / 2 : 0;
    const int64_t inside = align == '=' ? missing : 0;
    const ppy_text parts[] = {padding(spec, left), sign, prefix, padding(spec, inside), digits, rest,
                              padding(spec, missing - left - inside)};
    return ppy_concat(parts, 7);
}

/* Digits with separators, and zeros before them, to `width` at least. */
static ppy_text grouped(ppy_text digits, char separator, int64_t group, int64_t width) {
    int64_t left = digits.bytes, room = digits.bytes > width ? digits.bytes : width;
    if (room > INT64_MAX / 4) ppy_raise(PPY_MemoryError, (ppy_text){0});
    room = room * 2 + 1;
    char *made = ppy_arena_allocate(room), *end = made + room, *to = end;
    for (;;) {
        for (int64_t i = 0; i < group || !separator; i++) {
            if (i > 0 && left <= 0 && width <= 0) return (ppy_text){to, end - to, end - to};
            *--to = left > 0 ? digits.data[--left] : '0';
            width--;
        }
        if (left <= 0 && width <= 0) return (ppy_text){to, end - to, end - to};
        *--to = separator;
        width--;
    }
}

ppy_text ppy_pad_number(const ppy_number *number, const ppy_spec *spec) {
    const ppy_text sign = number->negative       ? PPY_TEXT("-")
                          : spec->sign == '+'    ? PPY_TEXT("+")
                          : spec->sign == ' '    ? PPY_TEXT(" ")
                                                 : (ppy_text){0};
    const bool zeros = spec->align == '=' && ppy_equal(spec->fill, PPY_TEXT("0"));
    const int64_t others = sign.length + number->prefix.length + number->rest.length;
    const int64_t group = spec->type == 'b' || spec->type == 'o' || spec->type == 'x' || spec->type == 'X' ? 4 : 3;
    const ppy_text digits = number->digits.bytes && (spec->grouping || zeros)
                                ? grouped(number->digits, spec->grouping, group, zeros ? spec->width - others : 0)
                                : number->digits;
    return joined(sign, number->prefix, digits, number->rest, spec);
}

ppy_text ppy_pad(ppy_text text, const ppy_spec *spec) {
    if (spec->width <= text.length) return text;
    return joined((ppy_text){0}, (ppy_text){0}, (ppy_text){0}, text, spec);
}

ppy_number ppy_split_number(ppy_text text) {
    int64_t digits = 0;
    while (digits < text.bytes && text.data[digits] >= '0' && text.data[digits] <= '9') digits++;
    return (ppy_number){.digits = {text.data, digits, digits},
                        .rest = {text.data + digits, text.bytes - digits, text.length - digits}};
}
