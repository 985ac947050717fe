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
 *     const ppy_entry ppy_entries_app[] = {{"app_twice", w_twice, 1, 0}, {NULL}};
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
    PPY_REGION = 1, /* a tensor region: `f.__ppy_region__` is true */
};

typedef struct {
    const char *name; /* the attribute of the extension */
    ppy_impl impl;
    int parameters; /* how many the Python function has; `*args` and `**kwargs` are refused */
    int flags;
} ppy_entry; /* a table ends with a name of NULL */

struct ppy_native {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    const ppy_entry *entry;
    Py_ssize_t positional; /* parameters, or -1 where some are passed by keyword only */
    PyObject *python;      /* the Python function */
    PyObject *code;        /* its code when it was bound; another is not what was compiled */
    PyObject *array;       /* the type `array.array` */
    PyObject *weakrefs;
};

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
