/* Making texts from texts, and asking about them. */
#define _GNU_SOURCE /* memmem */
#include "ppy_text.h"

#include <string.h>

#include "ppy_failure.h"
#include "ppy_number_text.h"
#include "ppy_unicode.h"

static bool is_ascii(ppy_text text) { return text.bytes == text.length; }

static bool is_first(char byte) { return ((unsigned char)byte & 0xC0) != 0x80; }

static int64_t count_points(const char *data, int64_t bytes) {
    int64_t points = 0;
    for (int64_t i = 0; i < bytes; i++) points += is_first(data[i]);
    return points;
}

ppy_text ppy_text_of_bytes(const char *data, int64_t bytes) {
    return (ppy_text){data, bytes, count_points(data, bytes)};
}

/* The bytes from `from` to `to`, which are at code points, of a text. */
static ppy_text part(ppy_text text, int64_t from, int64_t to) {
    if (is_ascii(text)) return (ppy_text){text.data + from, to - from, to - from};
    return ppy_text_of_bytes(text.data + from, to - from);
}

uint32_t ppy_next(ppy_text text, int64_t *at) {
    const unsigned char *here = (const unsigned char *)text.data + *at;
    const uint32_t first = here[0];
    if (first < 0x80) return (void)(*at += 1), first;
    if (first < 0xE0) return (void)(*at += 2), (first & 0x1F) << 6 | (here[1] & 0x3Fu);
    if (first < 0xF0) return (void)(*at += 3), (first & 0x0F) << 12 | (here[1] & 0x3Fu) << 6 | (here[2] & 0x3Fu);
    *at += 4;
    return (first & 0x07) << 18 | (here[1] & 0x3Fu) << 12 | (here[2] & 0x3Fu) << 6 | (here[3] & 0x3Fu);
}

/* The byte at which code point `index` starts, or the end. */
static int64_t byte_of(ppy_text text, int64_t index) {
    if (is_ascii(text) || index == 0) return index;
    if (index == text.length) return text.bytes;
    int64_t at = 0;
    for (int64_t points = 0;; at++) {
        if (is_first(text.data[at]) && points++ == index) return at;
    }
}

ppy_text ppy_chr(int64_t code_point) {
    if (code_point != (int32_t)code_point) ppy_raise_ascii(PPY_OverflowError, "Python int too large to convert to C int");
    if (code_point < 0 || code_point > 0x10FFFF) ppy_raise_ascii(PPY_ValueError, "chr() arg not in range(0x110000)");
    char *data = ppy_arena_allocate(4);
    return (ppy_text){data, ppy_encode((uint32_t)code_point, data), 1};
}

int64_t ppy_ord(ppy_text text) {
    if (text.length != 1) {
        const ppy_text parts[] = {PPY_TEXT("ord() expected a character, but string of length "), ppy_str_int(text.length),
                                  PPY_TEXT(" found")};
        ppy_raise(PPY_TypeError, ppy_concat(parts, 3));
    }
    int64_t at = 0;
    return (int64_t)ppy_next(text, &at);
}

ppy_text ppy_concat(const ppy_text *parts, int64_t count) { return ppy_join((ppy_text){0}, parts, count); }

static char *put(char *to, ppy_text text) {
    if (text.bytes) memcpy(to, text.data, (size_t)text.bytes);
    return to + text.bytes;
}

ppy_text ppy_join(ppy_text separator, const ppy_text *parts, int64_t count) {
    ppy_text made = {0};
    for (int64_t i = 0; i < count; i++) {
        made.bytes += parts[i].bytes + (i ? separator.bytes : 0);
        made.length += parts[i].length + (i ? separator.length : 0);
    }
    char *to = ppy_arena_allocate(made.bytes);
    made.data = to;
    for (int64_t i = 0; i < count; i++) {
        if (i) to = put(to, separator);
        to = put(to, parts[i]);
    }
    return made;
}

