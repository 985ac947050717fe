/* The format mini-language, read:
 *     [[fill]align][sign][z][#][0][width][,|_][.precision][type] */
#ifndef PPY_SPEC_H
#define PPY_SPEC_H

#include "ppy_text.h"

typedef struct {
    ppy_text fill; /* one code point */
    char align;    /* < > ^ = */
    char sign;     /* + - blank, or 0 */
    bool z, alternate;
    int64_t width; /* -1 where it is not said */
    char grouping; /* , _ or 0 */
    int64_t precision; /* -1 where it is not said */
    uint32_t type;     /* 0 where it is not said, and the type has no default */
} ppy_spec;

/* `type_name` is what errors call the type. ValueError. */
ppy_spec ppy_read_spec(ppy_text spec, uint32_t default_type, char default_align, ppy_text type_name);

_Noreturn void ppy_refuse_type(uint32_t type, ppy_text type_name); /* "Unknown format code …" */

/* A number in the parts that padding and grouping tell apart. */
typedef struct {
    bool negative;
    ppy_text prefix; /* 0x */
    ppy_text digits; /* before the point; grouped */
    ppy_text rest;   /* the point and what follows it, inf, nan, one character */
} ppy_number;

ppy_text ppy_pad_number(const ppy_number *number, const ppy_spec *spec);
ppy_text ppy_pad(ppy_text text, const ppy_spec *spec); /* `=` is as `>` */

/* The digits of a finite number and its point and rest, or all of `inf` as rest. */
ppy_number ppy_split_number(ppy_text unsigned_text);

/* An integer in a type of b o x X, else in decimal. */
ppy_number ppy_split_int(int64_t value, uint32_t type, bool alternate);

/* A float in the style of a letter of e E f F g G: rounded to `precision`, without a sign.
 * `*negative` is whether it has one; where `z`, not for what is rounded to zero. */
ppy_text ppy_float_styled(double value, char style, int64_t precision, bool alternate, bool point_zero, bool z, bool *negative);

#endif
