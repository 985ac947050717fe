/* Whether the names that native code was made from still stand for what they stood for.
 *
 * A kernel calls other kernels and holds the values of constants, where Python looks names up
 * each time. What is found when the names are looked up is kept with everything that was read
 * on the way; as long as none of it has changed, neither has the outcome. */
#include "ppy_boundary.h"

#include <math.h>
#include <string.h>

uint64_t ppy_changes = 1;

/* What was read */

typedef struct {
    PyObject *dict, *name; /* owned */
    PyObject *value;       /* owned; NULL where there was none */
} lookup;

typedef struct {
    PyObject *owner;       /* owned */
    PyObject **field;      /* inside the owner */
    PyObject *value;       /* owned or NULL */
} field_read;

struct ppy_seen {
    uint64_t changes; /* `ppy_changes` at the time */
    bool holds;
    Py_ssize_t tag_count, field_count, lookup_count;
    struct ppy_tag {
        PyDictObject *dict; /* a lookup owns it */
        uint64_t tag;
    } *tags;
    field_read *fields;
    lookup *lookups;
};

/* Room for one more item of an array that has room for the next power of two. */
static void *grow(void *items, Py_ssize_t count, size_t size)
{
    if ((count & (count - 1)) != 0)
        return items;
    return PyMem_Realloc(items, (count == 0 ? 1 : 2 * (size_t)count) * size);
}

#define APPEND(items, count, ...)                                                          \
    do {                                                                                   \
        void *grown = grow(items, count, sizeof *(items));                                 \
        if (grown == NULL)                                                                 \
            return false;                                                                  \
        (items) = grown;                                                                   \
        (items)[(count)++] = __VA_ARGS__;                                                  \
    } while (0)

/* 3.11 numbers every state of every dictionary. Later versions have no such number that may
 * be read; there the names are looked up for each call. */
#if PY_VERSION_HEX < 0x030C0000
static bool note_tag(ppy_seen *seen, PyObject *dict)
{
    for (Py_ssize_t i = 0; i < seen->tag_count; i++)
        if (seen->tags[i].dict == (PyDictObject *)dict)
            return true;
    APPEND(seen->tags, seen->tag_count,
           (struct ppy_tag){(PyDictObject *)dict, ((PyDictObject *)dict)->ma_version_tag});
    return true;
}

static inline bool same_tags(const ppy_seen *seen)
{
    for (Py_ssize_t i = 0; i < seen->tag_count; i++)
        if (seen->tags[i].dict->ma_version_tag != seen->tags[i].tag)
            return false;
    return true;
}

static void renew_tags(ppy_seen *seen)
{
    for (Py_ssize_t i = 0; i < seen->tag_count; i++)
        seen->tags[i].tag = seen->tags[i].dict->ma_version_tag;
}
#else
static bool note_tag(ppy_seen *seen, PyObject *dict)
{
    (void)seen, (void)dict;
    return true;
}

static inline bool same_tags(const ppy_seen *seen)
{
    return seen->lookup_count == 0;
}

static void renew_tags(ppy_seen *seen)
{
    (void)seen;
}
#endif

static bool note_lookup(ppy_seen *seen, PyObject *dict, PyObject *name, PyObject *value)
{
    APPEND(seen->lookups, seen->lookup_count, (lookup){dict, name, value});
    Py_INCREF(dict);
    Py_INCREF(name);
    Py_XINCREF(value);
    return true;
}

static bool note_field(ppy_seen *seen, PyObject *owner, PyObject **field)
{
    APPEND(seen->fields, seen->field_count, (field_read){owner, field, *field});
    Py_INCREF(owner);
    Py_XINCREF(*field);
    return true;
}

static void forget(ppy_seen *seen)
{
    for (Py_ssize_t i = 0; i < seen->lookup_count; i++) {
        Py_DECREF(seen->lookups[i].dict);
        Py_DECREF(seen->lookups[i].name);
        Py_XDECREF(seen->lookups[i].value);
    }
    for (Py_ssize_t i = 0; i < seen->field_count; i++) {
        Py_DECREF(seen->fields[i].owner);
        Py_XDECREF(seen->fields[i].value);
    }
    PyMem_Free(seen->tags);
    PyMem_Free(seen->fields);
    PyMem_Free(seen->lookups);
    PyMem_Free(seen);
}

static inline bool same_fields(const ppy_seen *seen)
{
    for (Py_ssize_t i = 0; i < seen->field_count; i++)
        if (*seen->fields[i].field != seen->fields[i].value)
            return false;
    return true;
}

/* Looking names up */

