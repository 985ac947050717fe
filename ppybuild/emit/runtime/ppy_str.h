/* Text: the code points of a str where Python has them, and what kernels ask of them.
 *
 * ASCII is answered here; what Unicode says of other characters is asked of Python. */
#ifndef PPY_STR_H
#define PPY_STR_H

typedef struct {
    const void *data;
    int64_t length; /* in characters */
    int64_t kind;   /* bytes a character: 1, 2 or 4 */
} ppy_str;

static PPY_INLINE int64_t ppy_str_at(ppy_str text, int64_t index) {
    if (text.kind == 1) return ((const uint8_t *)text.data)[index];
    if (text.kind == 2) return ((const uint16_t *)text.data)[index];
    return ((const uint32_t *)text.data)[index];
}

static inline ppy_str ppy_str_part(ppy_str text, int64_t start, int64_t length) {
    return (ppy_str){(const char *)text.data + start * text.kind, length, text.kind};
}

/* Whether there is such a place, and this character is there. */
static inline bool ppy_str_has_at(ppy_str text, int64_t index, int64_t code) {
    return index >= 0 && index < text.length && ppy_str_at(text, index) == code;
}

static inline bool ppy_str_holds(ppy_str text, int64_t code) {
    if (text.kind == 1) return code < 256 && text.length > 0 && memchr(text.data, (int)code, (size_t)text.length) != NULL;
    for (int64_t at = 0; at < text.length; at++) {
        if (ppy_str_at(text, at) == code) return true;
    }
    return false;
}

/* Less than 0, 0 or more, as the first is before the second. */
static inline int64_t ppy_str_compare(ppy_str a, ppy_str b) {
    const int64_t both = a.length < b.length ? a.length : b.length;
    for (int64_t at = 0; at < both; at++) {
        const int64_t apart = ppy_str_at(a, at) - ppy_str_at(b, at);
        if (apart != 0) return apart;
    }
    return a.length - b.length;
}

static inline bool ppy_str_equal(ppy_str a, ppy_str b) {
    if (a.length != b.length) return false;
    if (a.kind != b.kind) return ppy_str_compare(a, b) == 0;
    return a.length == 0 || memcmp(a.data, b.data, (size_t)(a.length * a.kind)) == 0;
}

/* Characters. */

static inline bool ppy_ascii_upper(int64_t c) { return c >= 'A' && c <= 'Z'; }
static inline bool ppy_ascii_lower(int64_t c) { return c >= 'a' && c <= 'z'; }
static inline bool ppy_ascii_digit(int64_t c) { return c >= '0' && c <= '9'; }
static inline bool ppy_ascii_space(int64_t c) { return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31); }
static inline bool ppy_ascii_alpha(int64_t c) { return ppy_ascii_upper(c) || ppy_ascii_lower(c); }

#define PPY_CHAR_TEST(name, function, ascii) \
    static inline bool ppy_checked_##name(ppy_run *run, int64_t code, bool *result) { \
        if (PPY_LIKELY(code < 128)) { \
            *result = ascii; \
            return true; \
        } \
        double answer = 0.0; \
        const bool known = ppy_ask(run, function, &(double){(double)code}, 1, &answer); \
        *result = answer != 0.0; \
        return known; \
    }
PPY_CHAR_TEST(isalpha, PPY_ISALPHA, ppy_ascii_alpha(code))
PPY_CHAR_TEST(isdigit, PPY_ISDIGIT, ppy_ascii_digit(code))
PPY_CHAR_TEST(isdecimal, PPY_ISDECIMAL, ppy_ascii_digit(code))
PPY_CHAR_TEST(isnumeric, PPY_ISNUMERIC, ppy_ascii_digit(code))
PPY_CHAR_TEST(isalnum, PPY_ISALNUM, ppy_ascii_alpha(code) || ppy_ascii_digit(code))
PPY_CHAR_TEST(isspace, PPY_ISSPACE, ppy_ascii_space(code))
PPY_CHAR_TEST(isupper, PPY_ISUPPER, ppy_ascii_upper(code))
PPY_CHAR_TEST(islower, PPY_ISLOWER, ppy_ascii_lower(code))

/* Fails where what comes out is not one character. */
#define PPY_CHAR_CASE(name, function, ascii) \
    static inline bool ppy_checked_##name(ppy_run *run, int64_t code, int64_t *result) { \
        if (PPY_LIKELY(code < 128)) { \
            *result = ascii; \
            return true; \
        } \
        double answer = 0.0; \
        const bool known = ppy_ask(run, function, &(double){(double)code}, 1, &answer); \
        *result = (int64_t)answer; \
        return known; \
    }
PPY_CHAR_CASE(lower, PPY_LOWER, ppy_ascii_upper(code) ? code + 32 : code)
PPY_CHAR_CASE(upper, PPY_UPPER, ppy_ascii_lower(code) ? code - 32 : code)

#endif
