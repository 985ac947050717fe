/* format(value, spec): the format mini-language of CPython 3.11, whole, but for type `n`,
 * which is as in the C locale. ValueError with CPython's messages. Results are in the arena
 * or borrowed. `{x!r:>9}` is ppy_format_text(ppy_repr_…(x), spec). */
#ifndef PPY_FORMAT_H
#define PPY_FORMAT_H

#include "ppy_text.h"

ppy_text ppy_format_int(int64_t value, ppy_text spec);
ppy_text ppy_format_float(double value, ppy_text spec);
ppy_text ppy_format_bool(bool value, ppy_text spec);
ppy_text ppy_format_text(ppy_text value, ppy_text spec);

/* One conversion of `"…" % values`, as it stands in the literal: "%-8.3f". `%s` of a number is
 * ppy_percent_text of its str, `%r` of its repr; `*` is put in by the caller. The caller has
 * checked that the letter takes the type: for an int any of d i u c o x X e E f F g G, for a
 * float d i u e E f F g G, for a text s r a c. */
ppy_text ppy_percent_int(ppy_text conversion, int64_t value);
ppy_text ppy_percent_float(ppy_text conversion, double value);
ppy_text ppy_percent_text(ppy_text conversion, ppy_text value);

#endif