/* The value under a name, as a borrowed reference that `seen` holds, or NULL. */
static PyObject *look_up(ppy_seen *seen, PyObject *dict, PyObject *name)
{
    if (dict == NULL || !PyDict_CheckExact(dict) || !note_tag(seen, dict))
        return NULL;
    PyObject *value = PyDict_GetItemWithError(dict, name);
    return note_lookup(seen, dict, name, value) ? value : NULL;
}

/* Of this extension or another of the same bundle. */
static bool is_native(PyObject *object)
{
    const PyTypeObject *type = Py_TYPE(object);
    const bool fixed = type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE; /* no `class` statement's */
    return fixed && strcmp(type->tp_name, PPY_TYPE_NAME) == 0;
}

/* The Python function that an object is or stands for, or NULL. */
static PyFunctionObject *function_of(PyObject *object)
{
    if (is_native(object))
        object = ((ppy_native *)object)->python;
    return PyFunction_Check(object) ? (PyFunctionObject *)object : NULL;
}

/* What a function finds under a name that is not its own variable's. */
static PyObject *find_name(ppy_seen *seen, PyFunctionObject *function, PyObject *name)
{
    if (function->func_closure != NULL) {
        PyObject *names = PyCode_GetFreevars((PyCodeObject *)function->func_code);
        for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names); i++) {
            if (PyUnicode_Compare(PyTuple_GET_ITEM(names, i), name) != 0)
                continue;
            PyCellObject *cell = (PyCellObject *)PyTuple_GET_ITEM(function->func_closure, i);
            Py_DECREF(names);
            return note_field(seen, (PyObject *)cell, &cell->ob_ref) ? cell->ob_ref : NULL;
        }
        Py_XDECREF(names);
    }
    PyObject *found = look_up(seen, function->func_globals, name);
    return found != NULL ? found : look_up(seen, function->func_builtins, name);
}

/* The attribute of a module, or of a class's own. */
static PyObject *find_attribute(ppy_seen *seen, PyObject *owner, PyObject *name)
{
    if (PyModule_CheckExact(owner))
        return look_up(seen, PyModule_GetDict(owner), name);
    if (PyType_Check(owner) && Py_TYPE(owner)->tp_getattro == PyType_Type.tp_getattro)
        return look_up(seen, ((PyTypeObject *)owner)->tp_dict, name);
    return NULL;
}

/* The module of that name; the program's first module runs under another. */
static PyObject *find_module(ppy_seen *seen, PyObject *name)
{
    PyObject *modules = PyImport_GetModuleDict();
    PyObject *found = look_up(seen, modules, name);
    if (found != NULL)
        return found;
    PyObject *main = PyUnicode_InternFromString("__main__");
    found = main != NULL ? look_up(seen, modules, main) : NULL;
    Py_XDECREF(main);
    return found;
}

/* What a path leads to from a function, as a borrowed reference that `seen` holds, or NULL. */
static PyObject *follow(ppy_seen *seen, PyFunctionObject *function, const char *path)
{
    PyObject *found = NULL;
    char before = ':';
    if (*path == '@') {
        const char *end = strchr(path, ':');
        PyObject *name = PyUnicode_FromStringAndSize(path + 1, end - path - 1);
        if (name == NULL)
            return NULL;
        found = find_module(seen, name);
        Py_DECREF(name);
        if (found == NULL)
            return NULL;
        path = end + 1;
        before = '.';
    }
    for (;;) {
        const size_t length = strcspn(path, ".:");
        PyObject *name = PyUnicode_FromStringAndSize(path, (Py_ssize_t)length);
        if (name == NULL)
            return NULL;
        PyUnicode_InternInPlace(&name);
        found = before == ':' ? find_name(seen, function, name)
                              : find_attribute(seen, found, name);
        Py_DECREF(name);
        before = path[length];
        if (found == NULL || before == '\0')
            return found;
        path += length + 1;
        if (before == ':') {
            function = function_of(found);
            if (function == NULL)
                return NULL;
        }
    }
}

/* Judging what was found */

static bool is_library(PyObject *object, const char *name)
{
    const char *dot = strrchr(name, '.');
    if (PyType_Check(object)) {
        PyTypeObject *type = (PyTypeObject *)object;
        if (type->tp_flags & Py_TPFLAGS_HEAPTYPE) /* of an extension: `array.array` */
            return (type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE) && strcmp(type->tp_name, name) == 0;
        return strcmp(type->tp_name, dot + 1) == 0;
    }
    if (!PyCFunction_CheckExact(object))
        return false;
    PyCFunctionObject *function = (PyCFunctionObject *)object;
    const char *module = NULL;
    if (function->m_module != NULL && PyUnicode_Check(function->m_module))
        module = PyUnicode_AsUTF8(function->m_module);
    if (module == NULL)
        return false;
    const size_t length = (size_t)(dot - name);
    return strcmp(function->m_ml->ml_name, dot + 1) == 0 && strlen(module) == length
           && strncmp(module, name, length) == 0;
}

