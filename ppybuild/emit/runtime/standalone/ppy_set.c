#include "ppy_set.h"

#include <stdlib.h>
#include <string.h>

#define SMALLEST ((int64_t)8)
#define NEIGHBOURS 9 /* LINEAR_PROBES */

static char *item(const ppy_list *set, int64_t at) { return (char *)set->data + at * set->layout->bytes; }

static bool is_live(const ppy_list *set, int64_t at) { return set->table->states[at] == PPY_LIVE; }

/* Empties the set, for so many places. What it had is the caller's. */
static void begin(ppy_list *set, int64_t places) {
    ppy_table *table = set->table;
    set->data = calloc((size_t)places, (size_t)set->layout->bytes);
    table->hashes = calloc((size_t)places, sizeof *table->hashes);
    table->states = calloc((size_t)places, 1);
    if (!set->data || !table->hashes || !table->states) ppy_raise_memory();
    set->length = set->capacity = places;
    table->mask = places - 1;
    ppy_count_bytes(places * (PPY_PLACE_BYTES + set->layout->bytes));
    table->used = table->fill = 0;
}

ppy_list *ppy_set_new(const ppy_layout *layout) {
    ppy_list *made = ppy_list_make(PPY_SET, layout, 0);
    made->table = calloc(1, sizeof *made->table);
    if (!made->table) ppy_raise_memory();
    begin(made, SMALLEST);
    return made;
}

/* The place of an equal item; or, as -1 less it, the place where it belongs: the last on the way
 * whose item has gone, else the free one at the end. */
static int64_t look(const ppy_list *set, const void *wanted, int64_t hash) {
    const ppy_table *table = set->table;
    int64_t gone = -1;
    uint64_t perturb = (uint64_t)hash, place = perturb & (uint64_t)table->mask;
    for (;;) {
        int64_t at = (int64_t)place;
        const int64_t last = at + NEIGHBOURS <= table->mask ? at + NEIGHBOURS : at;
        for (; at <= last; at++) {
            if (table->states[at] == PPY_FREE) return -1 - (gone < 0 ? at : gone);
            if (table->states[at] == PPY_GONE) gone = at;
            if (is_live(set, at) && table->hashes[at] == hash && ppy_item_equal(set->layout, item(set, at), wanted)) return at;
        }
        perturb >>= 5;
        place = (place * 5 + 1 + perturb) & (uint64_t)table->mask;
    }
}

/* Of a place that is written: it is taken. */
static void settle(ppy_list *set, int64_t at, int64_t hash) {
    set->table->fill += set->table->states[at] == PPY_FREE;
    set->table->hashes[at] = hash;
    set->table->states[at] = PPY_LIVE;
    set->table->used++;
}

/* The free place of an item that is certainly not there. */
static int64_t free_place(const ppy_list *set, int64_t hash) {
    const ppy_table *table = set->table;
    uint64_t perturb = (uint64_t)hash, place = perturb & (uint64_t)table->mask;
    for (;;) {
        int64_t at = (int64_t)place;
        const int64_t last = at + NEIGHBOURS <= table->mask ? at + NEIGHBOURS : at;
        for (; at <= last; at++) {
            if (table->states[at] == PPY_FREE) return at;
        }
        perturb >>= 5;
        place = (place * 5 + 1 + perturb) & (uint64_t)table->mask;
    }
}

static void resize(ppy_list *set, int64_t least) {
    int64_t places = SMALLEST;
    while (places <= least) places *= 2;
    const ppy_table before = *set->table;
    char *data = set->data;
    begin(set, places);
    for (int64_t from = 0; from <= before.mask; from++) {
        if (before.states[from] != PPY_LIVE) continue;
        const int64_t at = free_place(set, before.hashes[from]);
        memcpy(item(set, at), data + from * set->layout->bytes, (size_t)set->layout->bytes);
        settle(set, at, before.hashes[from]);
    }
    free(data);
    free(before.hashes);
    free(before.states);
}

static void grow(ppy_list *set) {
    const int64_t used = set->table->used;
    resize(set, used > 50000 ? used * 2 : used * 4);
}

