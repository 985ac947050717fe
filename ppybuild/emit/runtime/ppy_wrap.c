/* The parts of `ppy_wrap.h` that are not worth a copy in every wrapper. */
#include "ppy_wrap.h"

#include <pthread.h>
#include <stdarg.h>

const ppy_element ppy_element_f64 = {sizeof(double), "d"};
const ppy_element ppy_element_i64 = {sizeof(int64_t), "qln"};
const ppy_element ppy_element_f32 = {sizeof(float), "f"};
const ppy_element ppy_element_i32 = {sizeof(int32_t), "il"};
const ppy_element ppy_element_u8 = {sizeof(uint8_t), "B"};
const ppy_element ppy_element_i8 = {sizeof(int8_t), "b"};

static bool is_buffer(ppy_native *self, PyObject *object, const ppy_element *element) {
    PyObject *type = (PyObject *)Py_TYPE(object);
    if (type == self->array || type == (PyObject *)&PyMemoryView_Type) return true;
    return element == &ppy_element_u8 && (PyBytes_CheckExact(object) || PyByteArray_CheckExact(object));
}

/* One dimension, native byte order, the element's C type, aligned for it. */
static bool is_fitting(const Py_buffer *view, const ppy_element *element) {
    const char *format = view->format == NULL ? "B" : view->format;
    if (*format == '@') format++;
    const bool aligned = view->len == 0 || (uintptr_t)view->buf % (size_t)element->bytes == 0;
    return view->ndim == 1 && view->itemsize == element->bytes && format[0] != '\0'
        && format[1] == '\0' && strchr(element->codes, format[0]) != NULL && aligned;
}

bool ppy_hold(ppy_native *self, PyObject *object, const ppy_element *element, bool writable,
              Py_buffer *view) {
    if (!is_buffer(self, object, element)) return false;
    if (PyObject_GetBuffer(object, view, PyBUF_ND | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0)) < 0) {
        PyErr_Clear(); /* read-only, not contiguous, released */
        return false;
    }
    if (is_fitting(view, element)) return true;
    PyBuffer_Release(view);
    return false;
}

/* Whether an object is the row that follows `before` bytes after the one that is held. */
static bool is_row(PyObject *object, const Py_buffer *first, Py_ssize_t before) {
    if (!PyMemoryView_Check(object)) return false;
    if (((PyMemoryViewObject *)object)->flags & _Py_MEMORYVIEW_RELEASED) return false;
    const Py_buffer *row = PyMemoryView_GET_BUFFER(object);
    return row->ndim == 1 && row->len == first->len && row->itemsize == first->itemsize && !row->readonly
        && strcmp(row->format, first->format) == 0 && (row->len <= row->itemsize || row->strides[0] == row->itemsize)
        && (char *)row->buf == (char *)first->buf + before;
}

bool ppy_hold_grid(ppy_native *self, PyObject *object, const ppy_element *element, Py_buffer *view,
                   int64_t *rows, int64_t *cols) {
    if (!PyTuple_CheckExact(object)) return false;
    *rows = PyTuple_GET_SIZE(object);
    *cols = 0;
    if (*rows == 0) return true;
    PyObject *first = PyTuple_GET_ITEM(object, 0);
    if (!PyMemoryView_Check(first) || !ppy_hold(self, first, element, true, view)) return false;
    *cols = view->len / element->bytes;
    for (Py_ssize_t at = 1; at < *rows; at++) {
        if (is_row(PyTuple_GET_ITEM(object, at), view, at * view->len)) continue;
        PyBuffer_Release(view);
        return false;
    }
    return true;
}

/* Text: the view holds the object, whose memory does not change. */

bool ppy_take_str(PyObject *object, Py_buffer *views, int *held, ppy_str *text) {
    if (!PyUnicode_CheckExact(object)) return false;
#if PY_VERSION_HEX < 0x030C0000
    if (PyUnicode_READY(object) < 0) {
        PyErr_Clear();
        return false;
    }
#endif
    views[(*held)++] = (Py_buffer){.obj = Py_NewRef(object)};
    *text = (ppy_str){PyUnicode_DATA(object), PyUnicode_GET_LENGTH(object), PyUnicode_KIND(object)};
    return true;
}

