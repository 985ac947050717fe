/* Digits of numbers, and where the point goes: what str, repr and format share. */
#ifndef PPY_DIGITS_H
#define PPY_DIGITS_H

#include <stdbool.h>
#include <stdint.h>

/* The digits of an integer, most significant first; how many. */
#define PPY_INT_DIGITS 64
int ppy_int_digits(uint64_t value, unsigned base, char *to);

typedef enum { PPY_FINITE, PPY_INFINITE, PPY_NAN } ppy_kind;

/* 0.d1d2d3… × 10**point, with or without zeros at the end; zero has the digit 0, point 1. */
typedef struct {
    ppy_kind kind;
    bool negative; /* also for -0.0 */
    const char *digits;
    int64_t count;
    int64_t point;
} ppy_decimal;

/* The fewest digits that give the value back, and of these the nearest to it. */
#define PPY_SHORTEST_DIGITS 20
ppy_decimal ppy_shortest(double value, char *digits);
/* Rounded to `count` digits, at least one. The digits are in the arena. */
ppy_decimal ppy_rounded_digits(double value, int64_t count);
/* Rounded to `places` behind the point; at least one digit. In the arena. */
ppy_decimal ppy_rounded_places(double value, int64_t places);

/* How digits are written. */
typedef enum { PPY_FIXED, PPY_EXPONENT, PPY_EITHER } ppy_form;

typedef struct {
    ppy_form form;
    int64_t exponent_above; /* PPY_EITHER: an exponent is written where the point is above this, or below -3 */
    int64_t digits;         /* zeros are added at the end, up to so many digits */
    bool point;             /* a point at the end stays: the alternate form */
    bool point_zero;        /* without an exponent there is at least one digit behind the point */
    bool upper;             /* E, INF, NAN */
} ppy_layout;

/* Bytes that the shortest digits take at most: -2.2250738585072014e-308. */
#define PPY_FLOAT_BYTES 32
/* Bytes that any layout takes at most. */
int64_t ppy_layout_bytes(const ppy_decimal *decimal, const ppy_layout *layout);
/* Writes it without a sign; the end. */
char *ppy_lay_out(const ppy_decimal *decimal, const ppy_layout *layout, char *to);

#endif
