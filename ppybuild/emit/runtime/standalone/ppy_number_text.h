/* str() and repr() of numbers, strings, and lists of them. Results are in the arena. */
#ifndef PPY_NUMBER_TEXT_H
#define PPY_NUMBER_TEXT_H

#include "ppy_text.h"

ppy_text ppy_str_int(int64_t value);
ppy_text ppy_str_float(double value);  /* str and repr: the shortest digits that give the value back */
ppy_text ppy_str_bool(bool value);     /* borrowed */
ppy_text ppy_repr_text(ppy_text text); /* CPython's quotes and escapes; printable as in Unicode 14.0 */
ppy_text ppy_ascii(ppy_text repr);     /* of a repr, `!a`: escapes all that is not ASCII */

/* round(value, digits), digits not below zero: the decimal that is nearest, as a float. */
double ppy_round_digits(double value, int64_t digits);

/* [1, 2, 3]. A tuple is `ppy_concat` of its parts. */
ppy_text ppy_repr_ints(const int64_t *items, int64_t count);
ppy_text ppy_repr_floats(const double *items, int64_t count);
ppy_text ppy_repr_bools(const bool *items, int64_t count);
ppy_text ppy_repr_texts(const ppy_text *items, int64_t count);

#endif
