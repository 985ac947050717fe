#include "ppy_dict.h"

#include <stdlib.h>
#include <string.h>

#define SMALLEST ((int64_t)8)

static char *entry(const ppy_list *dict, int64_t at) { return (char *)dict->data + at * dict->layout->bytes; }

static const ppy_layout *key_layout(const ppy_list *dict) { return dict->layout->parts[0].layout; }

void ppy_table_free(ppy_table *table) {
    if (!table) return;
    free(table->hashes);
    free(table->states);
    free(table->places);
    free(table);
}

/* As many entries as so many places take: CPython's USABLE_FRACTION. */
static int64_t usable(int64_t places) { return places * 2 / 3; }

/* The place of a hash whose next entry is to be looked at. */
typedef struct {
    uint64_t perturb, place;
} probe;

static probe first(const ppy_table *table, int64_t hash) {
    return (probe){(uint64_t)hash, (uint64_t)hash & (uint64_t)table->mask};
}

static void next(const ppy_table *table, probe *at) {
    at->perturb >>= 5;
    at->place = (at->place * 5 + at->perturb + 1) & (uint64_t)table->mask;
}

static void put_place(ppy_table *table, int64_t hash, int64_t at) {
    probe here = first(table, hash);
    while (table->places[here.place] >= 0) next(table, &here);
    table->places[here.place] = at;
}

/* Makes room for so many places; entries that have gone leave theirs. */
static void resize(ppy_list *dict, int64_t places) {
    ppy_table *table = dict->table;
    int64_t kept = 0;
    for (int64_t at = 0; at < dict->length; at++) {
        if (table->states[at] != PPY_LIVE) continue;
        if (kept < at) {
            memcpy(entry(dict, kept), entry(dict, at), (size_t)dict->layout->bytes);
            memset(entry(dict, at), 0, (size_t)dict->layout->bytes);
            table->hashes[kept] = table->hashes[at];
            table->states[kept] = PPY_LIVE;
        }
        kept++;
    }
    dict->length = kept;
    const int64_t most = usable(places);
    ppy_list_reserve(dict, most);
    int64_t *hashes = realloc(table->hashes, (size_t)most * sizeof *hashes);
    if (hashes) table->hashes = hashes;
    uint8_t *states = realloc(table->states, (size_t)most);
    if (states) table->states = states;
    int64_t *made = realloc(table->places, (size_t)places * sizeof *made);
    if (made) table->places = made;
    if (!hashes || !states || !made) ppy_raise_memory();
    table->mask = places - 1;
    table->fill = kept;
    ppy_count_bytes(places * PPY_PLACE_BYTES);
    for (int64_t i = 0; i < places; i++) made[i] = -1;
    for (int64_t at = 0; at < kept; at++) put_place(table, hashes[at], at);
}

ppy_list *ppy_dict_new(const ppy_layout *layout) {
    ppy_list *made = ppy_list_make(PPY_DICT, layout, 0);
    made->table = calloc(1, sizeof *made->table);
    if (!made->table) ppy_raise_memory();
    resize(made, SMALLEST);
    return made;
}

static int64_t find(const ppy_list *dict, const void *key, int64_t hash) {
    const ppy_table *table = dict->table;
    for (probe here = first(table, hash);; next(table, &here)) {
        const int64_t at = table->places[here.place];
        if (at < 0) return -1;
        if (table->states[at] == PPY_LIVE && table->hashes[at] == hash && ppy_item_equal(key_layout(dict), entry(dict, at), key)) {
            return at;
        }
    }
}

int64_t ppy_dict_find(const ppy_list *dict, const void *key) { return find(dict, key, ppy_item_hash(key_layout(dict), key)); }

int64_t ppy_dict_place(ppy_list *dict, const void *key) {
    const int64_t hash = ppy_item_hash(key_layout(dict), key), found = find(dict, key, hash);
    if (found >= 0) return found;
    ppy_table *table = dict->table;
    if (table->fill == usable(table->mask + 1)) {
        int64_t places = SMALLEST;
        while (places < table->used * 3) places *= 2;
        resize(dict, places);
    }
    const int64_t at = dict->length++;
    ppy_item_copy(key_layout(dict), entry(dict, at), key);
    table->hashes[at] = hash;
    table->states[at] = PPY_LIVE;
    table->used++;
    table->fill++;
    put_place(table, hash, at);
    return at;
}

