#include "ppy_text_methods.h"

#include <string.h>

#include "ppy_failure.h"
#include "ppy_unicode.h"

static ppy_text part(ppy_text text, int64_t from, int64_t to) { return ppy_text_of_bytes(text.data + from, to - from); }

/* What letters are. */

static void need_ascii(ppy_text text) {
    if (text.bytes != text.length) ppy_raise_beyond("of which kind letters beyond ASCII are is asked");
}

static bool lower(char c) { return c >= 'a' && c <= 'z'; }
static bool upper(char c) { return c >= 'A' && c <= 'Z'; }
static bool alpha(char c) { return lower(c) || upper(c); }
static bool digit(char c) { return c >= '0' && c <= '9'; }
static bool alnum(char c) { return alpha(c) || digit(c); }

static bool all(ppy_text text, bool (*test)(char)) {
    need_ascii(text);
    for (int64_t i = 0; i < text.bytes; i++) {
        if (!test(text.data[i])) return false;
    }
    return text.bytes > 0;
}

bool ppy_is_alpha(ppy_text text) { return all(text, alpha); }
bool ppy_is_digit(ppy_text text) { return all(text, digit); }
bool ppy_is_alnum(ppy_text text) { return all(text, alnum); }
bool ppy_is_ascii(ppy_text text) { return text.bytes == text.length; }

bool ppy_is_white(ppy_text text) {
    for (int64_t at = 0; at < text.bytes;) {
        if (!ppy_is_space(ppy_next(text, &at))) return false;
    }
    return text.bytes > 0;
}

/* Whether there is a letter of one case, and none of the other. */
static bool only(ppy_text text, bool (*one)(char), bool (*other)(char)) {
    bool found = false;
    need_ascii(text);
    for (int64_t i = 0; i < text.bytes; i++) {
        if (other(text.data[i])) return false;
        found |= one(text.data[i]);
    }
    return found;
}

bool ppy_is_upper(ppy_text text) { return only(text, upper, lower); }
bool ppy_is_lower(ppy_text text) { return only(text, lower, upper); }

static char turned(char c) { return alpha(c) ? (char)(c ^ 32) : c; }

/* Letters big where `first` is, else small; it is so behind what is no letter, or at the start. */
static ppy_text with_big(ppy_text text, bool each_word) {
    ppy_upper(text); /* refuses what is beyond ASCII */
    char *made = ppy_arena_allocate(text.bytes);
    bool first = true;
    for (int64_t i = 0; i < text.bytes; i++) {
        const char c = text.data[i];
        made[i] = (first ? lower(c) : upper(c)) ? turned(c) : c;
        first = each_word && !alpha(c);
    }
    return (ppy_text){made, text.bytes, text.length};
}

ppy_text ppy_capitalize(ppy_text text) { return with_big(text, false); }
ppy_text ppy_title(ppy_text text) { return with_big(text, true); }

ppy_text ppy_swapcase(ppy_text text) {
    ppy_upper(text);
    char *made = ppy_arena_allocate(text.bytes);
    for (int64_t i = 0; i < text.bytes; i++) made[i] = turned(text.data[i]);
    return (ppy_text){made, text.bytes, text.length};
}

/* Ends. */

static bool holds(ppy_text set, ppy_text one) { return ppy_find(set, one) >= 0; }

ppy_text ppy_strip_left_these(ppy_text text, ppy_text set) {
    int64_t from = 0;
    for (int64_t at = 0; at < text.bytes; from = at) {
        ppy_next(text, &at);
        if (!holds(set, part(text, from, at))) break;
    }
    return part(text, from, text.bytes);
}

ppy_text ppy_strip_right_these(ppy_text text, ppy_text set) {
    int64_t to = text.bytes;
    while (to > 0) {
        int64_t at = to - 1;
        while (((unsigned char)text.data[at] & 0xC0) == 0x80) at--;
        if (!holds(set, part(text, at, to))) break;
        to = at;
    }
    return part(text, 0, to);
}

ppy_text ppy_strip_these(ppy_text text, ppy_text set) { return ppy_strip_left_these(ppy_strip_right_these(text, set), set); }

ppy_text ppy_remove_prefix(ppy_text text, ppy_text prefix) {
    return ppy_starts_with(text, prefix) ? part(text, prefix.bytes, text.bytes) : text;
}

ppy_text ppy_remove_suffix(ppy_text text, ppy_text suffix) {
    return ppy_ends_with(text, suffix) ? part(text, 0, text.bytes - suffix.bytes) : text;
}

/* Widths. */

static ppy_text padded(ppy_text text, int64_t before, int64_t after, ppy_text fill) {
    const ppy_text parts[] = {ppy_repeat(fill, before), text, ppy_repeat(fill, after)};
    return ppy_concat(parts, 3);
}

ppy_text ppy_zfill(ppy_text text, int64_t width) {
    const int64_t more = width - text.length, sign = text.bytes && (text.data[0] == '-' || text.data[0] == '+');
    if (more <= 0) return text;
    const ppy_text parts[] = {part(text, 0, sign), ppy_repeat(PPY_TEXT("0"), more), part(text, sign, text.bytes)};
    return ppy_concat(parts, 3);
}

static void need_one(ppy_text fill) {
    if (fill.length != 1) ppy_raise_ascii(PPY_TypeError, "The fill character must be exactly one character long");
}

ppy_text ppy_center(ppy_text text, int64_t width, ppy_text fill) {
    need_one(fill);
    const int64_t more = width - text.length;
    if (more <= 0) return text;
    const int64_t before = more / 2 + (more & width & 1);
    return padded(text, before, more - before, fill);
}