bool ppy_take_bytes(PyObject *object, Py_buffer *views, int *held, ppy_u8 *buffer) {
    if (!PyBytes_CheckExact(object)) return false;
    views[(*held)++] = (Py_buffer){.obj = Py_NewRef(object)};
    *buffer = (ppy_u8){(uint8_t *)PyBytes_AS_STRING(object), PyBytes_GET_SIZE(object)};
    return true;
}

/* Lists: a view of bytes that hold their numbers. */

static bool float_of(PyObject *object, double *number) {
    *number = PyFloat_CheckExact(object) ? PyFloat_AS_DOUBLE(object) : 0.0;
    return PyFloat_CheckExact(object);
}

static bool int_of(PyObject *object, int64_t *number) {
    int overflow = 1;
    if (PyLong_CheckExact(object)) *number = PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow == 0;
}

static bool bool_of(PyObject *object, uint8_t *number) {
    *number = object == Py_True;
    return PyBool_Check(object);
}

#define PPY_TAKE_LIST(name, type, buffer_type, item_of) \
    bool ppy_take_list_##name(PyObject *object, Py_buffer *views, int *held, buffer_type *buffer) { \
        if (!PyList_CheckExact(object) && !PyTuple_CheckExact(object)) return false; \
        const Py_ssize_t length = PySequence_Fast_GET_SIZE(object); \
        PyObject **items = PySequence_Fast_ITEMS(object); \
        PyObject *bytes = PyBytes_FromStringAndSize(NULL, length * (Py_ssize_t)sizeof(type)); \
        bool fits = bytes != NULL; \
        type *numbers = fits ? (type *)(void *)PyBytes_AS_STRING(bytes) : NULL; \
        for (Py_ssize_t i = 0; fits && i < length; i++) fits = item_of(items[i], &numbers[i]); \
        fits = fits && PyObject_GetBuffer(bytes, &views[*held], PyBUF_SIMPLE) == 0; \
        Py_XDECREF(bytes); /* the view holds it */ \
        PyErr_Clear(); \
        if (!fits) return false; \
        ++*held; \
        *buffer = (buffer_type){numbers, length}; \
        return true; \
    }
PPY_TAKE_LIST(f64, double, ppy_f64, float_of)
PPY_TAKE_LIST(i64, int64_t, ppy_i64, int_of)
PPY_TAKE_LIST(bools, uint8_t, ppy_u8, bool_of)

ppy_stack ppy_last_stack = {UINT64_MAX, UINTPTR_MAX};

/* The lowest address that kernels may reach on the calling thread's stack. */
static uintptr_t find_stack(void) {
    const size_t kept = 16 * 1024; /* for signal handlers, and what kernels call */
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t bytes = 0, guard = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &lowest, &bytes);
        pthread_attr_getguardsize(&attributes, &guard);
        pthread_attr_destroy(&attributes);
    }
    const uintptr_t guess = (uintptr_t)&attributes - 128 * 1024;
    return (lowest == NULL ? guess : (uintptr_t)lowest) + guard + kept;
}

int64_t ppy_fit_stack(const PyThreadState *thread, ppy_run *run, int64_t frames) {
    static _Thread_local uintptr_t bottom; /* the main thread's is read from a file: once */
    if (bottom == 0) bottom = find_stack();
    ppy_last_stack = (ppy_stack){thread->id, bottom + (uintptr_t)PPY_DEPTH * PPY_FRAME_BYTES};
    const uintptr_t here = (uintptr_t)run;
    const int64_t fit = here < bottom ? 0 : (int64_t)((here - bottom) / PPY_FRAME_BYTES);
    return fit < frames ? fit : frames;
}

