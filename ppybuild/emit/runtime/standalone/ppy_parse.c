#include "ppy_parse.h"

#include <stdlib.h>
#include <string.h>
#include <math.h>

#include "ppy_failure.h"
#include "ppy_number_text.h"
#include "ppy_unicode.h"

#define LONGEST_INTEGER 4300 /* sys.get_int_max_str_digits() */

/* As C's isspace: U+001C to U+001F are white space for str.strip, not for numbers. */
static bool is_blank(uint32_t c) { return c < 0x80 ? c == ' ' || (c >= '\t' && c <= '\r') : ppy_is_space(c); }

/* The text as ASCII, without white space around it: digits of every script are digits, white
 * space is a blank, and what no number has is `?`. Ends with a zero byte. */
static char *to_ascii(ppy_text text) {
    char *made = ppy_arena_allocate(text.length + 1), *to = made;
    for (int64_t at = 0; at < text.bytes;) {
        const uint32_t c = ppy_next(text, &at);
        const int digit = c < 0x80 ? -1 : ppy_decimal_digit(c);
        *to++ = is_blank(c) ? ' ' : digit >= 0 ? (char)('0' + digit) : c == 0 || c >= 0x80 ? '?' : (char)c;
    }
    while (to > made && to[-1] == ' ') to--;
    *to = 0;
    while (*made == ' ') made++;
    return made;
}

static int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'z') return c - 'a' + 10;
    if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
    return 99;
}

static _Noreturn void refuse_int(ppy_text text, int64_t base) {
    const ppy_text shown = ppy_repr_text(text);
    const ppy_text parts[] = {PPY_TEXT("invalid literal for int() with base "), ppy_str_int(base), PPY_TEXT(": "),
                              ppy_slice(shown, 0, 200, 1)};
    ppy_raise(PPY_ValueError, ppy_concat(parts, 4));
}

static _Noreturn void refuse_length(int64_t digits) {
    const ppy_text parts[] = {PPY_TEXT("Exceeds the limit (4300 digits) for integer string conversion: value has "),
                              ppy_str_int(digits),
                              PPY_TEXT(" digits; use sys.set_int_max_str_digits() to increase the limit")};
    ppy_raise(PPY_ValueError, ppy_concat(parts, 3));
}

/* The base that a prefix says: 0x, 0o, 0b; 0 where there is none. */
static int64_t prefix(const char *at) {
    if (at[0] != '0') return 0;
    switch (at[1] | 0x20) {
        case 'x': return 16;
        case 'o': return 8;
        case 'b': return 2;
        default: return 0;
    }
}

int64_t ppy_int_of_text(ppy_text text, int64_t base) {
    if (base != 0 && (base < 2 || base > 36)) ppy_raise_ascii(PPY_ValueError, "int() base must be >= 2 and <= 36, or 0");
    const char *at = to_ascii(text);
    const bool negative = *at == '-';
    if (*at == '-' || *at == '+') at++;
    const int64_t said = prefix(at);
    const bool only_zero = base == 0 && !said && *at == '0'; /* 010 is no literal of Python 3 */
    const int64_t radix = base ? base : said ? said : 10;
    if (said == radix) {
        at += 2;
        if (*at == '_') at++;
    }
    uint64_t value = 0;
    bool beyond = false, digit_before = false;
    int64_t digits = 0;
    for (;; at++) {
        const int digit = digit_of(*at);
        if (digit < radix) {
            digits++;
            digit_before = true;
            beyond |= __builtin_mul_overflow(value, (uint64_t)radix, &value) | __builtin_add_overflow(value, (uint64_t)digit, &value);
        } else if (*at == '_' && digit_before) {
            digit_before = false;
        } else {
            break;
        }
    }
    if (!digit_before) refuse_int(text, base);
    if (digits > LONGEST_INTEGER && (radix & (radix - 1)) != 0) refuse_length(digits);
    if (*at || (only_zero && (value || beyond))) refuse_int(text, base);
    if (beyond || value > (uint64_t)INT64_MAX + negative) ppy_raise_integer();
    return negative ? (int64_t)(0 - value) : (int64_t)value;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c; }

/* Whether the lower-case `word` is all that is left, in any case. */
static bool is_word(const char *at, const char *word) {
    for (; *word; at++, word++)
        if (lower(*at) != *word) return false;
    return *at == 0;
}

/* Removes underscores that are between digits; false where there is another. */
static bool drop_underscores(char *text) {
    char *to = text;
    for (const char *at = text; *at; at++) {
        if (*at != '_') *to++ = *at;
        else if (at == text || !is_digit(at[-1]) || !is_digit(at[1])) return false;
    }
    *to = 0;
    return true;
}

static const char *skip_digits(const char *at, int64_t *count) {
    for (; is_digit(*at); at++) ++*count;
    return at;
}

/* Whether it is digits with at most a point, and at most an exponent. */
static bool is_decimal(const char *at) {
    int64_t digits = 0, exponent = 0;
    at = skip_digits(at, &digits);
    if (*at == '.') at = skip_digits(at + 1, &digits);
    if (digits == 0) return false;
    if (lower(*at) != 'e') return *at == 0;
    at++;
    if (*at == '-' || *at == '+') at++;
    at = skip_digits(at, &exponent);
    return exponent && *at == 0;
}

double ppy_float_of_text(ppy_text text) {
    char *at = to_ascii(text);
    if (drop_underscores(at)) {
        const char *unsigned_at = at + (*at == '-' || *at == '+');
        const double sign = *at == '-' ? -1.0 : 1.0;
        if (is_word(unsigned_at, "inf") || is_word(unsigned_at, "infinity")) return sign * INFINITY;
        if (is_word(unsigned_at, "nan")) return copysign(NAN, sign);
        if (is_decimal(unsigned_at)) return strtod(at, NULL); /* exact; no locale is ever set */
    }
    const ppy_text parts[] = {PPY_TEXT("could not convert string to float: "), ppy_repr_text(text)};
    ppy_raise(PPY_ValueError, ppy_concat(parts, 2));
}
