/* math.hypot, math.dist and math.fsum, as `mathmodule.c` of CPython 3.11 computes them. */
#ifndef PPY_NORM_H
#define PPY_NORM_H

#include "ppy_list.h"

double ppy_hypot(const double *values, int64_t count); /* of at most 255 values */
double ppy_fsum(const ppy_list *values);               /* floats; OverflowError, ValueError */

#endif
