#include "ppy_class.h"

#include <string.h>

#include "ppy_failure.h"

static ppy_text named(const char *name) { return ppy_text_of_bytes(name, (int64_t)strlen(name)); }

ppy_list *ppy_object_new(const ppy_class *class_) {
    ppy_list *made = ppy_list_make(PPY_OBJECT, class_->fields, 1);
    made->class_ = class_;
    return made;
}

bool ppy_object_equal(const ppy_list *a, const ppy_list *b) {
    return a == b || (a && b && a->class_ == b->class_ && a->class_->equal && a->class_->equal(a, b));
}

ppy_text ppy_object_repr(const ppy_list *object) {
    if (!object) return PPY_TEXT("None");
    return object->class_->repr(object);
}

/* A level of what calls itself for fields: Python's takes three of the recursion limit. */
static void enter(ppy_frame *frame, const char *function) {
    *frame = (ppy_frame){.file = "<string>", .function = function, .line = 1};
    ppy_frame_enter(frame);
    frame->depth += 2;
}

bool ppy_dataclass_equal(const ppy_list *a, const ppy_list *b) {
    ppy_frame frame;
    enter(&frame, "__eq__");
    const bool equal = ppy_item_equal(a->layout, a->data, b->data);
    ppy_frame_leave(&frame);
    return equal;
}

ppy_text ppy_dataclass_repr(const ppy_list *object) {
    const ppy_layout *fields = object->layout;
    for (const ppy_showing *at = ppy_shown_now; at; at = at->outer) {
        if (at->object == object) return PPY_TEXT("...");
    }
    const ppy_showing now = {object, ppy_shown_now};
    ppy_frame frame;
    enter(&frame, "__repr__");
    ppy_shown_now = &now;
    ppy_text *parts = ppy_arena_allocate((fields->count + 1) * (int64_t)sizeof *parts);
    for (int32_t i = 0; i < fields->count; i++) {
        const ppy_part *part = &fields->parts[i];
        const ppy_text shown = ppy_item_repr(part->layout, (const char *)object->data + part->offset);
        const ppy_text said[] = {named(part->name), PPY_TEXT("="), shown};
        parts[i] = ppy_concat(said, 3);
    }
    ppy_shown_now = now.outer;
    ppy_frame_leave(&frame);
    const ppy_text whole[] = {named(object->class_->name), PPY_TEXT("("), ppy_join(PPY_TEXT(", "), parts, fields->count),
                              PPY_TEXT(")")};
    return ppy_concat(whole, 4);
}

void ppy_why_none(const char *attribute) {
    const ppy_text parts[] = {PPY_TEXT("'NoneType' object has no attribute '"), named(attribute), PPY_TEXT("'")};
    ppy_raise(PPY_AttributeError, ppy_concat(parts, 3));
}

void ppy_why_attribute(const char *class_, const char *attribute) {
    const ppy_text parts[] = {PPY_TEXT("'"), named(class_), PPY_TEXT("' object has no attribute '"), named(attribute), PPY_TEXT("'")};
    ppy_raise(PPY_AttributeError, ppy_concat(parts, 5));
}

void ppy_why_length(void) { ppy_raise_ascii(PPY_ValueError, "__len__() should return >= 0"); }

void ppy_why_not_iterable(void) { ppy_raise_ascii(PPY_TypeError, "cannot unpack non-iterable NoneType object"); }
