/* What wrappers of loop kernels are made of: arguments taken from Python objects, the run
 * around a kernel, results made into Python objects.
 *
 * `ppy_take_X(...)` returns false, and sets no exception, where the object is not exactly of
 * the type that the kernel was compiled for; the Python function is then called. */
#ifndef PPY_WRAP_H
#define PPY_WRAP_H

#include "ppy_boundary.h"
#include "ppy_kernel.h"

#pragma GCC visibility push(hidden)

/* Scalars. A subclass may mean something else by every operation, and `True` is not 1. */

static inline bool ppy_take_int(PyObject *object, int64_t *value) {
    if (!PyLong_CheckExact(object)) return false;
#if PY_VERSION_HEX >= 0x030C0000
    if (PPY_LIKELY(PyUnstable_Long_IsCompact((PyLongObject *)object))) {
        *value = PyUnstable_Long_CompactValue((PyLongObject *)object);
        return true;
    }
#else
    const Py_ssize_t digits = Py_SIZE(object); /* negative for a negative number */
    if (PPY_LIKELY(digits >= -1 && digits <= 1)) {
        *value = digits == 0 ? 0 : digits * (int64_t)((PyLongObject *)object)->ob_digit[0];
        return true;
    }
#endif
    int overflow;
    *value = PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow == 0;
}

static inline bool ppy_take_float(PyObject *object, double *value) {
    if (!PyFloat_CheckExact(object)) return false;
    *value = PyFloat_AS_DOUBLE(object);
    return true;
}

static inline bool ppy_take_bool(PyObject *object, bool *value) {
    *value = object == Py_True;
    return *value || object == Py_False;
}

static inline bool ppy_take_tuple(PyObject *object, Py_ssize_t length) {
    return PyTuple_CheckExact(object) && PyTuple_GET_SIZE(object) == length;
}

/* Buffers: `array.array` and `memoryview`, and bytes for u8. What is held is held until
 * `ppy_drop`: it cannot be resized meanwhile. */

typedef struct {
    Py_ssize_t bytes;  /* of an element */
    char codes[4];     /* the format characters whose C type it is, where the size agrees */
} ppy_element;

extern const ppy_element ppy_element_f64, ppy_element_i64, ppy_element_f32, ppy_element_i32,
    ppy_element_u8, ppy_element_i8;

bool ppy_hold(ppy_native *self, PyObject *object, const ppy_element *element, bool writable,
              Py_buffer *view);

