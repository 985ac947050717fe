/* What is known of code points, as in the Unicode 14.0 that CPython 3.11 has. */
#ifndef PPY_UNICODE_H
#define PPY_UNICODE_H

#include <stdbool.h>
#include <stdint.h>

bool ppy_is_printable(uint32_t code_point); /* as str.isprintable */
bool ppy_is_space(uint32_t code_point);     /* as str.isspace */
int ppy_decimal_digit(uint32_t code_point); /* the value of a decimal digit of any script, or -1 */

/* Writes UTF-8, at most 4 bytes, also for surrogates; how many. */
int64_t ppy_encode(uint32_t code_point, char *to);

static inline bool ppy_is_surrogate(uint32_t code_point) { return code_point >= 0xD800 && code_point <= 0xDFFF; }

/* What a look at bytes that should be UTF-8 finds first. */
typedef enum { PPY_VALID, PPY_BAD_START, PPY_BAD_CONTINUATION, PPY_CUT } ppy_utf8;

/* Looks at the code point at `data[*at]` and sets `*at` after it; else `*at` stays, and
 * `*wrong` is how many bytes CPython's decoder would give up together. */
ppy_utf8 ppy_decode(const char *data, int64_t bytes, int64_t *at, int64_t *wrong);

#endif