ppy_text ppy_repeat(ppy_text text, int64_t times) {
    if (times <= 0 || text.bytes == 0) return (ppy_text){0};
    if (text.length > INT64_MAX / times) ppy_raise_ascii(PPY_OverflowError, "repeated string is too long");
    if (text.bytes > INT64_MAX / times) ppy_raise(PPY_MemoryError, (ppy_text){0});
    char *to = ppy_arena_allocate(text.bytes * times);
    const ppy_text made = {to, text.bytes * times, text.length * times};
    if (text.bytes == 1) {
        memset(to, text.data[0], (size_t)times);
        return made;
    }
    for (int64_t i = 0; i < times; i++) to = put(to, text);
    return made;
}

ppy_text ppy_at(ppy_text text, int64_t index) {
    if (index < 0) index += text.length;
    if (index < 0 || index >= text.length) ppy_raise_ascii(PPY_IndexError, "string index out of range");
    const int64_t from = byte_of(text, index);
    int64_t to = from;
    ppy_next(text, &to);
    return (ppy_text){text.data + from, to - from, 1};
}

/* A bound of a slice as an index from `low` to `high`. */
static int64_t clamp(int64_t bound, int64_t length, int64_t low, int64_t high) {
    if (bound < 0) bound = bound < -length ? low : bound + length;
    return bound < low ? low : bound > high ? high : bound;
}

ppy_text ppy_slice(ppy_text text, int64_t start, int64_t stop, int64_t step) {
    if (step == 0) ppy_raise_ascii(PPY_ValueError, "slice step cannot be zero");
    if (step == PPY_ABSENT) step = 1;
    const int64_t low = step < 0 ? -1 : 0, high = step < 0 ? text.length - 1 : text.length;
    const int64_t from = start == PPY_ABSENT ? (step < 0 ? high : low) : clamp(start, text.length, low, high);
    const int64_t to = stop == PPY_ABSENT ? (step < 0 ? low : high) : clamp(stop, text.length, low, high);
    if (step > 0 ? from >= to : from <= to) return (ppy_text){0};
    if (step == 1) {
        const int64_t first = byte_of(text, from);
        const int64_t last = is_ascii(text) ? to : to == text.length ? text.bytes : byte_of(text, to);
        return (ppy_text){text.data + first, last - first, to - from};
    }
    const uint64_t span = step > 0 ? (uint64_t)(to - from) : (uint64_t)(from - to);
    const uint64_t stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    const int64_t points = (int64_t)((span - 1) / stride) + 1;
    char *data = ppy_arena_allocate(points * (is_ascii(text) ? 1 : 4));
    ppy_text made = {data, 0, points};
    int64_t at = byte_of(text, from);
    for (int64_t point = 0, index = from; point < points; point++) {
        int64_t after = at;
        ppy_next(text, &after);
        memcpy(data + made.bytes, text.data + at, (size_t)(after - at));
        made.bytes += after - at;
        if (point + 1 == points) break;
        /* To the next index: by bytes, so that it takes no more than one pass. */
        const int64_t next = index + step;
        if (is_ascii(text)) {
            at = next;
        } else {
            for (; index < next; index++) ppy_next(text, &at);
            for (; index > next; index--) do at--; while (!is_first(text.data[at]));
        }
        index = next;
    }
    return made;
}

bool ppy_equal(ppy_text a, ppy_text b) {
    return a.bytes == b.bytes && (a.bytes == 0 || memcmp(a.data, b.data, (size_t)a.bytes) == 0);
}

int ppy_compare(ppy_text a, ppy_text b) {
    const int64_t common = a.bytes < b.bytes ? a.bytes : b.bytes;
    const int order = common ? memcmp(a.data, b.data, (size_t)common) : 0;
    return order ? order : (a.bytes > b.bytes) - (a.bytes < b.bytes);
}

/* The byte at which `wanted` starts at or after `from`; -1 where it does not. */
static int64_t search(ppy_text text, ppy_text wanted, int64_t from) {
    if (wanted.bytes == 0) return from;
    if (text.bytes - from < wanted.bytes) return -1;
    const char *found = memmem(text.data + from, (size_t)(text.bytes - from), wanted.data, (size_t)wanted.bytes);
    return found ? found - text.data : -1;
}

