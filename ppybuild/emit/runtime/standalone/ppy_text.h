/* Immutable strings: UTF-8 that counts in code points.
 *
 * A text borrows its bytes. They are in one of three places:
 *   - a literal of the program, for ever;
 *   - the *arena*, for what a statement makes on its way: give it back with
 *     `ppy_arena_mark` before a statement and `ppy_arena_release` after it;
 *   - a *slot*, for what a variable, a list item or an attribute holds: `ppy_keep` copies.
 *
 *     const ppy_mark mark = ppy_arena_mark();
 *     const ppy_text parts[] = {PPY_TEXT("row "), ppy_str_int(i)};
 *     ppy_keep(&name, ppy_concat(parts, 2));        // name = f"row {i}"
 *     ppy_arena_release(mark);
 *
 * A text that is borrowed from a slot is gone when the slot changes: where a call between may
 * change it, and for `a, b = b, a`, take `ppy_arena_copy` of it first.
 *
 * A lone surrogate has the three bytes that UTF-8 would give it, as in Python's
 * `surrogatepass`; so bytes are ordered as code points are. */
#ifndef PPY_TEXT_H
#define PPY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *data; /* not ended by a zero byte; may be NULL where there are no bytes */
    int64_t bytes;
    int64_t length; /* code points, as `len` counts */
} ppy_text;

/* A literal of ASCII characters. Any other is written (ppy_text){"é", 2, 1}. */
#define PPY_TEXT(literal) ((ppy_text){"" literal, (int64_t)sizeof(literal) - 1, (int64_t)sizeof(literal) - 1})

/* The arena. */

typedef struct {
    int64_t chunk, used;
} ppy_mark;

ppy_mark ppy_arena_mark(void);
/* What was made since the mark is gone. The memory is kept for what comes. */
void ppy_arena_release(ppy_mark mark);
/* The same, but for `result`, which may be anywhere: it is in the arena afterwards. What a
 * function that returns a text ends with, before it drops its slots. */
ppy_text ppy_arena_return(ppy_mark mark, ppy_text result);
ppy_text ppy_arena_copy(ppy_text text);
/* Bytes of any alignment that lists and tuples need too. Raises MemoryError. */
void *ppy_arena_allocate(int64_t bytes);

/* Slots. All zero is a slot that holds nothing yet. */

void ppy_keep(ppy_text *slot, ppy_text value);         /* slot = value */
void ppy_keep_more(ppy_text *slot, ppy_text more);     /* slot += more, in constant time a byte */
void ppy_drop(ppy_text *slot);                         /* del slot: it holds nothing */

/* Making texts; the results are in the arena or borrowed from the arguments. */

ppy_text ppy_text_of_bytes(const char *data, int64_t bytes); /* borrows valid UTF-8, counts it */
ppy_text ppy_chr(int64_t code_point);                        /* chr(i); ValueError */
int64_t ppy_ord(ppy_text text);                              /* ord(s); TypeError */
ppy_text ppy_concat(const ppy_text *parts, int64_t count);   /* a + b + c; f-strings */
ppy_text ppy_join(ppy_text separator, const ppy_text *parts, int64_t count);
ppy_text ppy_repeat(ppy_text text, int64_t times);           /* text * times; below zero is none */
ppy_text ppy_at(ppy_text text, int64_t index);               /* text[index]; IndexError */
/* text[start:stop:step]; a bound that is left out is PPY_ABSENT (INT64_MIN itself is written as
 * the number above it, which means the same). ValueError for step 0. */
#define PPY_ABSENT INT64_MIN
ppy_text ppy_slice(ppy_text text, int64_t start, int64_t stop, int64_t step);

/* Asking. */

bool ppy_equal(ppy_text a, ppy_text b);
int ppy_compare(ppy_text a, ppy_text b);                     /* below, at or above zero */
/* text.find(part), by code points; -1 where it is not. `part in text` is >= 0. */
int64_t ppy_find(ppy_text text, ppy_text part);
int64_t ppy_count(ppy_text text, ppy_text part);             /* text.count(part) */
bool ppy_starts_with(ppy_text text, ppy_text part);
bool ppy_ends_with(ppy_text text, ppy_text part);

/* text.strip(), .lstrip(), .rstrip() without an argument: Unicode's white space. */
ppy_text ppy_strip(ppy_text text);
ppy_text ppy_strip_left(ppy_text text);
ppy_text ppy_strip_right(ppy_text text);
/* text.upper(), text.lower() of ASCII; any other text ends the program, as what needs Python does. */
ppy_text ppy_upper(ppy_text text);
ppy_text ppy_lower(ppy_text text);
ppy_text ppy_replace(ppy_text text, ppy_text old, ppy_text by); /* text.replace(old, by) */

/* Going through the code points of a text:
 *     for (int64_t at = 0; at < text.bytes;) { const uint32_t c = ppy_next(text, &at); … } */
uint32_t ppy_next(ppy_text text, int64_t *at);

#endif
