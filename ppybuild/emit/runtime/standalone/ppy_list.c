#include "ppy_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ppy_failure.h"
#include "ppy_number_text.h"
#include "ppy_process.h"
#include "ppy_unicode.h"

static const int32_t item_bytes[] = {
    [PPY_INTS] = sizeof(int64_t), [PPY_FLOATS] = sizeof(double), [PPY_BOOLS] = sizeof(bool),
    [PPY_TEXTS] = sizeof(ppy_text), [PPY_LISTS] = sizeof(ppy_list *), [PPY_TUPLES] = 0,
    [PPY_ARRAY_F64] = sizeof(double), [PPY_ARRAY_F32] = sizeof(float), [PPY_ARRAY_I64] = sizeof(int64_t),
    [PPY_ARRAY_I32] = sizeof(int32_t), [PPY_ARRAY_U8] = 1, [PPY_ARRAY_I8] = 1,
};

ppy_roots *ppy_top_roots;
static ppy_list *lists;      /* all that there are */
static int64_t made_bytes;   /* since unreached lists were last freed */
static int64_t made_most = (int64_t)1 << 24;

static _Noreturn void no_memory(void) { ppy_raise(PPY_MemoryError, (ppy_text){0}); }

/* Freeing what nothing reaches. */

static void reach(ppy_list *list) {
    /* Lists in lists: depth is bounded by the program's types. */
    if (!list || list->reached) return;
    list->reached = true;
    if (list->holds != PPY_LISTS) return;
    for (int64_t i = 0; i < list->length; i++) reach(PPY_ITEMS(ppy_list *, list)[i]);
}

static void drop_texts(ppy_list *list, int64_t from, int64_t to) {
    if (list->holds != PPY_TEXTS) return;
    for (int64_t i = from; i < to; i++) ppy_drop(&PPY_ITEMS(ppy_text, list)[i]);
}

static void free_unreached(void) {
    for (const ppy_roots *roots = ppy_top_roots; roots; roots = roots->outer) {
        for (int64_t i = 0; i < roots->count; i++) reach(roots->at[i]);
    }
    int64_t kept = 0;
    for (ppy_list **at = &lists; *at;) {
        ppy_list *list = *at;
        if (list->reached) {
            list->reached = false;
            kept += list->capacity * list->item_bytes + (int64_t)sizeof *list;
            at = &list->next;
        } else {
            *at = list->next;
            drop_texts(list, 0, list->length);
            free(list->data);
            free(list);
        }
    }
    made_bytes = 0;
    made_most = kept > ((int64_t)1 << 24) ? kept : (int64_t)1 << 24;
}

/* Making. */

static ppy_list *make(ppy_holds holds, int32_t bytes, int64_t length) {
    if (made_bytes > made_most) free_unreached();
    if (length < 0) length = 0;
    if (length > INT64_MAX / 4 / (bytes ? bytes : 1)) no_memory();
    ppy_list *list = malloc(sizeof *list);
    if (!list) no_memory();
    *list = (ppy_list){.length = length, .capacity = length, .item_bytes = bytes, .holds = (uint8_t)holds};
    if (length) {
        list->data = calloc((size_t)length, (size_t)bytes);
        if (!list->data) {
            free(list);
            no_memory();
        }
    }
    list->next = lists;
    lists = list;
    made_bytes += length * bytes + (int64_t)sizeof *list;
    return list;
}

ppy_list *ppy_list_new(ppy_holds holds, int64_t length) { return make(holds, item_bytes[holds], length); }

ppy_list *ppy_list_of_tuples(int32_t bytes, int64_t length) { return make(PPY_TUPLES, bytes, length); }

ppy_list *ppy_list_like(const ppy_list *list, int64_t length) {
    return make((ppy_holds)list->holds, list->item_bytes, length);
}

/* Changing. */

static char *item(const ppy_list *list, int64_t index) { return (char *)list->data + index * list->item_bytes; }

static void reserve(ppy_list *list, int64_t capacity) {
    if (capacity <= list->capacity) return;
    if (capacity > INT64_MAX / 4 / list->item_bytes) no_memory();
    void *data = realloc(list->data, (size_t)(capacity * list->item_bytes));
    if (!data) no_memory();
    made_bytes += (capacity - list->capacity) * list->item_bytes;
    list->data = data;
    memset(item(list, list->capacity), 0, (size_t)((capacity - list->capacity) * list->item_bytes));
    list->capacity = capacity;
}

void ppy_list_grow(ppy_list *list) { reserve(list, list->capacity + list->capacity / 2 + 8); }

int64_t ppy_list_insert(ppy_list *list, int64_t index) {
    const int64_t from_end = index < 0 ? index + list->length : index;
    const int64_t at = from_end < 0 ? 0 : from_end > list->length ? list->length : from_end;
    ppy_list_append(list);
    memmove(item(list, at) + list->item_bytes, item(list, at), (size_t)((list->length - 1 - at) * list->item_bytes));
    memset(item(list, at), 0, (size_t)list->item_bytes);
    return at;
}

