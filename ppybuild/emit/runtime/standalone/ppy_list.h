/* Lists and arrays: objects that may be shared, and are freed when nothing reaches them.
 *
 * A list is reached from *roots*: an array of pointers that a running function owns, and the
 * global variables. Only `ppy_list_new` frees, so that between two calls of it a list that a
 * function has just given stays.
 *
 *     ppy_list *lists[2] = {0};
 *     ppy_roots roots = {lists, 2, ppy_top_roots};
 *     ppy_top_roots = &roots;
 *     lists[0] = ppy_list_new(PPY_FLOATS, 3);     // xs = [0.0, 0.0, 0.0]
 *     PPY_ITEMS(double, lists[0])[1] = 2.5;       // xs[1] = 2.5, the index being checked
 *     ppy_top_roots = roots.outer;
 */
#ifndef PPY_LIST_H
#define PPY_LIST_H

#include "ppy_text.h"

/* What the items are. Of a tuple the list knows the bytes alone. */
typedef enum {
    PPY_INTS, PPY_FLOATS, PPY_BOOLS, PPY_TEXTS, PPY_LISTS, PPY_TUPLES,
    PPY_ARRAY_F64, PPY_ARRAY_F32, PPY_ARRAY_I64, PPY_ARRAY_I32, PPY_ARRAY_U8, PPY_ARRAY_I8,
} ppy_holds;

typedef struct ppy_list {
    void *data;
    int64_t length, capacity; /* in items */
    int32_t item_bytes;
    uint8_t holds; /* ppy_holds */
    bool reached;
    struct ppy_list *next;
} ppy_list;

#define PPY_ITEMS(type, list) ((type *)(list)->data)

typedef struct ppy_roots {
    ppy_list **at;
    int64_t count;
    struct ppy_roots *outer;
} ppy_roots;

extern ppy_roots *ppy_top_roots;

/* `length` items, all of them zero bytes. MemoryError. */
ppy_list *ppy_list_new(ppy_holds holds, int64_t length);
ppy_list *ppy_list_of_tuples(int32_t item_bytes, int64_t length);
/* Another of the same kind, with zero items. */
ppy_list *ppy_list_like(const ppy_list *list, int64_t length);

/* Room for one more item: the caller writes it at `length - 1`. */
void ppy_list_grow(ppy_list *list);
static inline void ppy_list_append(ppy_list *list) {
    if (__builtin_expect(list->length == list->capacity, 0)) ppy_list_grow(list);
    list->length++;
}
/* The place `index`, cut to the list as list.insert does, becomes free: it is given back. */
int64_t ppy_list_insert(ppy_list *list, int64_t index);
/* Takes the item at a checked index away; a text is dropped. */
void ppy_list_remove(ppy_list *list, int64_t index);
void ppy_list_clear(ppy_list *list);
void ppy_list_reverse(ppy_list *list);
void ppy_list_sort(ppy_list *list, bool reverse); /* ints, floats, bools, texts */

/* New lists. */
ppy_list *ppy_list_concat(const ppy_list *a, const ppy_list *b);
ppy_list *ppy_list_repeat(const ppy_list *list, int64_t times);
ppy_list *ppy_list_slice(const ppy_list *list, int64_t start, int64_t stop, int64_t step); /* as ppy_slice */
void ppy_list_extend(ppy_list *list, const ppy_list *more); /* which may be the list itself */
ppy_list *ppy_text_split(ppy_text text);                    /* text.split() */
ppy_list *ppy_text_split_at(ppy_text text, ppy_text separator);
ppy_text ppy_list_join(ppy_text separator, const ppy_list *texts);
ppy_list *ppy_argument_list(void);                          /* sys.argv */

bool ppy_list_equal(const ppy_list *a, const ppy_list *b);
ppy_text ppy_list_repr(const ppy_list *list); /* not of tuples */

#endif
