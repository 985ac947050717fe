#include "ppy_why.h"

#include <math.h>
#include <string.h>

#include "ppy_number_text.h"

static _Noreturn void divided(const char *message) { ppy_raise_ascii(PPY_ZeroDivisionError, message); }

PPY_WHY(integer, void) { ppy_raise_integer(); }

PPY_WHY(floordiv_i64, int64_t a, int64_t b) {
    (void)a;
    if (b == 0) divided("integer division or modulo by zero");
    ppy_raise_integer();
}
PPY_WHY(mod_i64, int64_t a, int64_t b) {
    (void)a, (void)b;
    divided("integer modulo by zero");
}
PPY_WHY(divmod_i64, int64_t a, int64_t b) { ppy_why_floordiv_i64(a, b); }
PPY_WHY(truediv_i64, int64_t a, int64_t b) {
    (void)a, (void)b;
    divided("division by zero");
}
PPY_WHY(pow_i64, int64_t a, int64_t b) {
    if (b >= 0) ppy_raise_integer();
    if (a == 0) divided("0.0 cannot be raised to a negative power");
    ppy_raise_beyond("a power of ints is a float");
}
PPY_WHY(shl_i64, int64_t a, int64_t b) {
    (void)a;
    if (b < 0) ppy_raise_ascii(PPY_ValueError, "negative shift count");
    ppy_raise_integer();
}
PPY_WHY(shr_i64, int64_t a, int64_t b) {
    (void)a, (void)b;
    ppy_raise_ascii(PPY_ValueError, "negative shift count");
}
PPY_WHY(div_f64, double a, double b) {
    (void)a, (void)b;
    divided("float division by zero");
}
PPY_WHY(floordiv_f64, double a, double b) {
    (void)a, (void)b;
    divided("float floor division by zero");
}
PPY_WHY(mod_f64, double a, double b) {
    (void)a, (void)b;
    divided("float modulo");
}
PPY_WHY(divmod_f64, double a, double b) {
    (void)a, (void)b;
    divided("float divmod()");
}
PPY_WHY(pow_f64, double a, double b) {
    if (a == 0.0 && b < 0.0) divided("0.0 cannot be raised to a negative power");
    if (a < 0.0 && b != floor(b)) ppy_raise_beyond("a power is a complex number");
    ppy_raise_ascii(PPY_OverflowError, "(34, 'Numerical result out of range')");
}

PPY_WHY(whole, double a) {
    if (isnan(a)) ppy_raise_ascii(PPY_ValueError, "cannot convert float NaN to integer");
    if (isinf(a)) ppy_raise_ascii(PPY_OverflowError, "cannot convert float infinity to integer");
    ppy_raise_integer();
}
PPY_WHY(math, double a) {
    (void)a;
    ppy_raise_ascii(PPY_ValueError, "math domain error");
}
PPY_WHY(growing, double a) {
    if (!isfinite(a)) ppy_why_math(a);
    ppy_raise_ascii(PPY_OverflowError, "math range error");
}
PPY_WHY(two, double a, double b) {
    (void)b;
    ppy_why_math(a);
}
PPY_WHY(math_pow, double a, double b) {
    if (a == 0.0 || (a < 0.0 && b != floor(b))) ppy_why_math(a);
    ppy_why_growing(a);
}
PPY_WHY(ldexp, double a, int64_t b) {
    (void)b;
    ppy_why_growing(a);
}
PPY_WHY(isqrt, int64_t a) {
    (void)a;
    ppy_raise_ascii(PPY_ValueError, "isqrt() argument must be nonnegative");
}
PPY_WHY(factorial, int64_t a) {
    if (a < 0) ppy_raise_ascii(PPY_ValueError, "factorial() not defined for negative values");
    ppy_raise_integer();
}
PPY_WHY(chosen, int64_t n, int64_t k) {
    if (n < 0) ppy_raise_ascii(PPY_ValueError, "n must be a non-negative integer");
    if (k < 0) ppy_raise_ascii(PPY_ValueError, "k must be a non-negative integer");
    ppy_raise_integer();
}

PPY_WHY(list_index, void) { ppy_raise_ascii(PPY_IndexError, "list index out of range"); }
PPY_WHY(list_store, void) { ppy_raise_ascii(PPY_IndexError, "list assignment index out of range"); }
PPY_WHY(array_index, void) { ppy_raise_ascii(PPY_IndexError, "array index out of range"); }
PPY_WHY(array_store, void) { ppy_raise_ascii(PPY_IndexError, "array assignment index out of range"); }
PPY_WHY(text_index, void) { ppy_raise_ascii(PPY_IndexError, "string index out of range"); }
PPY_WHY(tuple_index, void) { ppy_raise_ascii(PPY_IndexError, "tuple index out of range"); }
PPY_WHY(pop, const char *what, int64_t length) {
    if (length) ppy_raise_ascii(PPY_IndexError, "pop index out of range");
    const ppy_text parts[] = {PPY_TEXT("pop from empty "), ppy_text_of_bytes(what, (int64_t)strlen(what))};
    ppy_raise(PPY_IndexError, ppy_concat(parts, 2));
}

PPY_WHY(unpack, int64_t expected, int64_t given) {
    const ppy_text few[] = {PPY_TEXT("not enough values to unpack (expected "), ppy_str_int(expected), PPY_TEXT(", got "),
                            ppy_str_int(given), PPY_TEXT(")")};
    const ppy_text many[] = {PPY_TEXT("too many values to unpack (expected "), ppy_str_int(expected), PPY_TEXT(")")};
    ppy_raise(PPY_ValueError, given < expected ? ppy_concat(few, 5) : ppy_concat(many, 3));
}

static _Noreturn void named(ppy_exception kind, const char *before, const char *name, const char *after) {
    const ppy_text parts[] = {ppy_text_of_bytes(before, (int64_t)strlen(before)), ppy_text_of_bytes(name, (int64_t)strlen(name)),
                              ppy_text_of_bytes(after, (int64_t)strlen(after))};
    ppy_raise(kind, ppy_concat(parts, 3));
}
PPY_WHY(unbound, const char *name) {
    named(PPY_UnboundLocalError, "cannot access local variable '", name, "' where it is not associated with a value");
}
PPY_WHY(undefined, const char *name) { named(PPY_NameError, "name '", name, "' is not defined"); }

static _Noreturn void unfit(const char *what, bool greater) {
    named(PPY_OverflowError, what, greater ? " is greater than maximum" : " is less than minimum", "");
}
PPY_WHY(fits_i32, int64_t value) {
    unfit("signed integer", value > 0);
}
PPY_WHY(fits_u8, int64_t value) { unfit("unsigned byte integer", value > 0); }
PPY_WHY(fits_i8, int64_t value) { unfit("signed char", value > 0); }
