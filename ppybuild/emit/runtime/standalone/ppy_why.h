/* Why an operation of `ppy_kernel.h` that is checked has failed, as CPython says it. */
#ifndef PPY_WHY_H
#define PPY_WHY_H

#include <stdint.h>

#include "ppy_failure.h"

#define PPY_WHY(name, ...) __attribute__((cold, noinline)) _Noreturn void ppy_why_##name(__VA_ARGS__)

PPY_WHY(integer, void); /* beyond 64 bits */
PPY_WHY(floordiv_i64, int64_t a, int64_t b);
PPY_WHY(mod_i64, int64_t a, int64_t b);
PPY_WHY(divmod_i64, int64_t a, int64_t b);
PPY_WHY(truediv_i64, int64_t a, int64_t b);
PPY_WHY(pow_i64, int64_t a, int64_t b);
PPY_WHY(shl_i64, int64_t a, int64_t b);
PPY_WHY(shr_i64, int64_t a, int64_t b);
PPY_WHY(div_f64, double a, double b);
PPY_WHY(floordiv_f64, double a, double b);
PPY_WHY(mod_f64, double a, double b);
PPY_WHY(divmod_f64, double a, double b);
PPY_WHY(pow_f64, double a, double b);
PPY_WHY(whole, double a);         /* int(a), math.floor(a), round(a) */
PPY_WHY(math, double a);          /* a pole or outside the domain */
PPY_WHY(growing, double a);       /* of a function that grows past the range: exp, sinh */
PPY_WHY(two, double a, double b); /* fmod, remainder */
PPY_WHY(math_pow, double a, double b);
PPY_WHY(ldexp, double a, int64_t b);
PPY_WHY(isqrt, int64_t a);
PPY_WHY(factorial, int64_t a);
PPY_WHY(chosen, int64_t n, int64_t k); /* comb, perm */
PPY_WHY(list_index, void);
PPY_WHY(list_store, void);
PPY_WHY(array_index, void);
PPY_WHY(array_store, void);
PPY_WHY(text_index, void);
PPY_WHY(tuple_index, void);
PPY_WHY(pop, const char *what, int64_t length);
PPY_WHY(unpack, int64_t expected, int64_t given);
PPY_WHY(unbound, const char *name);
PPY_WHY(undefined, const char *name);
PPY_WHY(fits_i32, int64_t value);
PPY_WHY(fits_u8, int64_t value);
PPY_WHY(fits_i8, int64_t value);

#endif
