#include "ppy_list.h"

#include <stdlib.h>
#include <string.h>

#include "ppy_class.h"
#include "ppy_dict.h"
#include "ppy_failure.h"
#include "ppy_set.h"

ppy_list *ppy_list_new(const ppy_layout *layout, int64_t length) { return ppy_list_make(PPY_LIST, layout, length); }

ppy_list *ppy_list_like(const ppy_list *list, int64_t length) { return ppy_list_new(list->layout, length); }

static char *item(const ppy_list *list, int64_t index) { return (char *)list->data + index * list->layout->bytes; }

/* Changing. */

void ppy_list_grow(ppy_list *list) { ppy_list_reserve(list, list->capacity + list->capacity / 2 + 8); }

int64_t ppy_list_insert(ppy_list *list, int64_t index) {
    const int64_t from_end = index < 0 ? index + list->length : index;
    const int64_t at = from_end < 0 ? 0 : from_end > list->length ? list->length : from_end;
    ppy_list_append(list);
    memmove(item(list, at) + list->layout->bytes, item(list, at), (size_t)((list->length - 1 - at) * list->layout->bytes));
    memset(item(list, at), 0, (size_t)list->layout->bytes);
    return at;
}

void ppy_list_remove(ppy_list *list, int64_t index) {
    ppy_item_drop(list->layout, item(list, index));
    list->length--;
    memmove(item(list, index), item(list, index) + list->layout->bytes, (size_t)((list->length - index) * list->layout->bytes));
    memset(item(list, list->length), 0, (size_t)list->layout->bytes);
}

void ppy_list_clear(ppy_list *list) {
    for (int64_t i = 0; i < list->length; i++) ppy_item_drop(list->layout, item(list, i));
    list->length = 0;
}

static void swap(char *a, char *b, int32_t bytes) {
    char kept[bytes];
    memcpy(kept, a, (size_t)bytes);
    memcpy(a, b, (size_t)bytes);
    memcpy(b, kept, (size_t)bytes);
}

void ppy_list_reverse(ppy_list *list) {
    for (int64_t i = 0, j = list->length - 1; i < j; i++, j--) swap(item(list, i), item(list, j), list->layout->bytes);
}

/* Copies items to places that hold nothing yet. */
static void copy(ppy_list *to, int64_t at, const ppy_list *from, int64_t start, int64_t count) {
    if (count <= 0) return;
    if (from->layout->plain) {
        memmove(item(to, at), item(from, start), (size_t)(count * from->layout->bytes));
        return;
    }
    for (int64_t i = 0; i < count; i++) ppy_item_copy(from->layout, item(to, at + i), item(from, start + i));
}

ppy_list *ppy_list_concat(const ppy_list *a, const ppy_list *b) {
    ppy_list *made = ppy_list_like(a, a->length + b->length);
    copy(made, 0, a, 0, a->length);
    copy(made, a->length, b, 0, b->length);
    return made;
}

ppy_list *ppy_list_repeat(const ppy_list *list, int64_t times) {
    if (times < 0) times = 0;
    if (list->length && times > INT64_MAX / 16 / list->length) ppy_raise_memory();
    const int64_t length = list->length;
    ppy_list *made = ppy_list_like(list, length * times);
    for (int64_t i = 0; i < times; i++) copy(made, i * length, list, 0, length);
    return made;
}

void ppy_list_extend(ppy_list *list, const ppy_list *more) {
    const int64_t before = list->length, count = more->length;
    if (before + count > list->capacity) ppy_list_reserve(list, before + count + before / 2);
    list->length = before + count;
    copy(list, before, more, 0, count);
}

static int64_t bound(int64_t value, int64_t absent, int64_t low, int64_t high, int64_t length) {
    if (value == PPY_ABSENT) return absent;
    if (value < 0) value += length;
    return value < low ? low : value > high ? high : value;
}

