/* Native functions as Python sees them.
 *
 * An extension is a list of `ppy_entry` tables. Each entry becomes an attribute of the
 * extension module: a callable that takes a Python function and gives its native stand-in,
 * a `ppy_native`. A call of the stand-in runs `entry->impl`; where that returns NULL
 * without an exception, the Python function is called with the same arguments.
 *
 *     static PyObject *w_twice(ppy_native *self, PyObject *const *args, size_t nargsf,
 *                              PyObject *kwnames)
 *     {
 *         PyObject *found[1];
 *         args = ppy_arguments(self, args, nargsf, kwnames, found);
 *         if (args == NULL || !PyLong_CheckExact(args[0]))
 *             return NULL;
 *         return PyNumber_Add(args[0], args[0]);
 *     }
 *
 *     const ppy_entry ppy_entries_app[] = {{"app_twice", w_twice, 1, 0, NULL}, {NULL}};
 *
 * and in one file of the extension, which declares the tables of the others `extern`:
 *
 *     PPY_EXTENSION(loops, ppy_entries_app)
 */
#ifndef PPY_BOUNDARY_H
#define PPY_BOUNDARY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(hidden)

typedef struct ppy_native ppy_native;

/* Returns a new reference; NULL with an exception, which the caller sees; or NULL without
 * one, which means: let the Python function do it. Then nothing may have been changed. */
typedef PyObject *(*ppy_impl)(ppy_native *self, PyObject *const *args, size_t nargsf,
                              PyObject *kwnames);

enum {
    PPY_REGION = 1,   /* a tensor region: `f.__ppy_region__` is true */
    PPY_FRAGMENT = 2, /* statements inside a function: where the native code does not run, the
                       * call gives None, and whoever calls runs the statements themselves */
};

/* What native code takes for granted, where Python looks a name up each time. Before each
 * call of the outermost native function it is made sure that a path still leads there. */
enum {
    PPY_NATIVE,   /* to the native function of this extension that has this `name` */
    PPY_TORCH,    /* to torch's own function `name`: "torch.nn.functional.gelu" */
    PPY_LIBRARY,  /* to the built-in function or class `name`: "math.sqrt", "builtins.range" */
    PPY_INT,      /* to the int that is `value`, exactly an `int` */
    PPY_FLOAT,    /* to the float whose bits are `value` */
    PPY_BOOL,     /* to True or False, as `value` is 1 or 0 */
    PPY_TEXT,     /* to the str that is `name`, which is ASCII, exactly a `str` */
    PPY_FUNCTION, /* to the function defined in line `value`, that of its first decorator, of
                   * "app/model.py:Net.forward", whether it is native or not */
};

typedef struct {
    const char *path; /* "f", "module.f", "f:g": from the function's globals; what follows a
                       * colon is looked up as the function before it would look it up;
                       * "@package.module:f": from that module */
    int kind;
    const char *name; /* or NULL */
    int64_t value;
} ppy_relied; /* a table ends with a path of NULL */

typedef struct {
    const char *name; /* the attribute of the extension */
    ppy_impl impl;
    int parameters; /* how many the Python function has; `*args` and `**kwargs` are refused */
    int flags;
    const ppy_relied *relies; /* or NULL, where it relies on nothing */
} ppy_entry; /* a table ends with a name of NULL */

typedef struct ppy_seen ppy_seen;

struct ppy_native {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    const ppy_entry *entry;
    Py_ssize_t positional; /* parameters, or -1 where some are passed by keyword only */
    PyObject *python;      /* the Python function */
    PyObject *code;        /* its code when it was bound; another is not what was compiled */
    PyObject *defaults;    /* and its defaults then, or NULL */
    PyObject *keyword_defaults; /* a copy, or NULL */
    PyObject *array;       /* the type `array.array` */
    PyObject *weakrefs;
    ppy_seen *seen;        /* where the paths led last; NULL before the first call */
    bool looking;          /* they are being followed */
    bool exposed;          /* `__wrapped__` was asked for: who has it may change the code */
};

#define PPY_TYPE_NAME "ppy.NativeFunction"

/* Goes up where a native function's code or defaults are set. */
extern uint64_t ppy_changes;

/* Whether all that the function relies on, and those that it calls, is as it was compiled. */
bool ppy_look_at_relied(ppy_native *self);
int ppy_traverse_relied(ppy_native *self, visitproc visit, void *arg);
void ppy_forget_relied(ppy_native *self);

/* The arguments of a call in the order of the parameters, as borrowed references.
 *
 * Gives `args` itself where every parameter was passed by position; else fills `found`,
 * which has room for `entry->parameters`, from keywords and from the function's present
 * defaults. NULL, without an exception, where the arguments do not fit the parameters. */
PyObject *const *ppy_fit_arguments(ppy_native *self, PyObject *const *args, size_t nargsf,
                                   PyObject *kwnames, PyObject **found);

static inline PyObject *const *ppy_arguments(ppy_native *self, PyObject *const *args,
                                             size_t nargsf, PyObject *kwnames,
                                             PyObject **found)
{
    if (kwnames == NULL && PyVectorcall_NARGS(nargsf) == self->positional)
        return args;
    return ppy_fit_arguments(self, args, nargsf, kwnames, found);
}

/* Adds to the traceback of the exception that is set the line on which the function's
 * `def` stands, for exceptions that native code raises itself. */
void ppy_add_traceback(ppy_native *self);

/* What PPY_EXTENSION needs. */
typedef struct {
    PyTypeObject *type;
    PyObject *array;
} ppy_state;

int ppy_fill_module(PyObject *module, const ppy_entry *const *tables);
int ppy_traverse_module(PyObject *module, visitproc visit, void *arg);
int ppy_clear_module(PyObject *module);
void ppy_free_module(void *module);

/* Defines the extension module NAME, with the entries of the tables that follow. */
#define PPY_EXTENSION(NAME, ...)                                                           \
    static const ppy_entry *const ppy_tables[] = {__VA_ARGS__, NULL};                      \
    static int ppy_exec(PyObject *module) { return ppy_fill_module(module, ppy_tables); }  \
    static PyModuleDef_Slot ppy_slots[] = {{Py_mod_exec, (void *)ppy_exec}, {0, NULL}};    \
    static struct PyModuleDef ppy_definition = {                                           \
        PyModuleDef_HEAD_INIT, #NAME, NULL, sizeof(ppy_state), NULL, ppy_slots,            \
        ppy_traverse_module, ppy_clear_module, ppy_free_module};                           \
    PyMODINIT_FUNC PyInit_##NAME(void) { return PyModuleDef_Init(&ppy_definition); }

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
