/* What the items of lists, dicts and sets are made of.
 *
 * A layout is a table: of a tuple, or of the fields of an object, where its parts are. What
 * CPython does with any value (compares, hashes, shows it) is done here by the table alone. */
#ifndef PPY_LAYOUT_H
#define PPY_LAYOUT_H

#include "ppy_text.h"

typedef enum {
    PPY_SHAPE_INT, PPY_SHAPE_FLOAT, PPY_SHAPE_BOOL, PPY_SHAPE_TEXT, PPY_SHAPE_REFERENCE, PPY_SHAPE_TUPLE,
    PPY_SHAPE_F64, PPY_SHAPE_F32, PPY_SHAPE_I64, PPY_SHAPE_I32, PPY_SHAPE_U8, PPY_SHAPE_I8, /* of arrays */
} ppy_shape;

struct ppy_list;
struct ppy_layout;

typedef struct {
    int32_t offset;
    const struct ppy_layout *layout;
    const char *name; /* of an object's field */
} ppy_part;

typedef struct ppy_layout {
    ppy_shape shape;
    int32_t bytes;
    bool plain; /* it holds no text and no reference: bytes are all there is */
    int32_t count;
    const ppy_part *parts;
} ppy_layout;

extern const ppy_layout ppy_ints, ppy_floats, ppy_bools, ppy_texts, ppy_references;
extern const ppy_layout ppy_array_f64, ppy_array_f32, ppy_array_i64, ppy_array_i32, ppy_array_u8, ppy_array_i8;

/* Each of these takes pointers to items. */

/* a == b. Two nans in one place may be one object, which CPython takes as equal: that ends the
 * program, as what needs Python does. */
bool ppy_same_number(double a, double b);
bool ppy_item_equal(const ppy_layout *layout, const void *a, const void *b);
/* a < b, as CPython finds the first parts that differ. With a nan the program ends. */
bool ppy_item_less(const ppy_layout *layout, const void *a, const void *b);
/* hash(a), but for texts, whose hash CPython draws by chance. A nan ends the program. */
int64_t ppy_item_hash(const ppy_layout *layout, const void *item);
ppy_text ppy_item_repr(const ppy_layout *layout, const void *item);
/* Writes over what is there; a text goes into the slot. `from` may be `to`. */
void ppy_item_copy(const ppy_layout *layout, void *to, const void *from);
/* Texts that it holds are given back, and all bytes are zero. */
void ppy_item_drop(const ppy_layout *layout, void *item);
/* Calls `use` with each reference that it holds. */
void ppy_item_references(const ppy_layout *layout, const void *item, void (*use)(struct ppy_list *));

#endif
