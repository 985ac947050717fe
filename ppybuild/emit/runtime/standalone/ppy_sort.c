/* Sorting: merges, so that equals keep their order, as Python's do. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ppy_failure.h"
#include "ppy_list.h"

static void refuse_nan(const ppy_list *list) {
    if (list->layout->shape != PPY_SHAPE_FLOAT) return;
    for (int64_t i = 0; i < list->length; i++) {
        /* No order: what comes out depends on the algorithm. */
        if (isnan(PPY_ITEMS(double, list)[i])) ppy_raise_beyond("a list with nan is sorted");
    }
}

static bool less(const ppy_layout *layout, const void *a, const void *b) {
    switch (layout->shape) {
    case PPY_SHAPE_FLOAT: return *(const double *)a < *(const double *)b;
    case PPY_SHAPE_INT: return *(const int64_t *)a < *(const int64_t *)b;
    default: return ppy_item_less(layout, a, b);
    }
}

/* Items of `bytes` each, moved whole. Before each may stand the place of its key. */
static void merge_sort(char *data, int64_t length, size_t bytes, const ppy_layout *layout, const char *keys) {
    char *spare = malloc((size_t)length * bytes), *from = data, *to = spare;
    if (!spare) ppy_raise_memory();
#define KEY(at) (keys ? keys + *(const int64_t *)(const void *)(at) * layout->bytes : (at))
    for (int64_t width = 1; width < length; width *= 2) {
        for (int64_t start = 0; start < length; start += 2 * width) {
            int64_t left = start, middle = start + width < length ? start + width : length;
            int64_t right = middle;
            const int64_t last = middle, end = middle + width < length ? middle + width : length;
            for (int64_t at = start; at < end; at++) {
                const char *a = from + (size_t)left * bytes, *b = from + (size_t)right * bytes;
                const bool take = left == last || (right < end && less(layout, KEY(b), KEY(a)));
                memcpy(to + (size_t)at * bytes, take ? b : a, bytes);
                *(take ? &right : &left) += 1;
            }
        }
        char *const next = from;
        from = to;
        to = next;
    }
#undef KEY
    if (from == spare) memcpy(data, spare, (size_t)length * bytes);
    free(spare);
}

void ppy_list_sort(ppy_list *list, bool reverse) {
    if (list->length < 2) return;
    refuse_nan(list);
    if (reverse) ppy_list_reverse(list);
    merge_sort(list->data, list->length, (size_t)list->layout->bytes, list->layout, NULL);
    if (reverse) ppy_list_reverse(list);
}

void ppy_list_sort_by(ppy_list *list, const ppy_list *keys, bool reverse) {
    const int64_t length = list->length;
    if (length < 2) return;
    refuse_nan(keys);
    const size_t bytes = (size_t)list->layout->bytes;
    int64_t *order = malloc((size_t)length * sizeof *order);
    char *sorted = malloc((size_t)length * bytes);
    if (!order || !sorted) ppy_raise_memory();
    for (int64_t i = 0; i < length; i++) order[i] = reverse ? length - 1 - i : i;
    merge_sort((char *)order, length, sizeof *order, keys->layout, keys->data);
    for (int64_t i = 0; i < length; i++) {
        const int64_t from = order[reverse ? length - 1 - i : i];
        memcpy(sorted + (size_t)i * bytes, (const char *)list->data + (size_t)from * bytes, bytes);
    }
    memcpy(list->data, sorted, (size_t)length * bytes);
    free(order);
    free(sorted);
}