ppy_list *ppy_list_slice(const ppy_list *list, int64_t start, int64_t stop, int64_t step) {
    if (step == PPY_ABSENT) step = 1;
    if (step == 0) ppy_raise_ascii(PPY_ValueError, "slice step cannot be zero");
    const int64_t length = list->length, low = step < 0 ? -1 : 0, high = step < 0 ? length - 1 : length;
    const int64_t first = bound(start, step < 0 ? high : low, low, high, length);
    const int64_t last = bound(stop, step < 0 ? low : high, low, high, length);
    int64_t count = 0;
    if (step > 0 && first < last) count = (last - first - 1) / step + 1;
    if (step < 0 && first > last) count = step == INT64_MIN ? 1 : (first - last - 1) / -step + 1;
    ppy_list *made = ppy_list_like(list, count);
    if (step == 1) copy(made, 0, list, first, count);
    else for (int64_t i = 0; i < count; i++) copy(made, i, list, first + i * step, 1);
    return made;
}

void ppy_list_splice(ppy_list *list, int64_t start, int64_t stop, const ppy_list *more) {
    const int64_t length = list->length, bytes = list->layout->bytes;
    const int64_t first = bound(start, 0, 0, length, length), end = bound(stop, length, 0, length, length);
    const int64_t last = end < first ? first : end, rest = length - last;
    if (more == list) more = ppy_list_slice(list, PPY_ABSENT, PPY_ABSENT, PPY_ABSENT);
    const int64_t count = more ? more->length : 0;
    ppy_list_reserve(list, first + count + rest);
    for (int64_t i = first; i < last; i++) ppy_item_drop(list->layout, item(list, i));
    if (rest) memmove(item(list, first + count), item(list, last), (size_t)(rest * bytes));
    list->length = first + count + rest;
    /* Bytes that were moved are those of items elsewhere now. */
    if (first + count > last) memset(item(list, last), 0, (size_t)((first + count - last) * bytes));
    if (list->length < length) memset(item(list, list->length), 0, (size_t)((length - list->length) * bytes));
    if (more) copy(list, first, more, 0, count);
}

/* Asking. */

bool ppy_list_equal(const ppy_list *a, const ppy_list *b) {
    if (a == b) return true;
    if (!a || !b) return false;
    if (a->form == PPY_OBJECT) return ppy_object_equal(a, b);
    if (a->form == PPY_DICT) return ppy_dict_equal(a, b);
    if (a->form == PPY_SET) return ppy_set_equal(a, b);
    if (a->length != b->length) return false;
    for (int64_t i = 0; i < a->length; i++) {
        if (!ppy_item_equal(a->layout, item(a, i), item(b, i))) return false;
    }
    return true;
}

bool ppy_list_less(const ppy_list *a, const ppy_list *b) {
    for (int64_t i = 0; i < a->length && i < b->length; i++) {
        if (!ppy_item_equal(a->layout, item(a, i), item(b, i))) return ppy_item_less(a->layout, item(a, i), item(b, i));
    }
    return a->length < b->length;
}

ppy_text ppy_list_repr(const ppy_list *list) {
    static const char codes[] = "dfqiBb";
    if (!list) return PPY_TEXT("None");
    if (list->form == PPY_OBJECT) return ppy_object_repr(list);
    if (list->form == PPY_DICT) return ppy_dict_repr(list);
    if (list->form == PPY_SET) return ppy_set_repr(list);
    ppy_text *parts = ppy_arena_allocate((list->length + 1) * (int64_t)sizeof *parts);
    for (int64_t i = 0; i < list->length; i++) parts[i] = ppy_item_repr(list->layout, item(list, i));
    const ppy_text items = ppy_join(PPY_TEXT(", "), parts, list->length);
    if (list->layout->shape < PPY_SHAPE_F64) {
        const ppy_text whole[] = {PPY_TEXT("["), items, PPY_TEXT("]")};
        return ppy_concat(whole, 3);
    }
    const ppy_text code = {codes + (list->layout->shape - PPY_SHAPE_F64), 1, 1};
    const ppy_text whole[] = {PPY_TEXT("array('"), code, PPY_TEXT("', ["), items, PPY_TEXT("])")};
    const ppy_text empty[] = {PPY_TEXT("array('"), code, PPY_TEXT("')")};
    return list->length ? ppy_concat(whole, 5) : ppy_concat(empty, 3);
}
