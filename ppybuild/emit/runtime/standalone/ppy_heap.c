/* Where lists are made, and freed when nothing reaches them. */
#include <stdlib.h>
#include <string.h>

#include "ppy_failure.h"
#include "ppy_list.h"
#include "ppy_table.h"

#define LEAST ((int64_t)1 << 24)

ppy_roots *ppy_top_roots;
static ppy_list *lists;    /* all that there are */
static ppy_list *waiting;  /* reached, and not yet looked into */
static int64_t made_bytes; /* since unreached lists were last freed */
static int64_t made_most = LEAST;

static void reach(ppy_list *list) {
    if (!list || list->reached) return;
    list->reached = true;
    list->waiting = waiting;
    waiting = list;
}

static void reach_all(void) {
    for (const ppy_roots *roots = ppy_top_roots; roots; roots = roots->outer) {
        for (int64_t i = 0; i < roots->count; i++) reach(roots->at[i]);
    }
    while (waiting) {
        const ppy_list *list = waiting;
        waiting = list->waiting;
        if (list->layout->plain) continue;
        for (int64_t i = 0; i < list->length; i++) {
            ppy_item_references(list->layout, (char *)list->data + i * list->layout->bytes, reach);
        }
    }
}

static void free_list(ppy_list *list) {
    for (int64_t i = 0; i < list->length && !list->layout->plain; i++) {
        ppy_item_drop(list->layout, (char *)list->data + i * list->layout->bytes);
    }
    ppy_table_free(list->table);
    free(list->data);
    free(list);
}

static void free_unreached(void) {
    reach_all();
    int64_t kept = 0;
    for (ppy_list **at = &lists; *at;) {
        ppy_list *list = *at;
        if (list->reached) {
            list->reached = false;
            kept += list->capacity * list->layout->bytes + (int64_t)sizeof *list;
            if (list->table) kept += list->table->mask * PPY_PLACE_BYTES;
            at = &list->next;
        } else {
            *at = list->next;
            free_list(list);
        }
    }
    made_bytes = 0;
    made_most = kept > LEAST ? kept : LEAST;
}

void ppy_count_bytes(int64_t bytes) { made_bytes += bytes; }

ppy_list *ppy_list_make(ppy_form form, const ppy_layout *layout, int64_t length) {
    if (made_bytes > made_most) free_unreached();
    if (length < 0) length = 0;
    if (length > INT64_MAX / 4 / (layout->bytes ? layout->bytes : 1)) ppy_raise_memory();
    ppy_list *list = malloc(sizeof *list);
    if (!list) ppy_raise_memory();
    *list = (ppy_list){.length = length, .capacity = length, .layout = layout, .form = (uint8_t)form};
    if (length) {
        list->data = calloc((size_t)length, (size_t)layout->bytes);
        if (!list->data) {
            free(list);
            ppy_raise_memory();
        }
    }
    list->next = lists;
    lists = list;
    made_bytes += length * layout->bytes + (int64_t)sizeof *list;
    return list;
}

void ppy_list_reserve(ppy_list *list, int64_t capacity) {
    if (capacity <= list->capacity) return;
    const int64_t bytes = list->layout->bytes, more = (capacity - list->capacity) * bytes;
    if (capacity > INT64_MAX / 4 / bytes) ppy_raise_memory();
    void *data = realloc(list->data, (size_t)(capacity * bytes));
    if (!data) ppy_raise_memory();
    made_bytes += more;
    list->data = data;
    memset((char *)data + list->capacity * bytes, 0, (size_t)more);
    list->capacity = capacity;
}