static void add(ppy_list *set, const void *wanted, int64_t hash) {
    const int64_t found = look(set, wanted, hash), mask = set->table->mask, before = set->table->fill;
    if (found >= 0) return;
    ppy_item_copy(set->layout, item(set, -1 - found), wanted);
    settle(set, -1 - found, hash);
    if (set->table->fill > before && set->table->fill * 5 >= mask * 3) grow(set);
}

int64_t ppy_set_find(const ppy_list *set, const void *wanted) {
    const int64_t found = look(set, wanted, ppy_item_hash(set->layout, wanted));
    return found < 0 ? -1 : found;
}

void ppy_set_add(ppy_list *set, const void *wanted) { add(set, wanted, ppy_item_hash(set->layout, wanted)); }

void ppy_set_take(ppy_list *set, int64_t at) {
    ppy_item_drop(set->layout, item(set, at));
    set->table->states[at] = PPY_GONE;
    set->table->used--;
}

bool ppy_set_discard(ppy_list *set, const void *wanted) {
    const int64_t at = ppy_set_find(set, wanted);
    if (at >= 0) ppy_set_take(set, at);
    return at >= 0;
}

int64_t ppy_set_pop(ppy_list *set) {
    ppy_table *table = set->table;
    if (!table->used) return -1;
    int64_t at = table->finger & table->mask;
    while (!is_live(set, at)) at = at == table->mask ? 0 : at + 1;
    table->finger = at + 1;
    return at;
}

static void empty(ppy_list *set) {
    for (int64_t at = 0; at < set->length; at++) ppy_item_drop(set->layout, item(set, at));
    free(set->data);
    free(set->table->hashes);
    free(set->table->states);
    begin(set, SMALLEST);
}

void ppy_set_clear(ppy_list *set) {
    if (set->table->fill) empty(set);
}

/* Two sets. */

static void merge(ppy_list *set, const ppy_list *more) {
    ppy_table *table = set->table;
    if (set == more || more->table->used == 0) return;
    if ((table->fill + more->table->used) * 5 >= table->mask * 3) resize(set, (table->used + more->table->used) * 2);
    const bool same = table->fill == 0 && table->mask == more->table->mask && more->table->fill == more->table->used;
    const bool fresh = table->fill == 0;
    for (int64_t from = 0; from < more->length; from++) {
        if (!is_live(more, from)) continue;
        const int64_t hash = more->table->hashes[from];
        if (!fresh) {
            add(set, item(more, from), hash);
            continue;
        }
        const int64_t at = same ? from : free_place(set, hash);
        ppy_item_copy(set->layout, item(set, at), item(more, from));
        settle(set, at, hash);
    }
}

ppy_list *ppy_set_copy(const ppy_list *set) {
    ppy_list *made = ppy_set_new(set->layout);
    merge(made, set);
    return made;
}

ppy_list *ppy_set_again(const ppy_list *set) {
    ppy_list *made = ppy_set_new(set->layout);
    for (int64_t at = 0; at < set->length; at++) {
        if (is_live(set, at)) add(made, item(set, at), set->table->hashes[at]);
    }
    return made;
}

void ppy_set_update(ppy_list *a, const ppy_list *b) { merge(a, b); }

void ppy_set_update_keys(ppy_list *set, const ppy_list *dict) {
    const ppy_table *keys = dict->table;
    const int64_t used = set->table->used + keys->used;
    if ((set->table->fill + keys->used) * 5 >= set->table->mask * 3) resize(set, used * 2);
    for (int64_t at = 0; at < dict->length; at++) {
        const char *key = (const char *)dict->data + at * dict->layout->bytes; /* it comes first */
        if (keys->states[at] == PPY_LIVE) add(set, key, keys->hashes[at]);
    }
}

ppy_list *ppy_set_union(const ppy_list *a, const ppy_list *b) {
    ppy_list *made = ppy_set_copy(a);
    merge(made, b);
    return made;
}

ppy_list *ppy_set_intersection(const ppy_list *a, const ppy_list *b) {
    if (a == b) return ppy_set_copy(a);
    ppy_list *made = ppy_set_new(a->layout);
    const ppy_list *few = b->table->used > a->table->used ? a : b, *many = few == a ? b : a;
    for (int64_t at = 0; at < few->length; at++) {
        if (is_live(few, at) && look(many, item(few, at), few->table->hashes[at]) >= 0) {
            add(made, item(few, at), few->table->hashes[at]);
        }
    }
    return made;
}

