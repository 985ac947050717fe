/* What `_heapqmodule.c` of CPython does with a list: the same comparisons, in the same order. */
#ifndef PPY_HEAPQ_H
#define PPY_HEAPQ_H

#include "ppy_list.h"

void ppy_heap_pushed(ppy_list *heap);   /* after an item was appended */
void ppy_heap_replaced(ppy_list *heap); /* after the first item was written over */
void ppy_heap_drop_first(ppy_list *heap);
void ppy_heapify(ppy_list *heap);
bool ppy_heap_first_less(const ppy_list *heap, const void *item); /* heap[0] < item */

#endif
