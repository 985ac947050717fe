/* Lists of texts: what is split, and joined. */
#include <string.h>

#include "ppy_failure.h"
#include "ppy_list.h"
#include "ppy_process.h"
#include "ppy_unicode.h"

static void add_text(ppy_list *list, ppy_text text) {
    ppy_list_append(list);
    ppy_keep(&PPY_ITEMS(ppy_text, list)[list->length - 1], text);
}

static ppy_text part(ppy_text text, int64_t from, int64_t to) { return ppy_text_of_bytes(text.data + from, to - from); }

ppy_list *ppy_text_split(ppy_text text) {
    ppy_list *made = ppy_list_new(&ppy_texts, 0);
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
    ppy_list *made = ppy_list_new(&ppy_texts, 0);
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
    ppy_list *made = ppy_list_new(&ppy_texts, ppy_argument_count);
    for (int64_t i = 0; i < ppy_argument_count; i++) ppy_keep(&PPY_ITEMS(ppy_text, made)[i], ppy_arguments[i]);
    return made;
}