void ppy_set_remove_all(ppy_list *a, const ppy_list *b) {
    if (a == b) {
        ppy_set_clear(a);
        return;
    }
    for (int64_t at = 0; at < b->length; at++) {
        const int64_t found = is_live(b, at) ? look(a, item(b, at), b->table->hashes[at]) : -1;
        if (found >= 0) ppy_set_take(a, found);
    }
    if (a->table->fill - a->table->used > a->table->mask / 4) grow(a);
}

ppy_list *ppy_set_difference(const ppy_list *a, const ppy_list *b) {
    if (a->table->used >> 2 > b->table->used) {
        ppy_list *made = ppy_set_copy(a);
        ppy_set_remove_all(made, b);
        return made;
    }
    ppy_list *made = ppy_set_new(a->layout);
    for (int64_t at = 0; at < a->length; at++) {
        if (is_live(a, at) && look(b, item(a, at), a->table->hashes[at]) < 0) add(made, item(a, at), a->table->hashes[at]);
    }
    return made;
}

void ppy_set_flip(ppy_list *a, const ppy_list *b) {
    if (a == b) {
        ppy_set_clear(a);
        return;
    }
    for (int64_t at = 0; at < b->length; at++) {
        if (!is_live(b, at)) continue;
        const int64_t found = look(a, item(b, at), b->table->hashes[at]);
        if (found >= 0) ppy_set_take(a, found);
        else add(a, item(b, at), b->table->hashes[at]);
    }
}

ppy_list *ppy_set_symmetric(const ppy_list *a, const ppy_list *b) {
    ppy_list *made = ppy_set_copy(b);
    ppy_set_flip(made, a);
    return made;
}

void ppy_set_keep_common(ppy_list *a, const ppy_list *b) {
    ppy_list *common = ppy_set_intersection(a, b); /* freed like any list that nothing reaches */
    const ppy_list before = *a;
    a->data = common->data;
    a->length = a->capacity = common->length;
    a->table = common->table;
    common->data = before.data;
    common->length = common->capacity = before.length;
    common->table = before.table;
}

ppy_list *ppy_set_listed(const ppy_list *set) {
    ppy_list *made = ppy_list_new(set->layout, set->table->used);
    int64_t to = 0;
    for (int64_t at = 0; at < set->length; at++) {
        if (is_live(set, at)) ppy_item_copy(set->layout, (char *)made->data + to++ * set->layout->bytes, item(set, at));
    }
    return made;
}

int64_t ppy_set_next(const ppy_list *set, int64_t at, int64_t used) {
    if (used != set->table->used) ppy_raise_ascii(PPY_RuntimeError, "Set changed size during iteration");
    while (at < set->length && !is_live(set, at)) at++;
    return at;
}

bool ppy_set_within(const ppy_list *a, const ppy_list *b) {
    if (a->table->used > b->table->used) return false;
    for (int64_t at = 0; at < a->length; at++) {
        if (is_live(a, at) && look(b, item(a, at), a->table->hashes[at]) < 0) return false;
    }
    return true;
}

bool ppy_set_apart(const ppy_list *a, const ppy_list *b) {
    for (int64_t at = 0; at < a->length; at++) {
        if (is_live(a, at) && look(b, item(a, at), a->table->hashes[at]) >= 0) return false;
    }
    return true;
}

bool ppy_set_equal(const ppy_list *a, const ppy_list *b) {
    return a->table->used == b->table->used && ppy_set_within(a, b);
}

ppy_text ppy_set_repr(const ppy_list *set) {
    if (!set->table->used) return PPY_TEXT("set()");
    ppy_text *parts = ppy_arena_allocate(set->table->used * (int64_t)sizeof *parts);
    int64_t count = 0;
    for (int64_t at = 0; at < set->length; at++) {
        if (is_live(set, at)) parts[count++] = ppy_item_repr(set->layout, item(set, at));
    }
    const ppy_text whole[] = {PPY_TEXT("{"), ppy_join(PPY_TEXT(", "), parts, count), PPY_TEXT("}")};
    return ppy_concat(whole, 3);
}
