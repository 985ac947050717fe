/* Objects of classes: their fields are the one item of a `ppy_list`. */
#ifndef PPY_CLASS_H
#define PPY_CLASS_H

#include "ppy_list.h"

typedef struct ppy_class {
    const char *name;
    const ppy_layout *fields;
    /* NULL: objects are equal to themselves alone. */
    bool (*equal)(const ppy_list *a, const ppy_list *b);
    ppy_text (*repr)(const ppy_list *object);
} ppy_class;

#define PPY_FIELDS(type, object) ((type *)(object)->data)

ppy_list *ppy_object_new(const ppy_class *class_); /* all fields are zero bytes */
bool ppy_object_equal(const ppy_list *a, const ppy_list *b);
ppy_text ppy_object_repr(const ppy_list *object);

/* What `@dataclass` writes: its fields compared, and shown by name. */
bool ppy_dataclass_equal(const ppy_list *a, const ppy_list *b);
ppy_text ppy_dataclass_repr(const ppy_list *object);

/* An attribute of None, or one that was not yet assigned. */
__attribute__((cold, noinline)) _Noreturn void ppy_why_none(const char *attribute);
__attribute__((cold, noinline)) _Noreturn void ppy_why_attribute(const char *class_, const char *attribute);

/* None, unpacked. */
__attribute__((cold, noinline)) _Noreturn void ppy_why_not_iterable(void);
/* Of `__len__` below zero. */
__attribute__((cold, noinline)) _Noreturn void ppy_why_length(void);

#endif