/* Lets signal handlers run, which may raise, and other threads have their turn. */
int ppy_poll_python(ppy_run *run) {
    (void)run;
    if (PyErr_CheckSignals() < 0) return PPY_RAISED;
    Py_BEGIN_ALLOW_THREADS
    Py_END_ALLOW_THREADS
    return PPY_OK;
}

/* The built-in function that the module has under this name, as a new reference; NULL,
 * without an exception, where the module is not there or has something else. */
static PyObject *find_builtin(const char *module, const char *name) {
    PyObject *key = PyUnicode_FromString(module);
    PyObject *home = key == NULL ? NULL : PyImport_GetModule(key);
    PyObject *found = home == NULL ? NULL : PyObject_GetAttrString(home, name);
    if (found != NULL) {
        const bool is_own = PyCFunction_Check(found) && PyCFunction_GET_SELF(found) == home
            && strcmp(((PyCFunctionObject *)found)->m_ml->ml_name, name) == 0;
        if (!is_own) Py_CLEAR(found);
    }
    Py_XDECREF(home);
    Py_XDECREF(key);
    PyErr_Clear();
    return found;
}

/* A tuple of floats. */
static PyObject *make_point(const double *values, int64_t count) {
    PyObject *point = PyTuple_New((Py_ssize_t)count);
    for (int64_t at = 0; point != NULL && at < count; at++) {
        PyObject *value = PyFloat_FromDouble(values[at]);
        if (value == NULL) Py_CLEAR(point);
        else PyTuple_SET_ITEM(point, (Py_ssize_t)at, value);
    }
    return point;
}

/* The arguments of a function that is asked, as Python passes them; NULL without memory. */
static PyObject *make_arguments(int function, const double *values, int64_t count) {
    if (function == PPY_ROUND) return Py_BuildValue("(dL)", values[0], (long long)values[1]);
    if (function != PPY_DIST) return make_point(values, count);
    return Py_BuildValue("(NN)", make_point(values, count / 2), make_point(values + count / 2, count / 2));
}

/* What a method of `str` gives for a str of one character; false where it gives no bool and
 * no other character. */
static bool ask_character(int function, Py_UCS4 code, double *result) {
    switch (function) {
    case PPY_ISALPHA: return *result = Py_UNICODE_ISALPHA(code) != 0, true;
    case PPY_ISDIGIT: return *result = Py_UNICODE_ISDIGIT(code) != 0, true;
    case PPY_ISDECIMAL: return *result = Py_UNICODE_ISDECIMAL(code) != 0, true;
    case PPY_ISNUMERIC: return *result = Py_UNICODE_ISNUMERIC(code) != 0, true;
    case PPY_ISALNUM: return *result = Py_UNICODE_ISALNUM(code) != 0, true;
    case PPY_ISSPACE: return *result = Py_UNICODE_ISSPACE(code) != 0, true;
    case PPY_ISUPPER: return *result = Py_UNICODE_ISUPPER(code) != 0, true;
    case PPY_ISLOWER: return *result = Py_UNICODE_ISLOWER(code) != 0, true;
    default: break;
    }
    PyObject *text = PyUnicode_FromOrdinal((int)code);
    PyObject *other = text == NULL ? NULL : PyObject_CallMethod(text, function == PPY_LOWER ? "lower" : "upper", NULL);
    const bool is_one = other != NULL && PyUnicode_GET_LENGTH(other) == 1;
    if (is_one) *result = PyUnicode_READ_CHAR(other, 0);
    Py_XDECREF(other);
    Py_XDECREF(text);
    PyErr_Clear();
    return is_one;
}

/* The functions are looked for when they are first asked: a kernel that asks is run only
 * where Python has found them under their names. Once found they are kept for good. */
