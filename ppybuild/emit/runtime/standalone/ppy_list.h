/* Lists, arrays, dicts, sets and objects of classes: what may be shared, and is freed when
 * nothing reaches it. All of them are this one structure: an array of items, beside which a dict
 * or a set has a table (`ppy_table.h`); the fields of an object are its only item.
 *
 * A list is reached from *roots*: an array of pointers that a running function owns, and the
 * global variables. Only `ppy_list_new` frees, so that between two calls of it a list that a
 * function has just given stays.
 *
 *     ppy_list *lists[2] = {0};
 *     ppy_roots roots = {lists, 2, ppy_top_roots};
 *     ppy_top_roots = &roots;
 *     lists[0] = ppy_list_new(&ppy_floats, 3);  // xs = [0.0, 0.0, 0.0]
 *     PPY_ITEMS(double, lists[0])[1] = 2.5;       // xs[1] = 2.5, the index being checked
 *     ppy_top_roots = roots.outer;
 */
#ifndef PPY_LIST_H
#define PPY_LIST_H

#include "ppy_layout.h"
#include "ppy_text.h"

typedef enum { PPY_LIST, PPY_DICT, PPY_SET, PPY_OBJECT } ppy_form;

struct ppy_table;
struct ppy_class;

typedef struct ppy_list {
    void *data;
    int64_t length, capacity; /* in items; what is behind `length` is zero bytes */
    const ppy_layout *layout;
    struct ppy_table *table;
    const struct ppy_class *class_;
    uint8_t form; /* ppy_form; an array is a list whose layout is one of arrays */
    bool reached;
    struct ppy_list *next, *waiting;
} ppy_list;

#define PPY_ITEMS(type, list) ((type *)(list)->data)

typedef struct ppy_roots {
    ppy_list **at;
    int64_t count;
    struct ppy_roots *outer;
} ppy_roots;

extern ppy_roots *ppy_top_roots;

/* `length` items, all of them zero bytes. MemoryError. */
ppy_list *ppy_list_new(const ppy_layout *layout, int64_t length);
/* The same, of another form. */
ppy_list *ppy_list_make(ppy_form form, const ppy_layout *layout, int64_t length);
/* Another of the same kind, with zero items. */
ppy_list *ppy_list_like(const ppy_list *list, int64_t length);

/* Room for one more item: the caller writes it at `length - 1`. */
void ppy_list_grow(ppy_list *list);
void ppy_list_reserve(ppy_list *list, int64_t capacity);
static inline void ppy_list_append(ppy_list *list) {
    if (__builtin_expect(list->length == list->capacity, 0)) ppy_list_grow(list);
    list->length++;
}
/* The place `index`, cut to the list as list.insert does, becomes free: it is given back. */
int64_t ppy_list_insert(ppy_list *list, int64_t index);
/* Takes the item at a checked index away; its texts are dropped. */
void ppy_list_remove(ppy_list *list, int64_t index);
void ppy_list_clear(ppy_list *list);
void ppy_list_reverse(ppy_list *list);
/* Equals keep their order, as Python's do. */
void ppy_list_sort(ppy_list *list, bool reverse);
/* By the keys beside the items, which stay as they are. */
void ppy_list_sort_by(ppy_list *list, const ppy_list *keys, bool reverse);

/* New lists. */
ppy_list *ppy_list_concat(const ppy_list *a, const ppy_list *b);
ppy_list *ppy_list_repeat(const ppy_list *list, int64_t times);
ppy_list *ppy_list_slice(const ppy_list *list, int64_t start, int64_t stop, int64_t step); /* as ppy_slice */
/* list[start:stop] = more, with steps of one; del list[start:stop] where `more` is NULL. */
void ppy_list_splice(ppy_list *list, int64_t start, int64_t stop, const ppy_list *more);
void ppy_list_extend(ppy_list *list, const ppy_list *more); /* which may be the list itself */
ppy_list *ppy_text_split(ppy_text text);                    /* text.split() */
ppy_list *ppy_text_split_at(ppy_text text, ppy_text separator);
ppy_text ppy_list_join(ppy_text separator, const ppy_list *texts);
ppy_list *ppy_argument_list(void);                          /* sys.argv */

/* Of any form; `ppy_list_less` of lists alone. */
bool ppy_list_equal(const ppy_list *a, const ppy_list *b);
bool ppy_list_less(const ppy_list *a, const ppy_list *b);
ppy_text ppy_list_repr(const ppy_list *list);

#endif
