/* Dicts: entries in the order in which they were inserted, as CPython has them. An entry is a
 * tuple of a key and a value; the key comes first.
 *
 *     const int64_t at = ppy_dict_find(counts, &key);             // counts.get(key, 0)
 *     const int64_t n = at < 0 ? 0 : PPY_ITEMS(entry, counts)[at].p1;
 *     PPY_ITEMS(entry, counts)[ppy_dict_place(counts, &key)].p1 = n + 1;
 */
#ifndef PPY_DICT_H
#define PPY_DICT_H

#include "ppy_failure.h"
#include "ppy_list.h"
#include "ppy_table.h"

ppy_list *ppy_dict_new(const ppy_layout *entry);
int64_t ppy_dict_find(const ppy_list *dict, const void *key);  /* -1: it is not there */
/* The entry of a key, which is put in where it is not there, with a value of zero bytes. */
int64_t ppy_dict_place(ppy_list *dict, const void *key);
void ppy_dict_delete(ppy_list *dict, int64_t at);
int64_t ppy_dict_last(const ppy_list *dict);                   /* -1: it is empty */
void ppy_dict_clear(ppy_list *dict);
void ppy_dict_update(ppy_list *dict, const ppy_list *more);
ppy_list *ppy_dict_copy(const ppy_list *dict);
/* The keys (part 0), the values (part 1), or the entries (part -1), as a list. */
ppy_list *ppy_dict_listed(const ppy_list *dict, int part);

static inline int64_t ppy_dict_length(const ppy_list *dict) { return dict->table->used; }

/* Going through: the first entry at or after `at`, which is below `dict->length`; where there
 * is none, `dict->length`. RuntimeError where there are no longer `used` of them. */
int64_t ppy_dict_next(const ppy_list *dict, int64_t at, int64_t used);

bool ppy_dict_equal(const ppy_list *a, const ppy_list *b);
ppy_text ppy_dict_repr(const ppy_list *dict);
__attribute__((cold, noinline)) _Noreturn void ppy_why_key(const ppy_layout *layout, const void *key);

#endif