void ppy_list_remove(ppy_list *list, int64_t index) {
    drop_texts(list, index, index + 1);
    list->length--;
    memmove(item(list, index), item(list, index) + list->item_bytes, (size_t)((list->length - index) * list->item_bytes));
    memset(item(list, list->length), 0, (size_t)list->item_bytes);
}

void ppy_list_clear(ppy_list *list) {
    drop_texts(list, 0, list->length);
    if (list->length) memset(list->data, 0, (size_t)(list->length * list->item_bytes));
    list->length = 0;
}

static void swap(char *a, char *b, int32_t bytes) {
    char kept[bytes];
    memcpy(kept, a, (size_t)bytes);
    memcpy(a, b, (size_t)bytes);
    memcpy(b, kept, (size_t)bytes);
}

void ppy_list_reverse(ppy_list *list) {
    for (int64_t i = 0, j = list->length - 1; i < j; i++, j--) swap(item(list, i), item(list, j), list->item_bytes);
}

/* Copies items, each text into a slot of its own that is empty. */
static void copy(ppy_list *to, int64_t at, const ppy_list *from, int64_t start, int64_t count) {
    if (count <= 0) return;
    if (from->holds != PPY_TEXTS) {
        memmove(item(to, at), item(from, start), (size_t)(count * from->item_bytes));
        return;
    }
    for (int64_t i = 0; i < count; i++) ppy_keep(&PPY_ITEMS(ppy_text, to)[at + i], PPY_ITEMS(ppy_text, from)[start + i]);
}

ppy_list *ppy_list_concat(const ppy_list *a, const ppy_list *b) {
    ppy_list *made = ppy_list_like(a, a->length + b->length);
    copy(made, 0, a, 0, a->length);
    copy(made, a->length, b, 0, b->length);
    return made;
}

ppy_list *ppy_list_repeat(const ppy_list *list, int64_t times) {
    if (times < 0) times = 0;
    if (list->length && times > INT64_MAX / 16 / list->length) no_memory();
    const int64_t length = list->length;
    ppy_list *made = ppy_list_like(list, length * times);
    for (int64_t i = 0; i < times; i++) copy(made, i * length, list, 0, length);
    return made;
}

