#include "ppy_layout.h"

#include <math.h>
#include <string.h>

#include "ppy_failure.h"
#include "ppy_list.h"
#include "ppy_number_text.h"

#define PLAIN(name, its_shape, type) const ppy_layout name = {.shape = its_shape, .bytes = sizeof(type), .plain = true}
PLAIN(ppy_ints, PPY_SHAPE_INT, int64_t);
PLAIN(ppy_floats, PPY_SHAPE_FLOAT, double);
PLAIN(ppy_bools, PPY_SHAPE_BOOL, bool);
PLAIN(ppy_array_f64, PPY_SHAPE_F64, double);
PLAIN(ppy_array_f32, PPY_SHAPE_F32, float);
PLAIN(ppy_array_i64, PPY_SHAPE_I64, int64_t);
PLAIN(ppy_array_i32, PPY_SHAPE_I32, int32_t);
PLAIN(ppy_array_u8, PPY_SHAPE_U8, uint8_t);
PLAIN(ppy_array_i8, PPY_SHAPE_I8, int8_t);
const ppy_layout ppy_texts = {.shape = PPY_SHAPE_TEXT, .bytes = sizeof(ppy_text)};
const ppy_layout ppy_references = {.shape = PPY_SHAPE_REFERENCE, .bytes = sizeof(ppy_list *)};

#define AT(type, item) (*(const type *)(item))

static const void *part_of(const void *item, const ppy_part *part) { return (const char *)item + part->offset; }

/* Comparing. */

bool ppy_same_number(double a, double b) {
    if (isnan(a) && isnan(b)) ppy_raise_beyond("whether a nan is itself is asked");
    return a == b;
}

bool ppy_item_equal(const ppy_layout *layout, const void *a, const void *b) {
    switch (layout->shape) {
    case PPY_SHAPE_FLOAT: case PPY_SHAPE_F64: return ppy_same_number(AT(double, a), AT(double, b));
    case PPY_SHAPE_F32: return ppy_same_number((double)AT(float, a), (double)AT(float, b));
    case PPY_SHAPE_TEXT: return ppy_equal(AT(ppy_text, a), AT(ppy_text, b));
    case PPY_SHAPE_REFERENCE: return ppy_list_equal(AT(ppy_list *, a), AT(ppy_list *, b));
    case PPY_SHAPE_TUPLE:
        for (int32_t i = 0; i < layout->count; i++) {
            const ppy_part *part = &layout->parts[i];
            if (!ppy_item_equal(part->layout, part_of(a, part), part_of(b, part))) return false;
        }
        return true;
    default: return memcmp(a, b, (size_t)layout->bytes) == 0;
    }
}

static bool less_number(double a, double b) {
    if (isnan(a) || isnan(b)) ppy_raise_beyond("a nan is put in order");
    return a < b;
}

bool ppy_item_less(const ppy_layout *layout, const void *a, const void *b) {
    switch (layout->shape) {
    case PPY_SHAPE_INT: case PPY_SHAPE_I64: return AT(int64_t, a) < AT(int64_t, b);
    case PPY_SHAPE_BOOL: return AT(bool, a) < AT(bool, b);
    case PPY_SHAPE_FLOAT: case PPY_SHAPE_F64: return less_number(AT(double, a), AT(double, b));
    case PPY_SHAPE_F32: return less_number((double)AT(float, a), (double)AT(float, b));
    case PPY_SHAPE_I32: return AT(int32_t, a) < AT(int32_t, b);
    case PPY_SHAPE_U8: return AT(uint8_t, a) < AT(uint8_t, b);
    case PPY_SHAPE_I8: return AT(int8_t, a) < AT(int8_t, b);
    case PPY_SHAPE_TEXT: return ppy_compare(AT(ppy_text, a), AT(ppy_text, b)) < 0;
    case PPY_SHAPE_REFERENCE: return ppy_list_less(AT(ppy_list *, a), AT(ppy_list *, b));
    case PPY_SHAPE_TUPLE: break;
    }
    for (int32_t i = 0; i < layout->count; i++) {
        const ppy_part *part = &layout->parts[i];
        const void *left = part_of(a, part), *right = part_of(b, part);
        if (!ppy_item_equal(part->layout, left, right)) return ppy_item_less(part->layout, left, right);
    }
    return false;
}

/* Hashes, as `pyhash.c` and `tupleobject.c` of CPython have them. */

#define MODULUS (((uint64_t)1 << 61) - 1)

static int64_t hash_int(int64_t value) {
    const uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
    const int64_t rest = (int64_t)(size % MODULUS), hash = value < 0 ? -rest : rest;
    return hash == -1 ? -2 : hash;
}

static int64_t hash_float(double value) {
    if (isnan(value)) ppy_raise_beyond("a nan is a key");
    if (isinf(value)) return value > 0 ? 314159 : -314159;
    int exponent;
    double rest = frexp(value, &exponent);
    const bool negative = rest < 0;
    if (negative) rest = -rest;
    uint64_t hash = 0;
    while (rest != 0.0) {
        hash = ((hash << 28) & MODULUS) | hash >> 33;
        rest *= 268435456.0;
        exponent -= 28;
        const uint64_t digit = (uint64_t)rest;
        rest -= (double)digit;
        hash += digit;
        if (hash >= MODULUS) hash -= MODULUS;
    }
    const int turn = exponent >= 0 ? exponent % 61 : 60 - (-1 - exponent) % 61;
    hash = ((hash << turn) & MODULUS) | hash >> (61 - turn);
    const int64_t signed_hash = negative ? -(int64_t)hash : (int64_t)hash;
    return signed_hash == -1 ? -2 : signed_hash;
}

