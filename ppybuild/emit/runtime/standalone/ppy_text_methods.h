/* Methods of str that programs about texts use.
 *
 * Of which kind a letter is, and its case, is known of ASCII alone: with any other the program
 * ends, as what needs Python does. */
#ifndef PPY_TEXT_METHODS_H
#define PPY_TEXT_METHODS_H

#include "ppy_list.h"
#include "ppy_text.h"

bool ppy_is_alpha(ppy_text text);
bool ppy_is_digit(ppy_text text);
bool ppy_is_alnum(ppy_text text);
bool ppy_is_white(ppy_text text); /* text.isspace(), of any text */
bool ppy_is_upper(ppy_text text);
bool ppy_is_lower(ppy_text text);
bool ppy_is_ascii(ppy_text text);

ppy_text ppy_capitalize(ppy_text text);
ppy_text ppy_title(ppy_text text);
ppy_text ppy_swapcase(ppy_text text);

/* Without the code points of `set` at the ends. */
ppy_text ppy_strip_these(ppy_text text, ppy_text set);
ppy_text ppy_strip_left_these(ppy_text text, ppy_text set);
ppy_text ppy_strip_right_these(ppy_text text, ppy_text set);
ppy_text ppy_remove_prefix(ppy_text text, ppy_text prefix);
ppy_text ppy_remove_suffix(ppy_text text, ppy_text suffix);

ppy_text ppy_zfill(ppy_text text, int64_t width);
ppy_text ppy_center(ppy_text text, int64_t width, ppy_text fill); /* TypeError, as the next two */
ppy_text ppy_left(ppy_text text, int64_t width, ppy_text fill);   /* ljust */
ppy_text ppy_right(ppy_text text, int64_t width, ppy_text fill);  /* rjust */

int64_t ppy_find_last(ppy_text text, ppy_text part);   /* rfind */
int64_t ppy_index_first(ppy_text text, ppy_text part); /* index; ValueError */
int64_t ppy_index_last(ppy_text text, ppy_text part);  /* rindex; ValueError */
int64_t ppy_find_from(ppy_text text, ppy_text part, int64_t start);

ppy_text ppy_replace_some(ppy_text text, ppy_text old, ppy_text by, int64_t most);

/* Lists of texts. At most so many times; below zero, every time. */
ppy_list *ppy_text_split_most(ppy_text text, ppy_text separator, int64_t most);
ppy_list *ppy_text_split_last(ppy_text text, ppy_text separator, int64_t most); /* rsplit */
ppy_list *ppy_text_lines(ppy_text text);                                        /* splitlines */

/* What is before, the separator, and what is behind: of the first, or the last, there is. */
typedef struct {
    ppy_text p0, p1, p2;
} ppy_three_texts;
ppy_three_texts ppy_partition(ppy_text text, ppy_text separator);
ppy_three_texts ppy_partition_last(ppy_text text, ppy_text separator);

#endif