/* Whether one name ends with another, whatever underscores either has. */
static bool ends_alike(const char *whole, const char *end)
{
    const char *a = whole + strlen(whole), *b = end + strlen(end);
    for (;;) {
        while (a > whole && a[-1] == '_')
            a--;
        while (b > end && b[-1] == '_')
            b--;
        if (b == end)
            return true;
        if (a == whole || *--a != *--b)
            return false;
    }
}

/* Torch's function of this name: built in, or defined in a file of torch. Built in, some have
 * their module's name before their own; some that choose between two are made by a helper. */
static bool is_torch(ppy_seen *seen, PyObject *object, const char *name)
{
    const char *simple = strrchr(name, '.') + 1;
    if (PyCFunction_CheckExact(object))
        return ends_alike(((PyCFunctionObject *)object)->m_ml->ml_name, simple);
    if (!PyFunction_Check(object))
        return false;
    PyFunctionObject *function = (PyFunctionObject *)object;
    if (!note_field(seen, object, &function->func_code))
        return false;
    PyCodeObject *code = (PyCodeObject *)function->func_code;
    const char *file = PyUnicode_AsUTF8(code->co_filename);
    const char *qualified = file == NULL ? NULL : PyUnicode_AsUTF8(code->co_qualname);
    return qualified != NULL && strstr(file, "/torch/") != NULL
           && (ends_alike(qualified, simple) || strstr(qualified, "<locals>") != NULL);
}

static bool is_int(PyObject *object, int64_t value)
{
    if (!PyLong_CheckExact(object))
        return false;
    int overflow;
    return PyLong_AsLongLongAndOverflow(object, &overflow) == value && overflow == 0;
}

/* Zeros by their sign; one NaN is as good as another. */
static bool is_float(PyObject *object, int64_t bits)
{
    if (!PyFloat_CheckExact(object))
        return false;
    double expected;
    memcpy(&expected, &bits, sizeof expected);
    const double value = PyFloat_AS_DOUBLE(object);
    return memcmp(&value, &expected, sizeof value) == 0 || (isnan(value) && isnan(expected));
}

/* Whether calls that leave arguments out still find what was there when it was bound. */
static bool same_defaults(ppy_seen *seen, ppy_native *native)
{
    PyObject *now = PyFunction_GET_KW_DEFAULTS(native->python);
    if (PyFunction_GET_DEFAULTS(native->python) != native->defaults)
        return false;
    if (native->keyword_defaults == NULL || now == NULL)
        return native->keyword_defaults == now;
    PyObject *name, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(native->keyword_defaults, &at, &name, &value))
        if (look_up(seen, now, name) != value)
            return false;
    return PyDict_GET_SIZE(now) == PyDict_GET_SIZE(native->keyword_defaults);
}

/* Whether an object is the native function of this name in the extension of `self`. */
static bool is_entry(ppy_seen *seen, ppy_native *self, PyObject *object, const char *name)
{
    if (Py_TYPE(object) != Py_TYPE(self))
        return false;
    ppy_native *native = (ppy_native *)object;
    PyFunctionObject *function = (PyFunctionObject *)native->python;
    if (native->exposed
        && !(note_field(seen, native->python, &function->func_code)
             && note_field(seen, native->python, &function->func_defaults)
             && note_field(seen, native->python, &function->func_kwdefaults)))
        return false;
    return strcmp(native->entry->name, name) == 0 && function->func_code == native->code
           && same_defaults(seen, native);
}

/* Whether it is, or stands for, the function at a place in the sources: `name` is
 * "app/model.py:Net.forward", and `line` that of its first decorator or its `def`. */
static bool is_function(ppy_seen *seen, PyObject *object, const char *name, int64_t line)
{
    PyFunctionObject *function = function_of(object);
    if (function == NULL || !note_field(seen, (PyObject *)function, &function->func_code))
        return false;
    PyCodeObject *code = (PyCodeObject *)function->func_code;
    const char *file = PyUnicode_AsUTF8(code->co_filename);
    const char *qualified = file == NULL ? NULL : PyUnicode_AsUTF8(code->co_qualname);
    if (qualified == NULL)
        return false;
    const char *colon = strrchr(name, ':');
    const size_t length = (size_t)(colon - name), whole = strlen(file);
    if (code->co_firstlineno != line || strcmp(qualified, colon + 1) != 0 || whole < length)
        return false;
    const char *tail = file + (whole - length);
    return strncmp(tail, name, length) == 0 && (tail == file || tail[-1] == '/');
}

