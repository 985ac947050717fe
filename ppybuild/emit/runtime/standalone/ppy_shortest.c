/* The shortest decimal that rounds to a double.
 *
 * Raffaello Giulietti's way, "The Schubfach way to render doubles": the value and the two ends
 * of the interval that rounds to it are scaled by a power of ten, to 16 or 17 digits before
 * the point. The products are kept with all bits that a comparison can depend on: the last one
 * is set where anything below it was not zero. */
#include <math.h>
#include <string.h>

#include "ppy_digits.h"
#include "ppy_powers.h"

/* Rounded down, for the exponents of doubles: log10(2**e), log10(3/4 * 2**e), log2(10**e). */
static int log10_of_2(int e) { return (e * 1262611) >> 22; }
static int log10_of_3_4_of_2(int e) { return (e * 1262611 - 524031) >> 22; }
static int log2_of_10(int e) { return (e * 1741647) >> 19; }

typedef unsigned __int128 wide;

/* power * by / 2**128, with the last bit set where the product is not a whole number of them. */
static uint64_t scale(const uint64_t power[2], uint64_t by) {
    const uint64_t low = (uint64_t)((wide)power[1] * by >> 64);
    const wide high = (wide)power[0] * by + low;
    return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

/* The decimal significand * 10**exponent for bits of a positive finite double. */
static uint64_t shortest(uint64_t significand, int exponent, int *ten) {
    uint64_t c = significand;
    int q = -1074;
    if (exponent) {
        c |= (uint64_t)1 << 52;
        q = exponent - 1075;
    }
    const bool closed = c % 2 == 0;                          /* ties go to even: the ends belong to it */
    const bool narrow = significand == 0 && exponent > 1;    /* below a power of two doubles are twice as dense */
    const int k = narrow ? log10_of_3_4_of_2(q) : log10_of_2(q);
    const int shift = q + log2_of_10(-k) + 1;
    const uint64_t *power = powers[-k - LOWEST_POWER];
    /* All in quarters of 10**k. */
    const uint64_t value = scale(power, 4 * c << shift);
    const uint64_t low = scale(power, (4 * c - (narrow ? 1 : 2)) << shift) + !closed;
    const uint64_t high = scale(power, (4 * c + 2) << shift) - !closed;
    const uint64_t below = value / 4;
    if (below >= 10) {
        const uint64_t tens = below / 10;
        const bool down = low <= 40 * tens, up = 40 * tens + 40 <= high;
        if (down != up) return (void)(*ten = k + 1), tens + up;
    }
    *ten = k;
    const bool down = low <= 4 * below, up = 4 * below + 4 <= high;
    if (down != up) return below + up;
    const uint64_t middle = 4 * below + 2;
    return below + (value > middle || (value == middle && below % 2));
}

ppy_decimal ppy_shortest(double value, char *digits) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    ppy_decimal made = {isnan(value) ? PPY_NAN : isinf(value) ? PPY_INFINITE : PPY_FINITE, bits >> 63, digits, 0, 1};
    if (made.kind != PPY_FINITE) return made;
    int ten = 0;
    uint64_t decimal = value == 0 ? 0 : shortest(bits & (((uint64_t)1 << 52) - 1), (int)(bits >> 52 & 0x7FF), &ten);
    made.count = ppy_int_digits(decimal, 10, digits);
    made.point = made.count + ten;
    while (made.count > 1 && digits[made.count - 1] == '0') made.count--;
    return made;
}