void ppy_dict_delete(ppy_list *dict, int64_t at) {
    ppy_item_drop(dict->layout, entry(dict, at));
    dict->table->states[at] = PPY_GONE;
    dict->table->used--;
}

int64_t ppy_dict_last(const ppy_list *dict) {
    int64_t at = dict->length - 1;
    while (at >= 0 && dict->table->states[at] != PPY_LIVE) at--;
    return at;
}

void ppy_dict_clear(ppy_list *dict) {
    for (int64_t at = 0; at < dict->length; at++) ppy_item_drop(dict->layout, entry(dict, at));
    dict->length = 0;
    dict->table->used = 0;
    resize(dict, SMALLEST);
}

static bool is_live(const ppy_list *dict, int64_t at) { return dict->table->states[at] == PPY_LIVE; }

void ppy_dict_update(ppy_list *dict, const ppy_list *more) {
    const ppy_part *value = &dict->layout->parts[1];
    for (int64_t from = 0; dict != more && from < more->length; from++) {
        if (!is_live(more, from)) continue;
        const int64_t at = ppy_dict_place(dict, entry(more, from));
        ppy_item_copy(value->layout, entry(dict, at) + value->offset, entry(more, from) + value->offset);
    }
}

ppy_list *ppy_dict_copy(const ppy_list *dict) {
    ppy_list *made = ppy_dict_new(dict->layout);
    ppy_dict_update(made, dict);
    return made;
}

ppy_list *ppy_dict_listed(const ppy_list *dict, int part) {
    const ppy_layout *layout = part < 0 ? dict->layout : dict->layout->parts[part].layout;
    const int32_t offset = part < 0 ? 0 : dict->layout->parts[part].offset;
    ppy_list *made = ppy_list_new(layout, dict->table->used);
    int64_t to = 0;
    for (int64_t at = 0; at < dict->length; at++) {
        if (!is_live(dict, at)) continue;
        ppy_item_copy(layout, (char *)made->data + to++ * layout->bytes, entry(dict, at) + offset);
    }
    return made;
}

int64_t ppy_dict_next(const ppy_list *dict, int64_t at, int64_t used) {
    if (used != dict->table->used) ppy_raise_ascii(PPY_RuntimeError, "dictionary changed size during iteration");
    while (at < dict->length && !is_live(dict, at)) at++;
    return at;
}

bool ppy_dict_equal(const ppy_list *a, const ppy_list *b) {
    const ppy_part *value = &a->layout->parts[1];
    if (a->table->used != b->table->used) return false;
    for (int64_t at = 0; at < a->length; at++) {
        if (!is_live(a, at)) continue;
        const int64_t other = find(b, entry(a, at), a->table->hashes[at]);
        if (other < 0) return false;
        if (!ppy_item_equal(value->layout, entry(a, at) + value->offset, entry(b, other) + value->offset)) return false;
    }
    return true;
}

ppy_text ppy_dict_repr(const ppy_list *dict) {
    const ppy_part *value = &dict->layout->parts[1];
    ppy_text *parts = ppy_arena_allocate((dict->table->used + 1) * (int64_t)sizeof *parts);
    int64_t count = 0;
    for (int64_t at = 0; at < dict->length; at++) {
        if (!is_live(dict, at)) continue;
        const ppy_text key = ppy_item_repr(key_layout(dict), entry(dict, at));
        const ppy_text said[] = {key, PPY_TEXT(": "), ppy_item_repr(value->layout, entry(dict, at) + value->offset)};
        parts[count++] = ppy_concat(said, 3);
    }
    const ppy_text whole[] = {PPY_TEXT("{"), ppy_join(PPY_TEXT(", "), parts, count), PPY_TEXT("}")};
    return ppy_concat(whole, 3);
}

void ppy_why_key(const ppy_layout *layout, const void *key) { ppy_raise(PPY_KeyError, ppy_item_repr(layout, key)); }