int64_t ppy_find(ppy_text text, ppy_text wanted) {
    const int64_t at = search(text, wanted, 0);
    return at < 0 || is_ascii(text) ? at : count_points(text.data, at);
}

int64_t ppy_count(ppy_text text, ppy_text wanted) {
    if (wanted.bytes == 0) return text.length + 1;
    int64_t found = 0;
    for (int64_t at = 0; (at = search(text, wanted, at)) >= 0; at += wanted.bytes) found++;
    return found;
}

bool ppy_starts_with(ppy_text text, ppy_text wanted) {
    return text.bytes >= wanted.bytes && (wanted.bytes == 0 || memcmp(text.data, wanted.data, (size_t)wanted.bytes) == 0);
}

bool ppy_ends_with(ppy_text text, ppy_text wanted) {
    if (text.bytes < wanted.bytes || wanted.bytes == 0) return wanted.bytes == 0;
    return memcmp(text.data + text.bytes - wanted.bytes, wanted.data, (size_t)wanted.bytes) == 0;
}

ppy_text ppy_strip_left(ppy_text text) {
    int64_t from = 0;
    for (int64_t at = 0; at < text.bytes && ppy_is_space(ppy_next(text, &at));) from = at;
    return part(text, from, text.bytes);
}

ppy_text ppy_strip_right(ppy_text text) {
    int64_t to = text.bytes;
    while (to > 0) {
        int64_t at = to - 1;
        while (!is_first(text.data[at])) at--;
        const int64_t before = at;
        if (!ppy_is_space(ppy_next(text, &at))) break;
        to = before;
    }
    return part(text, 0, to);
}

ppy_text ppy_strip(ppy_text text) { return ppy_strip_left(ppy_strip_right(text)); }

/* Of ASCII, the letters from `first` on become those from `other` on. */
static ppy_text cased(ppy_text text, char first, char other) {
    if (text.bytes != text.length) ppy_raise_beyond("the case of letters beyond ASCII is changed");
    char *made = ppy_arena_allocate(text.bytes);
    for (int64_t i = 0; i < text.bytes; i++) {
        const char c = text.data[i];
        made[i] = c >= first && c < first + 26 ? (char)(c - first + other) : c;
    }
    return (ppy_text){made, text.bytes, text.length};
}

ppy_text ppy_upper(ppy_text text) { return cased(text, 'a', 'A'); }
ppy_text ppy_lower(ppy_text text) { return cased(text, 'A', 'a'); }

/* text.replace("", by): `by` before every code point and at the end. */
static ppy_text spread(ppy_text text, ppy_text by) {
    char *to = ppy_arena_allocate(text.bytes + (text.length + 1) * by.bytes);
    ppy_text made = {to, text.bytes + (text.length + 1) * by.bytes, text.length + (text.length + 1) * by.length};
    for (int64_t at = 0; at < text.bytes;) {
        const int64_t before = at;
        ppy_next(text, &at);
        to = put(to, by);
        to = put(to, (ppy_text){text.data + before, at - before, 1});
    }
    put(to, by);
    return made;
}

ppy_text ppy_replace(ppy_text text, ppy_text old, ppy_text by) {
    if (old.bytes == 0) return spread(text, by);
    const int64_t times = ppy_count(text, old);
    if (times == 0) return text;
    char *to = ppy_arena_allocate(text.bytes + times * (by.bytes - old.bytes));
    const ppy_text made = {to, text.bytes + times * (by.bytes - old.bytes), text.length + times * (by.length - old.length)};
    int64_t from = 0;
    for (int64_t at; (at = search(text, old, from)) >= 0; from = at + old.bytes) {
        to = put(to, (ppy_text){text.data + from, at - from, 0});
        to = put(to, by);
    }
    put(to, (ppy_text){text.data + from, text.bytes - from, 0});
    return made;
}