#define PPY_TAKE(name, type) \
    static inline bool ppy_take_##name(ppy_native *self, PyObject *object, bool writable, \
                                       Py_buffer *views, int *held, ppy_##name *buffer) { \
        Py_buffer *view = &views[*held]; \
        if (!ppy_hold(self, object, &ppy_element_##name, writable, view)) return false; \
        ++*held; \
        void *data = view->len > 0 ? view->buf : view; /* of an empty one it may be any byte */ \
        *buffer = (ppy_##name){(type *)data, view->len / (Py_ssize_t)sizeof(type)}; \
        return true; \
    }
PPY_TAKE(f64, double)
PPY_TAKE(i64, int64_t)
PPY_TAKE(f32, float)
PPY_TAKE(i32, int32_t)
PPY_TAKE(u8, uint8_t)
PPY_TAKE(i8, int8_t)

/* Grids: tuples of memoryviews that lie side by side in one memory and are equally long, as
 * `ppy.grid` makes them. Holding one row holds the memory. */

bool ppy_hold_grid(ppy_native *self, PyObject *object, const ppy_element *element, Py_buffer *view,
                   int64_t *rows, int64_t *cols);

#define PPY_TAKE_GRID(name, type) \
    static inline bool ppy_take_grid_##name(ppy_native *self, PyObject *object, Py_buffer *views, \
                                            int *held, ppy_##name *buffer, int64_t *rows, int64_t *cols) { \
        Py_buffer *view = &views[*held]; \
        if (!ppy_hold_grid(self, object, &ppy_element_##name, view, rows, cols)) return false; \
        if (*rows > 0) ++*held; \
        void *data = *rows > 0 && *cols > 0 ? view->buf : view; \
        *buffer = (ppy_##name){(type *)data, *rows * *cols}; \
        return true; \
    }
PPY_TAKE_GRID(f64, double)
PPY_TAKE_GRID(i64, int64_t)
PPY_TAKE_GRID(f32, float)
PPY_TAKE_GRID(i32, int32_t)
PPY_TAKE_GRID(u8, uint8_t)
PPY_TAKE_GRID(i8, int8_t)

/* The numbers of a list or tuple, copied; false where one is of another type. */
bool ppy_take_str(PyObject *object, Py_buffer *views, int *held, ppy_str *text);
bool ppy_take_bytes(PyObject *object, Py_buffer *views, int *held, ppy_u8 *buffer);

bool ppy_take_list_f64(PyObject *object, Py_buffer *views, int *held, ppy_f64 *buffer);
bool ppy_take_list_i64(PyObject *object, Py_buffer *views, int *held, ppy_i64 *buffer);
bool ppy_take_list_bools(PyObject *object, Py_buffer *views, int *held, ppy_u8 *buffer);

static inline void ppy_drop(Py_buffer *views, int held) {
    while (held > 0) PyBuffer_Release(&views[--held]);
}

/* The run. */

int ppy_poll_python(ppy_run *run);
bool ppy_ask_python(int function, const double *values, int64_t count, double *result);
bool ppy_fail(ppy_run *run, ppy_native *self, int status);

static inline int64_t ppy_frames_left(const PyThreadState *thread) {
#if PY_VERSION_HEX >= 0x030C0000
    return thread->py_recursion_remaining;
#else
    return thread->recursion_remaining;
#endif
}

/* The thread that called last, by its id (an address may be another thread's later), and the
 * address above which its stack holds PPY_DEPTH kernels. Guarded by the GIL; thread-local
 * variables would cost a call each, or some of the little memory that the loader keeps. */
typedef struct {
    uint64_t thread;
    uintptr_t line;
} ppy_stack;
extern ppy_stack ppy_last_stack;

/* Stack that is reckoned for one kernel's frame: several times what is seen. */
#define PPY_FRAME_BYTES 2048

/* `frames`, or as many as fit on the thread's stack below `run`; Python's own are not on it. */
int64_t ppy_fit_stack(const PyThreadState *thread, ppy_run *run, int64_t frames);

/* Begins a run; false where Python would refuse the function's own frame. */
static inline bool ppy_enter(ppy_run *run) {
    const PyThreadState *thread = PyThreadState_Get();
    int64_t left = ppy_frames_left(thread);
    if (PPY_UNLIKELY(thread->id != ppy_last_stack.thread || (uintptr_t)run < ppy_last_stack.line))
        left = ppy_fit_stack(thread, run, left);
    *run = (ppy_run){NULL, left > PPY_DEPTH ? PPY_DEPTH : left - 1, PPY_TICKS, ppy_poll_python,
                     ppy_ask_python, NULL};
    return PPY_LIKELY(left > 0);
}

/* Ends it; true where the kernel has given its results. */
static inline bool ppy_leave(ppy_run *run, ppy_native *self, int status) {
    if (PPY_UNLIKELY(status != PPY_OK)) return ppy_fail(run, self, status);
    if (PPY_UNLIKELY(run->saved != NULL)) ppy_release(run, false);
    return true;
}

/* Results. */

static inline PyObject *ppy_make_int(int64_t value) {
    return sizeof(long) == sizeof value ? PyLong_FromLong((long)value) : PyLong_FromLongLong(value);
}

/* An `array.array`, or a list, of the numbers of a buffer; NULL where there is no memory. */
PyObject *ppy_array_f64(ppy_f64 buffer);
PyObject *ppy_array_i64(ppy_i64 buffer);
PyObject *ppy_array_f32(ppy_f32 buffer);
PyObject *ppy_array_i32(ppy_i32 buffer);
PyObject *ppy_array_u8(ppy_u8 buffer);
PyObject *ppy_array_i8(ppy_i8 buffer);
PyObject *ppy_list_f64(ppy_f64 buffer);
PyObject *ppy_list_i64(ppy_i64 buffer);
PyObject *ppy_list_bools(ppy_u8 buffer);

/* A tuple of `length` new references, which it takes over; NULL where one of them is. */
PyObject *ppy_pack(int length, ...);

#pragma GCC visibility pop
#endif
