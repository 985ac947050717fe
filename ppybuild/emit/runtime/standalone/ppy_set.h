/* Sets, in the order that `setobject.c` of CPython gives them: what goes through one, or shows
 * it, sees the places of the hashes in turn. Of texts, whose hashes CPython draws by chance,
 * the order is another for each run there, and one of those here. */
#ifndef PPY_SET_H
#define PPY_SET_H

#include "ppy_failure.h"
#include "ppy_list.h"
#include "ppy_table.h"

ppy_list *ppy_set_new(const ppy_layout *item);
int64_t ppy_set_find(const ppy_list *set, const void *item); /* -1: it is not there */
void ppy_set_add(ppy_list *set, const void *item);
bool ppy_set_discard(ppy_list *set, const void *item);       /* whether it was there */
int64_t ppy_set_pop(ppy_list *set);   /* the place of one, for `ppy_set_take`; -1: it is empty */
void ppy_set_take(ppy_list *set, int64_t at);
void ppy_set_clear(ppy_list *set);

/* a | b, a & b, a - b, a ^ b */
ppy_list *ppy_set_union(const ppy_list *a, const ppy_list *b);
ppy_list *ppy_set_intersection(const ppy_list *a, const ppy_list *b);
ppy_list *ppy_set_difference(const ppy_list *a, const ppy_list *b);
ppy_list *ppy_set_symmetric(const ppy_list *a, const ppy_list *b);
/* a |= b, a -= b, a ^= b, a &= b */
void ppy_set_update(ppy_list *a, const ppy_list *b);
void ppy_set_update_keys(ppy_list *set, const ppy_list *dict);
void ppy_set_remove_all(ppy_list *a, const ppy_list *b);
void ppy_set_flip(ppy_list *a, const ppy_list *b);
void ppy_set_keep_common(ppy_list *a, const ppy_list *b);
ppy_list *ppy_set_copy(const ppy_list *set);
ppy_list *ppy_set_again(const ppy_list *set); /* the same, each item added in turn */
ppy_list *ppy_set_listed(const ppy_list *set);

static inline int64_t ppy_set_length(const ppy_list *set) { return set->table->used; }
int64_t ppy_set_next(const ppy_list *set, int64_t at, int64_t used); /* as `ppy_dict_next` */

bool ppy_set_within(const ppy_list *a, const ppy_list *b); /* a <= b */
bool ppy_set_apart(const ppy_list *a, const ppy_list *b);  /* a.isdisjoint(b) */
bool ppy_set_equal(const ppy_list *a, const ppy_list *b);
ppy_text ppy_set_repr(const ppy_list *set);

#endif