static int64_t hash_text(ppy_text text) {
    uint64_t hash = 0x9E3779B97F4A7C15u ^ (uint64_t)text.bytes;
    for (int64_t at = 0; at < text.bytes; at += 8) {
        uint64_t word = 0;
        memcpy(&word, text.data + at, (size_t)(text.bytes - at < 8 ? text.bytes - at : 8));
        hash = (hash ^ word) * 0xFF51AFD7ED558CCDu;
        hash ^= hash >> 32;
    }
    return (int64_t)hash == -1 ? -2 : (int64_t)hash;
}

static int64_t hash_tuple(const ppy_layout *layout, const void *item) {
    uint64_t hash = 2870177450012600261u;
    for (int32_t i = 0; i < layout->count; i++) {
        const ppy_part *part = &layout->parts[i];
        hash += (uint64_t)ppy_item_hash(part->layout, part_of(item, part)) * 14029467366897019727u;
        hash = (hash << 31 | hash >> 33) * 11400714785074694791u;
    }
    hash += (uint64_t)layout->count ^ (2870177450012600261u ^ 3527539u);
    return (int64_t)hash == -1 ? 1546275796 : (int64_t)hash;
}

int64_t ppy_item_hash(const ppy_layout *layout, const void *item) {
    switch (layout->shape) {
    case PPY_SHAPE_INT: return hash_int(AT(int64_t, item));
    case PPY_SHAPE_BOOL: return AT(bool, item);
    case PPY_SHAPE_FLOAT: return hash_float(AT(double, item));
    case PPY_SHAPE_TEXT: return hash_text(AT(ppy_text, item));
    case PPY_SHAPE_TUPLE: return hash_tuple(layout, item);
    default: return 0; /* no other is a key */
    }
}

/* Showing. */

static ppy_text tuple_repr(const ppy_layout *layout, const void *item) {
    ppy_text *parts = ppy_arena_allocate((layout->count + 1) * (int64_t)sizeof *parts);
    for (int32_t i = 0; i < layout->count; i++) {
        parts[i] = ppy_item_repr(layout->parts[i].layout, part_of(item, &layout->parts[i]));
    }
    const ppy_text whole[] = {PPY_TEXT("("), ppy_join(PPY_TEXT(", "), parts, layout->count),
                              layout->count == 1 ? PPY_TEXT(",)") : PPY_TEXT(")")};
    return ppy_concat(whole, 3);
}

ppy_text ppy_item_repr(const ppy_layout *layout, const void *item) {
    switch (layout->shape) {
    case PPY_SHAPE_INT: case PPY_SHAPE_I64: return ppy_str_int(AT(int64_t, item));
    case PPY_SHAPE_FLOAT: case PPY_SHAPE_F64: return ppy_str_float(AT(double, item));
    case PPY_SHAPE_BOOL: return ppy_str_bool(AT(bool, item));
    case PPY_SHAPE_TEXT: return ppy_repr_text(AT(ppy_text, item));
    case PPY_SHAPE_REFERENCE: return ppy_list_repr(AT(ppy_list *, item));
    case PPY_SHAPE_TUPLE: return tuple_repr(layout, item);
    case PPY_SHAPE_F32: return ppy_str_float((double)AT(float, item));
    case PPY_SHAPE_I32: return ppy_str_int(AT(int32_t, item));
    case PPY_SHAPE_U8: return ppy_str_int(AT(uint8_t, item));
    case PPY_SHAPE_I8: return ppy_str_int(AT(int8_t, item));
    }
    return (ppy_text){0};
}

/* Moving. */

void ppy_item_copy(const ppy_layout *layout, void *to, const void *from) {
    if (layout->plain || layout->shape == PPY_SHAPE_REFERENCE) {
        memmove(to, from, (size_t)layout->bytes);
        return;
    }
    if (layout->shape == PPY_SHAPE_TEXT) {
        ppy_keep(to, AT(ppy_text, from));
        return;
    }
    for (int32_t i = 0; i < layout->count; i++) {
        const ppy_part *part = &layout->parts[i];
        ppy_item_copy(part->layout, (char *)to + part->offset, part_of(from, part));
    }
}

static void drop_texts(const ppy_layout *layout, void *item) {
    if (layout->shape == PPY_SHAPE_TEXT) ppy_drop(item);
    for (int32_t i = 0; i < layout->count; i++) {
        if (!layout->parts[i].layout->plain) drop_texts(layout->parts[i].layout, (char *)item + layout->parts[i].offset);
    }
}

void ppy_item_drop(const ppy_layout *layout, void *item) {
    if (!layout->plain) drop_texts(layout, item);
    memset(item, 0, (size_t)layout->bytes);
}

void ppy_item_references(const ppy_layout *layout, const void *item, void (*use)(ppy_list *)) {
    if (layout->plain) return;
    if (layout->shape == PPY_SHAPE_REFERENCE) {
        ppy_list *const list = *(ppy_list *const *)item;
        if (list) use(list);
    }
    for (int32_t i = 0; i < layout->count; i++) {
        ppy_item_references(layout->parts[i].layout, part_of(item, &layout->parts[i]), use);
    }
}
