/* Slots: texts that outlive the statement that made them. The bytes follow their capacity. */
#include <stdlib.h>
#include <string.h>

#include "ppy_failure.h"
#include "ppy_text.h"

static int64_t *capacity_of(const ppy_text *slot) { return (int64_t *)(void *)slot->data - 1; }

static char *allocate(int64_t capacity) {
    int64_t *made = capacity <= INT64_MAX / 2 ? malloc(sizeof *made + (size_t)capacity) : NULL;
    if (!made) ppy_raise(PPY_MemoryError, (ppy_text){0});
    *made = capacity;
    return (char *)(made + 1);
}

void ppy_keep(ppy_text *slot, ppy_text value) {
    const bool fits = slot->data && *capacity_of(slot) >= value.bytes;
    const bool wasteful = slot->data && *capacity_of(slot) / 4 > value.bytes + 64;
    char *data = fits && !wasteful ? (char *)slot->data : allocate(value.bytes);
    if (value.bytes) memmove(data, value.data, (size_t)value.bytes); /* maybe a part of the slot */
    if (data != slot->data) ppy_drop(slot);
    *slot = (ppy_text){data, value.bytes, value.length};
}

void ppy_keep_more(ppy_text *slot, ppy_text more) {
    if (more.bytes == 0) return;
    const int64_t bytes = slot->bytes + more.bytes;
    const ppy_text before = *slot;
    char *data = (char *)slot->data;
    if (!data || *capacity_of(slot) < bytes) {
        data = allocate(bytes + bytes / 2 + 16);
        if (before.bytes) memcpy(data, before.data, (size_t)before.bytes);
    }
    memcpy(data + before.bytes, more.data, (size_t)more.bytes); /* maybe of the old block */
    if (data != before.data) ppy_drop(slot);
    *slot = (ppy_text){data, bytes, before.length + more.length};
}

void ppy_drop(ppy_text *slot) {
    if (slot->data) free(capacity_of(slot));
    *slot = (ppy_text){0};
}
