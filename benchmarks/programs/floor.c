/* The floor of a loop that adds numbers in source order: nothing but the additions. */
#include <stdint.h>

double ordered_sum(const double *values, int64_t count)
{
    double total = 0.0;
    for (int64_t i = 0; i < count; i++)
        total += values[i];
    return total;
}
