#include "ppy_unicode.h"

#include <stddef.h>

#include "ppy_unicode_tables.h"

/* How many of the ascending numbers are at most `code_point`. */
static size_t passed(const uint32_t *changes, size_t count, uint32_t code_point) {
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (changes[middle] <= code_point) low = middle + 1;
        else high = middle;
    }
    return low;
}

#define PASSED(changes, code_point) passed(changes, sizeof changes / sizeof *changes, code_point)

bool ppy_is_printable(uint32_t code_point) {
    if (code_point < 0x7F) return code_point >= 0x20;
    return PASSED(printable_changes, code_point) % 2;
}

bool ppy_is_space(uint32_t code_point) { return PASSED(space_changes, code_point) % 2; }

int ppy_decimal_digit(uint32_t code_point) {
    const size_t at = PASSED(decimal_zeros, code_point);
    if (at == 0) return -1;
    const uint32_t value = code_point - decimal_zeros[at - 1];
    return value < 10 ? (int)value : -1;
}

int64_t ppy_encode(uint32_t c, char *to) {
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xC0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xE0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 0x3F));
        to[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    to[0] = (char)(0xF0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 0x3F));
    to[2] = (char)(0x80 | (c >> 6 & 0x3F));
    to[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

/* Whether `second` may follow `first`: no overlong forms, no surrogates, nothing above 10FFFF. */
static bool follows(unsigned char first, unsigned char second) {
    switch (first) {
        case 0xE0: return second >= 0xA0 && second <= 0xBF;
        case 0xED: return second >= 0x80 && second <= 0x9F;
        case 0xF0: return second >= 0x90 && second <= 0xBF;
        case 0xF4: return second >= 0x80 && second <= 0x8F;
        default: return second >= 0x80 && second <= 0xBF;
    }
}

ppy_utf8 ppy_decode(const char *data, int64_t bytes, int64_t *at, int64_t *wrong) {
    const unsigned char *here = (const unsigned char *)data + *at;
    const int64_t left = bytes - *at;
    const unsigned char first = here[0];
    if (first < 0x80) return (void)(*at += 1), PPY_VALID;
    const int64_t needed = first < 0xC2 || first > 0xF4 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    *wrong = 1;
    if (needed == 0) return PPY_BAD_START;
    for (int64_t i = 1; i < needed; i++) {
        *wrong = i;
        if (i == left) return PPY_CUT;
        if (i == 1 ? !follows(first, here[1]) : (here[i] & 0xC0) != 0x80) return PPY_BAD_CONTINUATION;
    }
    *at += needed;
    return PPY_VALID;
}
