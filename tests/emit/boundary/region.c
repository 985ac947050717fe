/* A function without a kernel, as the regions' are: ints that are not negative are its own. */
#include "ppy_boundary.h"

static PyObject *w_region(ppy_native *self, PyObject *const *args, size_t nargsf,
                          PyObject *kwnames) {
    PyObject *found[1];
    args = ppy_arguments(self, args, nargsf, kwnames, found);
    if (args == NULL || !PyLong_CheckExact(args[0])) return NULL;
    if (PyLong_AsLong(args[0]) < 0) {
        PyErr_SetString(PyExc_OverflowError, "negative");
        return NULL;
    }
    return Py_NewRef(args[0]);
}

const ppy_entry ppy_entries_region[] = {{"region", w_region, 1, PPY_REGION, NULL}, {NULL, NULL, 0, 0, NULL}};