bool ppy_ask_python(int function, const double *values, int64_t count, double *result) {
    static const char *const names[PPY_ISALPHA][2] = {
        [PPY_GAMMA] = {"math", "gamma"}, [PPY_LGAMMA] = {"math", "lgamma"},
        [PPY_HYPOT] = {"math", "hypot"}, [PPY_DIST] = {"math", "dist"},
        [PPY_ROUND] = {"builtins", "round"},
    };
    static PyObject *found[PPY_ISALPHA];
    if (function >= PPY_ISALPHA) return ask_character(function, (Py_UCS4)values[0], result);
    if (found[function] == NULL) found[function] = find_builtin(names[function][0], names[function][1]);
    if (found[function] == NULL) return false;
    PyObject *arguments = make_arguments(function, values, count);
    PyObject *answer = arguments == NULL ? NULL : PyObject_Call(found[function], arguments, NULL);
    const bool is_float = answer != NULL && PyFloat_CheckExact(answer);
    if (is_float) *result = PyFloat_AS_DOUBLE(answer);
    Py_XDECREF(answer);
    Py_XDECREF(arguments);
    PyErr_Clear();
    return is_float;
}

/* Ends a run that gave no results: what was written is undone where Python is to start
 * again, and stays where an exception ends the function. */
bool ppy_fail(ppy_run *run, ppy_native *self, int status) {
    ppy_release(run, status == PPY_ABANDON);
    ppy_unmake(run, NULL);
    if (status == PPY_RAISED) ppy_add_traceback(self);
    return false;
}

PyObject *ppy_pack(int length, ...) {
    PyObject *tuple = PyTuple_New(length);
    bool complete = tuple != NULL;
    va_list items;
    va_start(items, length);
    for (int i = 0; i < length; i++) {
        PyObject *item = va_arg(items, PyObject *);
        complete = complete && item != NULL;
        if (tuple != NULL) PyTuple_SET_ITEM(tuple, i, item);
        else Py_XDECREF(item);
    }
    va_end(items);
    if (!complete) Py_CLEAR(tuple);
    return tuple;
}

/* Arrays and lists. */

static PyObject *make_array(const char *typecode, void *data, int64_t length, size_t size) {
    static PyObject *type; /* `array.array`, kept */
    if (type == NULL) {
        PyObject *module = PyImport_ImportModule("array");
        type = module == NULL ? NULL : PyObject_GetAttrString(module, "array");
        Py_XDECREF(module);
        if (type == NULL) return NULL;
    }
    PyObject *bytes = PyMemoryView_FromMemory((char *)data, (Py_ssize_t)((size_t)length * size), PyBUF_READ);
    PyObject *array = bytes == NULL ? NULL : PyObject_CallFunction(type, "s", typecode);
    PyObject *done = array == NULL ? NULL : PyObject_CallMethod(array, "frombytes", "O", bytes);
    if (done == NULL) Py_CLEAR(array);
    Py_XDECREF(done);
    Py_XDECREF(bytes);
    return array;
}

#define PPY_ARRAY(name, typecode) \
    PyObject *ppy_array_##name(ppy_##name buffer) { \
        return make_array(typecode, buffer.data, buffer.length, sizeof *buffer.data); \
    }
PPY_ARRAY(f64, "d")
PPY_ARRAY(i64, "q")
PPY_ARRAY(f32, "f")
PPY_ARRAY(i32, "i")
PPY_ARRAY(u8, "B")
PPY_ARRAY(i8, "b")

/* `[x] * n` is one object n times: a number that is the last one again is its object again. */
#define PPY_LIST(name, type, item) \
    PyObject *ppy_list_##name(type buffer) { \
        PyObject *list = PyList_New((Py_ssize_t)buffer.length); \
        for (int64_t i = 0; list != NULL && i < buffer.length; i++) { \
            const bool again = i > 0 && memcmp(&buffer.data[i], &buffer.data[i - 1], sizeof *buffer.data) == 0; \
            PyObject *object = again ? Py_NewRef(PyList_GET_ITEM(list, i - 1)) : item(buffer.data[i]); \
            if (object == NULL) Py_CLEAR(list); \
            else PyList_SET_ITEM(list, (Py_ssize_t)i, object); \
        } \
        return list; \
    }
PPY_LIST(f64, ppy_f64, PyFloat_FromDouble)
PPY_LIST(i64, ppy_i64, ppy_make_int)
PPY_LIST(bools, ppy_u8, PyBool_FromLong)
