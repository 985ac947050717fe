/* The arena: chunks that are filled one after the other, and kept when they are empty again. */
#include <stdlib.h>
#include <string.h>

#include "ppy_failure.h"
#include "ppy_text.h"

#define SMALLEST ((int64_t)1 << 16)
#define ALIGNMENT ((int64_t)16)

typedef struct {
    char *data;
    int64_t size;
} chunk;

static chunk *chunks;
static int64_t chunk_count;
static ppy_mark top; /* the chunk that is being filled, and how far */

ppy_mark ppy_arena_mark(void) { return top; }

void ppy_arena_release(ppy_mark mark) { top = mark; }

/* Makes `chunks[at]` one of at least `bytes`; it is empty. */
static void make_chunk(int64_t at, int64_t bytes) {
    if (at == chunk_count) {
        chunk *more = realloc(chunks, (size_t)(at + 1) * sizeof *more);
        if (!more) ppy_raise_memory();
        chunks = more;
        chunks[chunk_count++] = (chunk){NULL, 0};
    }
    if (chunks[at].size >= bytes) return;
    free(chunks[at].data);
    chunks[at] = (chunk){NULL, 0};
    const int64_t size = bytes > SMALLEST ? bytes : SMALLEST;
    chunks[at].data = malloc((size_t)size);
    if (!chunks[at].data) ppy_raise_memory();
    chunks[at].size = size;
}

void *ppy_arena_allocate(int64_t bytes) {
    if (bytes < 0 || bytes > INT64_MAX / 2) ppy_raise_memory();
    const int64_t taken = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (chunk_count == 0) make_chunk(0, taken);
    if (chunks[top.chunk].size - top.used < taken) {
        make_chunk(top.chunk + 1, taken);
        top = (ppy_mark){top.chunk + 1, 0};
    }
    void *made = chunks[top.chunk].data + top.used;
    top.used += taken;
    return made;
}

ppy_text ppy_arena_copy(ppy_text text) {
    char *copy = ppy_arena_allocate(text.bytes);
    if (text.bytes) memcpy(copy, text.data, (size_t)text.bytes);
    return (ppy_text){copy, text.bytes, text.length};
}

/* The chunk that holds these bytes; -1 where none does. */
static int64_t chunk_of(const char *data) {
    const uintptr_t wanted = (uintptr_t)data;
    for (int64_t at = 0; at < chunk_count; at++) {
        const uintptr_t first = (uintptr_t)chunks[at].data;
        if (wanted >= first && wanted - first < (uintptr_t)chunks[at].size) return at;
    }
    return -1;
}

ppy_text ppy_arena_return(ppy_mark mark, ppy_text result) {
    const int64_t in = result.bytes ? chunk_of(result.data) : -1;
    const bool older = in >= 0 && (in < mark.chunk || (in == mark.chunk && result.data - chunks[in].data < mark.used));
    ppy_arena_release(mark);
    if (older || result.bytes == 0) return result;
    if (in > mark.chunk && chunks[mark.chunk].size - mark.used < result.bytes) {
        /* It stays in its chunk, which becomes the next: no other is filled over it. */
        const chunk its = chunks[in];
        chunks[in] = chunks[mark.chunk + 1];
        chunks[mark.chunk + 1] = its;
    }
    char *copy = ppy_arena_allocate(result.bytes);
    memmove(copy, result.data, (size_t)result.bytes);
    return (ppy_text){copy, result.bytes, result.length};
}