ppy_text ppy_left(ppy_text text, int64_t width, ppy_text fill) {
    need_one(fill);
    return width > text.length ? padded(text, 0, width - text.length, fill) : text;
}

ppy_text ppy_right(ppy_text text, int64_t width, ppy_text fill) {
    need_one(fill);
    return width > text.length ? padded(text, width - text.length, 0, fill) : text;
}

/* Looking. In bytes, from the end, or -1. */

static int64_t last_byte(ppy_text text, ppy_text wanted) {
    for (int64_t at = text.bytes - wanted.bytes; at >= 0; at--) {
        if (!wanted.bytes || memcmp(text.data + at, wanted.data, (size_t)wanted.bytes) == 0) return at;
    }
    return -1;
}

int64_t ppy_find_last(ppy_text text, ppy_text wanted) {
    const int64_t at = last_byte(text, wanted);
    return at < 0 ? -1 : part(text, 0, at).length;
}

static int64_t must_be(int64_t found) {
    if (found < 0) ppy_raise_ascii(PPY_ValueError, "substring not found");
    return found;
}

int64_t ppy_index_first(ppy_text text, ppy_text wanted) { return must_be(ppy_find(text, wanted)); }
int64_t ppy_index_last(ppy_text text, ppy_text wanted) { return must_be(ppy_find_last(text, wanted)); }

int64_t ppy_find_from(ppy_text text, ppy_text wanted, int64_t start) {
    if (start < 0) start += text.length;
    if (start < 0) start = 0;
    if (start > text.length) return -1;
    const int64_t found = ppy_find(ppy_slice(text, start, PPY_ABSENT, PPY_ABSENT), wanted);
    return found < 0 ? -1 : found + start;
}

/* Parts. */

static void add(ppy_list *list, ppy_text text) {
    ppy_list_append(list);
    ppy_keep(&PPY_ITEMS(ppy_text, list)[list->length - 1], text);
}

ppy_text ppy_replace_some(ppy_text text, ppy_text old, ppy_text by, int64_t most) {
    if (most < 0) return ppy_replace(text, old, by);
    ppy_text made = {0};
    int64_t from = 0;
    for (int64_t at = 0; most > 0 && at + old.bytes <= text.bytes;) {
        if (!old.bytes || memcmp(text.data + at, old.data, (size_t)old.bytes) == 0) {
            const ppy_text parts[] = {made, part(text, from, at), by};
            made = ppy_concat(parts, 3);
            from = at + old.bytes;
            most--;
            if (old.bytes) {
                at = from;
                continue;
            }
        }
        if (at == text.bytes) break;
        ppy_next(text, &at);
    }
    const ppy_text parts[] = {made, part(text, from, text.bytes)};
    return ppy_concat(parts, 2);
}

static void need_separator(ppy_text separator) {
    if (separator.bytes == 0) ppy_raise_ascii(PPY_ValueError, "empty separator");
}

ppy_list *ppy_text_split_most(ppy_text text, ppy_text separator, int64_t most) {
    need_separator(separator);
    ppy_list *made = ppy_list_new(&ppy_texts, 0);
    int64_t start = 0;
    for (int64_t at = 0; most != 0 && at + separator.bytes <= text.bytes; at++) {
        if (memcmp(text.data + at, separator.data, (size_t)separator.bytes) != 0) continue;
        add(made, part(text, start, at));
        start = at + separator.bytes;
        at = start - 1;
        most--;
    }
    add(made, part(text, start, text.bytes));
    return made;
}

ppy_list *ppy_text_split_last(ppy_text text, ppy_text separator, int64_t most) {
    need_separator(separator);
    ppy_list *made = ppy_list_new(&ppy_texts, 0);
    int64_t at;
    while (most != 0 && (at = last_byte(text, separator)) >= 0) {
        add(made, part(text, at + separator.bytes, text.bytes));
        text = part(text, 0, at);
        most--;
    }
    add(made, text);
    ppy_list_reverse(made);
    return made;
}

static bool ends_line(uint32_t c) {
    return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

ppy_list *ppy_text_lines(ppy_text text) {
    ppy_list *made = ppy_list_new(&ppy_texts, 0);
    int64_t start = 0;
    for (int64_t at = 0; at < text.bytes;) {
        const int64_t here = at;
        const uint32_t c = ppy_next(text, &at);
        if (!ends_line(c)) continue;
        if (c == '\r' && at < text.bytes && text.data[at] == '\n') at++;
        add(made, part(text, start, here));
        start = at;
    }
    if (start < text.bytes) add(made, part(text, start, text.bytes));
    return made;
}

static ppy_three_texts parted(ppy_text text, ppy_text separator, int64_t at) {
    return (ppy_three_texts){part(text, 0, at), separator, part(text, at + separator.bytes, text.bytes)};
}

ppy_three_texts ppy_partition(ppy_text text, ppy_text separator) {
    need_separator(separator);
    for (int64_t at = 0; at + separator.bytes <= text.bytes; at++) {
        if (memcmp(text.data + at, separator.data, (size_t)separator.bytes) == 0) return parted(text, separator, at);
    }
    return (ppy_three_texts){text, {0}, {0}};
}

ppy_three_texts ppy_partition_last(ppy_text text, ppy_text separator) {
    need_separator(separator);
    const int64_t at = last_byte(text, separator);
    return at < 0 ? (ppy_three_texts){{0}, {0}, text} : parted(text, separator, at);
}