void ppy_list_extend(ppy_list *list, const ppy_list *more) {
    const int64_t before = list->length, count = more->length;
    if (before + count > list->capacity) reserve(list, before + count + before / 2);
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

/* Sorting: merges, so that equals keep their order, as Python's do. */

static bool less(const ppy_list *list, const char *a, const char *b) {
    switch ((ppy_holds)list->holds) {
    case PPY_FLOATS: return *(const double *)(const void *)a < *(const double *)(const void *)b;
    case PPY_BOOLS: return *(const bool *)(const void *)a < *(const bool *)(const void *)b;
    case PPY_TEXTS: return ppy_compare(*(const ppy_text *)(const void *)a, *(const ppy_text *)(const void *)b) < 0;
    default: return *(const int64_t *)(const void *)a < *(const int64_t *)(const void *)b;
    }
}

void ppy_list_sort(ppy_list *list, bool reverse) {
    const int64_t length = list->length;
    const size_t bytes = (size_t)list->item_bytes;
    if (length < 2) return;
    for (int64_t i = 0; list->holds == PPY_FLOATS && i < length; i++) {
        /* No order: what comes out depends on the algorithm. */
        if (isnan(PPY_ITEMS(double, list)[i])) ppy_raise_beyond("a list with nan is sorted");
    }
    char *spare = malloc((size_t)length * bytes), *from = list->data, *to = spare;
    if (!spare) no_memory();
    if (reverse) ppy_list_reverse(list);
    for (int64_t width = 1; width < length; width *= 2) {
        for (int64_t start = 0; start < length; start += 2 * width) {
            int64_t left = start, middle = start + width < length ? start + width : length;
            int64_t right = middle;
            const int64_t last = middle, end = middle + width < length ? middle + width : length;
            for (int64_t at = start; at < end; at++) {
                const bool take = left == last || (right < end && less(list, from + (size_t)right * bytes, from + (size_t)left * bytes));
                memcpy(to + (size_t)at * bytes, from + (size_t)(take ? right++ : left++) * bytes, bytes);
            }
        }
        char *const next = from;
        from = to;
        to = next;
    }
    if (from == spare) memcpy(list->data, spare, (size_t)length * bytes);
    free(spare);
    if (reverse) ppy_list_reverse(list);
}

/* Texts. */

static void add_text(ppy_list *list, ppy_text text) {
    ppy_list_append(list);
    ppy_keep(&PPY_ITEMS(ppy_text, list)[list->length - 1], text);
}

static ppy_text part(ppy_text text, int64_t from, int64_t to) { return ppy_text_of_bytes(text.data + from, to - from); }

ppy_list *ppy_text_split(ppy_text text) {
    ppy_list *made = ppy_list_new(PPY_TEXTS, 0);
    int64_t start = -1;
    for (int64_t at = 0; at < text.bytes;) {
        const int64_t here = at;
        const bool space = ppy_is_space(ppy_next(text, &at));
        if (space && start >= 0) add_text(made, part(text, start, here));
        if (space) start = -1;
        else if (start < 0) start = here;
    }
    if (start >= 0) add_text(made, part(text, start, text.bytes));
    return made;
}

ppy_list *ppy_text_split_at(ppy_text text, ppy_text separator) {
    if (separator.bytes == 0) ppy_raise_ascii(PPY_ValueError, "empty separator");
    ppy_list *made = ppy_list_new(PPY_TEXTS, 0);
    int64_t start = 0;
    for (int64_t at = 0; at + separator.bytes <= text.bytes;) {
        if (memcmp(text.data + at, separator.data, (size_t)separator.bytes) == 0) {
            add_text(made, part(text, start, at));
            at += separator.bytes;
            start = at;
        } else {
            at++;
        }
    }
    add_text(made, part(text, start, text.bytes));
    return made;
}

ppy_text ppy_list_join(ppy_text separator, const ppy_list *texts) {
    return ppy_join(separator, PPY_ITEMS(ppy_text, texts), texts->length);
}

ppy_list *ppy_argument_list(void) {
    ppy_list *made = ppy_list_new(PPY_TEXTS, ppy_argument_count);
    for (int64_t i = 0; i < ppy_argument_count; i++) ppy_keep(&PPY_ITEMS(ppy_text, made)[i], ppy_arguments[i]);
    return made;
}

/* Asking. */

static bool same(const ppy_list *list, const ppy_list *other, int64_t i) {
    const char *a = item(list, i), *b = item(other, i);
    switch ((ppy_holds)list->holds) {
    case PPY_FLOATS: case PPY_ARRAY_F64: return *(const double *)(const void *)a == *(const double *)(const void *)b;
    case PPY_ARRAY_F32: return *(const float *)(const void *)a == *(const float *)(const void *)b;
    case PPY_TEXTS: return ppy_equal(*(const ppy_text *)(const void *)a, *(const ppy_text *)(const void *)b);
    case PPY_LISTS: return ppy_list_equal(*(ppy_list *const *)(const void *)a, *(ppy_list *const *)(const void *)b);
    default: return memcmp(a, b, (size_t)list->item_bytes) == 0;
    }
}

bool ppy_list_equal(const ppy_list *a, const ppy_list *b) {
    if (a->length != b->length) return false;
    for (int64_t i = 0; i < a->length; i++) {
        if (!same(a, b, i)) return false;
    }
    return true;
}

static ppy_text item_repr(const ppy_list *list, int64_t i) {
    switch ((ppy_holds)list->holds) {
    case PPY_INTS: case PPY_ARRAY_I64: return ppy_str_int(PPY_ITEMS(int64_t, list)[i]);
    case PPY_FLOATS: case PPY_ARRAY_F64: return ppy_str_float(PPY_ITEMS(double, list)[i]);
    case PPY_BOOLS: return ppy_str_bool(PPY_ITEMS(bool, list)[i]);
    case PPY_TEXTS: return ppy_repr_text(PPY_ITEMS(ppy_text, list)[i]);
    case PPY_LISTS: return ppy_list_repr(PPY_ITEMS(ppy_list *, list)[i]);
    case PPY_ARRAY_F32: return ppy_str_float((double)PPY_ITEMS(float, list)[i]);
    case PPY_ARRAY_I32: return ppy_str_int(PPY_ITEMS(int32_t, list)[i]);
    case PPY_ARRAY_U8: return ppy_str_int(PPY_ITEMS(uint8_t, list)[i]);
    case PPY_ARRAY_I8: return ppy_str_int(PPY_ITEMS(int8_t, list)[i]);
    case PPY_TUPLES: break;
    }
    return (ppy_text){0};
}

ppy_text ppy_list_repr(const ppy_list *list) {
    static const char codes[] = "dfqiBb";
    ppy_text *parts = ppy_arena_allocate((list->length + 1) * (int64_t)sizeof *parts);
    for (int64_t i = 0; i < list->length; i++) parts[i] = item_repr(list, i);
    const ppy_text items = ppy_join(PPY_TEXT(", "), parts, list->length);
    if (list->holds < PPY_ARRAY_F64) {
        const ppy_text whole[] = {PPY_TEXT("["), items, PPY_TEXT("]")};
        return ppy_concat(whole, 3);
    }
    const ppy_text code = {codes + (list->holds - PPY_ARRAY_F64), 1, 1};
    const ppy_text whole[] = {PPY_TEXT("array('"), code, PPY_TEXT("', ["), items, PPY_TEXT("])")};
    const ppy_text empty[] = {PPY_TEXT("array('"), code, PPY_TEXT("')")};
    return list->length ? ppy_concat(whole, 5) : ppy_concat(empty, 3);
}