static bool is_relied(ppy_seen *seen, ppy_native *self, const ppy_relied *relied,
                      PyObject *found)
{
    switch (relied->kind) {
    case PPY_NATIVE:
        return is_entry(seen, self, found, relied->name);
    case PPY_FUNCTION:
        return is_function(seen, found, relied->name, relied->value);
    case PPY_TORCH:
        return is_torch(seen, found, relied->name);
    case PPY_LIBRARY:
        return is_library(found, relied->name);
    case PPY_INT:
        return is_int(found, relied->value);
    case PPY_FLOAT:
        return is_float(found, relied->value);
    case PPY_TEXT:
        return PyUnicode_CheckExact(found) && PyUnicode_CompareWithASCIIString(found, relied->name) == 0;
    default:
        return found == (relied->value ? Py_True : Py_False);
    }
}

/* All that one function relies on; adds the native functions among it to the list. */
static bool check_one(ppy_seen *seen, ppy_native *self, ppy_native ***list, Py_ssize_t *count)
{
    for (const ppy_relied *relied = self->entry->relies; relied->path != NULL; relied++) {
        PyObject *found = follow(seen, (PyFunctionObject *)self->python, relied->path);
        if (found == NULL || !is_relied(seen, self, relied, found))
            return false;
        if (relied->kind != PPY_NATIVE || ((ppy_native *)found)->entry->relies == NULL)
            continue;
        bool known = false;
        for (Py_ssize_t i = 0; i < *count && !known; i++)
            known = (*list)[i] == (ppy_native *)found;
        if (!known)
            APPEND(*list, *count, (ppy_native *)found);
    }
    return true;
}

/* A kernel calls kernels: what they rely on counts too. */
static bool check_all(ppy_seen *seen, ppy_native *self)
{
    ppy_native **list = NULL;
    Py_ssize_t count = 0;
    bool holds = check_one(seen, self, &list, &count);
    for (Py_ssize_t i = 0; holds && i < count; i++)
        holds = check_one(seen, list[i], &list, &count);
    PyMem_Free(list);
    return holds;
}

/* Whether every name still stands for the very same object. */
static bool same_objects(ppy_seen *seen)
{
    renew_tags(seen);
    for (Py_ssize_t i = 0; i < seen->lookup_count; i++) {
        const lookup *made = &seen->lookups[i];
        if (PyDict_GetItemWithError(made->dict, made->name) != made->value)
            return false;
    }
    return true;
}

static bool look_again(ppy_native *self)
{
    ppy_seen *old = self->seen;
    if (old != NULL && old->changes == ppy_changes && same_fields(old) && same_objects(old))
        return old->holds;
    ppy_seen *seen = PyMem_Calloc(1, sizeof *seen);
    if (seen == NULL)
        return false;
    seen->changes = ppy_changes;
    const bool holds = seen->holds = check_all(seen, self);
    self->seen = seen;
    if (old != NULL)
        forget(old);
    return holds;
}

bool ppy_look_at_relied(ppy_native *self)
{
    const ppy_seen *seen = self->seen;
    if (seen != NULL && seen->changes == ppy_changes && same_tags(seen) && same_fields(seen))
        return seen->holds;
    if (self->looking) /* a key's `__eq__` or a finalizer calls the function itself */
        return false;
    self->looking = true;
    const bool holds = look_again(self);
    self->looking = false;
    if (PyErr_Occurred())
        PyErr_Clear();
    return holds;
}

int ppy_traverse_relied(ppy_native *self, visitproc visit, void *arg)
{
    const ppy_seen *seen = self->seen;
    for (Py_ssize_t i = 0; seen != NULL && i < seen->lookup_count; i++) {
        Py_VISIT(seen->lookups[i].dict);
        Py_VISIT(seen->lookups[i].value);
    }
    for (Py_ssize_t i = 0; seen != NULL && i < seen->field_count; i++) {
        Py_VISIT(seen->fields[i].owner);
        Py_VISIT(seen->fields[i].value);
    }
    return 0;
}

void ppy_forget_relied(ppy_native *self)
{
    ppy_seen *seen = self->seen;
    self->seen = NULL;
    if (seen != NULL)
        forget(seen);
}
