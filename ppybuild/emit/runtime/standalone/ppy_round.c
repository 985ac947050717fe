#include <math.h>

#include "ppy_format.h"
#include "ppy_number_text.h"
#include "ppy_parse.h"

double ppy_round_digits(double value, int64_t digits) {
    if (!isfinite(value) || digits > 323) return value; /* no double has a digit past this */
    const ppy_mark mark = ppy_arena_mark();
    const ppy_text spec[] = {PPY_TEXT("."), ppy_str_int(digits), PPY_TEXT("f")};
    const double rounded = ppy_float_of_text(ppy_format_float(value, ppy_concat(spec, 3)));
    ppy_arena_release(mark);
    return rounded;
}
