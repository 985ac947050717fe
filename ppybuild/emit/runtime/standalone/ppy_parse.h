/* int(text, base) and float(text), with CPython's grammar and messages. */
#ifndef PPY_PARSE_H
#define PPY_PARSE_H

#include "ppy_text.h"

/* Base 0 or 2 to 36. ValueError; a value beyond 64 bits is `ppy_raise_integer`. */
int64_t ppy_int_of_text(ppy_text text, int64_t base);
double ppy_float_of_text(ppy_text text); /* ValueError */

#endif
