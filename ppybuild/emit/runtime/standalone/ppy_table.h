/* What a dict or a set has beside its items. */
#ifndef PPY_TABLE_H
#define PPY_TABLE_H

#include <stdint.h>

enum { PPY_FREE, PPY_LIVE, PPY_GONE };

typedef struct ppy_table {
    int64_t used;     /* items that are in it */
    int64_t fill;     /* with those that have gone: places that are taken */
    int64_t mask;     /* the places of a hash, less one */
    int64_t finger;   /* of a set: where `pop` looks next */
    int64_t *hashes;  /* by item */
    uint8_t *states;  /* by item: free, live, gone */
    int64_t *places;  /* of a dict: the item of each place of a hash, or -1; gone ones stay */
} ppy_table;

/* About what a place takes, with its item's hash and state. */
#define PPY_PLACE_BYTES 20

void ppy_table_free(ppy_table *table);
/* Of memory beside items: it counts for when unreached lists are freed. */
void ppy_count_bytes(int64_t bytes);

#endif
