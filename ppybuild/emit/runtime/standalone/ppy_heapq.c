#include "ppy_heapq.h"

#include <string.h>

static char *at(const ppy_list *heap, int64_t index) { return (char *)heap->data + index * heap->layout->bytes; }

static bool less(const ppy_list *heap, int64_t a, int64_t b) { return ppy_item_less(heap->layout, at(heap, a), at(heap, b)); }

static void swap(ppy_list *heap, int64_t a, int64_t b) {
    const size_t bytes = (size_t)heap->layout->bytes;
    char kept[bytes];
    memcpy(kept, at(heap, a), bytes);
    memcpy(at(heap, a), at(heap, b), bytes);
    memcpy(at(heap, b), kept, bytes);
}

/* Towards the first item: an item that may be less than those above it. */
static void up(ppy_list *heap, int64_t start, int64_t index) {
    while (index > start && less(heap, index, (index - 1) / 2)) {
        swap(heap, index, (index - 1) / 2);
        index = (index - 1) / 2;
    }
}

/* An item goes to the end along the lesser children, and up from there. */
static void down(ppy_list *heap, int64_t start) {
    int64_t index = start;
    while (index < heap->length / 2) {
        int64_t child = 2 * index + 1;
        if (child + 1 < heap->length && !less(heap, child, child + 1)) child++;
        swap(heap, index, child);
        index = child;
    }
    up(heap, start, index);
}

void ppy_heap_pushed(ppy_list *heap) { up(heap, 0, heap->length - 1); }

void ppy_heap_replaced(ppy_list *heap) { down(heap, 0); }

void ppy_heap_drop_first(ppy_list *heap) {
    if (heap->length > 1) swap(heap, 0, heap->length - 1);
    ppy_list_remove(heap, heap->length - 1);
    if (heap->length) down(heap, 0);
}

void ppy_heapify(ppy_list *heap) {
    for (int64_t index = heap->length / 2 - 1; index >= 0; index--) down(heap, index);
}

bool ppy_heap_first_less(const ppy_list *heap, const void *item) {
    return heap->length && ppy_item_less(heap->layout, at(heap, 0), item);
}
