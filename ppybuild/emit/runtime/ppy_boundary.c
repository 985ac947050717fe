/* The type of native functions, and the extension modules that offer them. */
#include "ppy_boundary.h"

#include <frameobject.h>
#include <structmember.h>

/* Calls */

/* Whether a debugger, a profiler or a measure of coverage wants to see Python run. */
static inline bool is_traced(void)
{
    const PyThreadState *state = PyThreadState_Get();
#if PY_VERSION_HEX >= 0x030C0000
    return (state->c_tracefunc != NULL || state->c_profilefunc != NULL) && !state->tracing;
#else
    return state->cframe->use_tracing;
#endif
}

static PyObject *native_call(PyObject *callable, PyObject *const *args, size_t nargsf,
                             PyObject *kwnames)
{
    ppy_native *self = (ppy_native *)callable;
    const bool compiled = PyFunction_GET_CODE(self->python) == self->code;
    if (compiled && !is_traced() && (self->entry->relies == NULL || ppy_look_at_relied(self))) {
        PyObject *answer = self->entry->impl(self, args, nargsf, kwnames);
        if (answer != NULL || PyErr_Occurred())
            return answer;
    }
    if (self->entry->flags & PPY_FRAGMENT)
        Py_RETURN_NONE;
    return PyObject_Vectorcall(self->python, args, nargsf, kwnames);
}

/* The position of a parameter that may be passed by keyword, or -1. */
static Py_ssize_t find_parameter(PyCodeObject *code, PyObject *names, PyObject *name)
{
    Py_ssize_t count = code->co_argcount + code->co_kwonlyargcount;
    for (Py_ssize_t i = code->co_posonlyargcount; i < count; i++)
        if (PyTuple_GET_ITEM(names, i) == name)
            return i;
    for (Py_ssize_t i = code->co_posonlyargcount; i < count; i++)
        if (PyUnicode_Compare(PyTuple_GET_ITEM(names, i), name) == 0)
            return i;
    return -1;
}

static bool fill_defaults(ppy_native *self, PyCodeObject *code, PyObject *names,
                          PyObject **found)
{
    PyObject *defaults = PyFunction_GET_DEFAULTS(self->python);
    PyObject *keyword_defaults = PyFunction_GET_KW_DEFAULTS(self->python);
    Py_ssize_t positional = code->co_argcount;
    Py_ssize_t first = positional - (defaults == NULL ? 0 : PyTuple_GET_SIZE(defaults));
    for (Py_ssize_t i = 0; i < self->entry->parameters; i++) {
        if (found[i] != NULL)
            continue;
        if (i < positional && i >= first)
            found[i] = PyTuple_GET_ITEM(defaults, i - first);
        else if (i >= positional && keyword_defaults != NULL)
            found[i] = PyDict_GetItemWithError(keyword_defaults, PyTuple_GET_ITEM(names, i));
        if (found[i] == NULL)
            return false;
    }
    return true;
}

PyObject *const *ppy_fit_arguments(ppy_native *self, PyObject *const *args, size_t nargsf,
                                   PyObject *kwnames, PyObject **found)
{
    PyCodeObject *code = (PyCodeObject *)self->code;
    Py_ssize_t passed = PyVectorcall_NARGS(nargsf);
    if (passed > code->co_argcount)
        return NULL;
    PyObject *names = PyCode_GetVarnames(code);
    if (names == NULL) {
        PyErr_Clear();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < self->entry->parameters; i++)
        found[i] = i < passed ? args[i] : NULL;
    bool fits = true;
    for (Py_ssize_t k = 0; fits && kwnames != NULL && k < PyTuple_GET_SIZE(kwnames); k++) {
        Py_ssize_t i = find_parameter(code, names, PyTuple_GET_ITEM(kwnames, k));
        fits = i >= 0 && found[i] == NULL;
        if (fits)
            found[i] = args[passed + k];
    }
    fits = fits && fill_defaults(self, code, names, found);
    Py_DECREF(names);
    if (PyErr_Occurred())
        PyErr_Clear();
    return fits ? found : NULL;
}

/* Attributes: all are the Python function's own, except for these. */

static PyObject *native_wrapped(PyObject *object, void *closure)
{
    (void)closure;
    ppy_native *self = (ppy_native *)object;
    PyObject *set = PyObject_GetAttrString(self->python, "__wrapped__");
    if (set != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return set;
    PyErr_Clear();
    if (!self->exposed)
        ppy_changes++;
    self->exposed = true;
    return Py_NewRef(self->python);
}

static PyObject *native_region(PyObject *object, void *closure)
{
    (void)closure;
    return PyBool_FromLong(((ppy_native *)object)->entry->flags & PPY_REGION);
}

static PyObject *native_class(PyObject *object, void *closure)
{
    (void)closure;
    return Py_NewRef(Py_TYPE(((ppy_native *)object)->python));
}

static PyGetSetDef native_attributes[] = {
    {"__wrapped__", native_wrapped, NULL, NULL, NULL},
    {"_torchdynamo_orig_callable", native_wrapped, NULL, NULL, NULL}, /* for torch.compile */
    {"__ppy_region__", native_region, NULL, NULL, NULL},
    {"__class__", native_class, NULL, NULL, NULL}, /* isinstance and inspect see a function */
    {NULL, NULL, NULL, NULL, NULL},
};

/* Pickled and copied as functions are: by name. */
static PyObject *native_reduce(PyObject *object, PyObject *ignored)
{
    (void)ignored;
    return PyObject_GetAttrString(((ppy_native *)object)->python, "__qualname__");
}

static PyMethodDef native_methods[] = {
    {"__reduce__", native_reduce, METH_NOARGS, NULL},
    {"__reduce_ex__", native_reduce, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static const char *const own_attributes[] = {
    "__call__", "__class__", "__get__", "__ppy_region__", "__reduce__", "__reduce_ex__",
    "__repr__", "__wrapped__",
};

static PyObject *native_getattro(PyObject *object, PyObject *name)
{
    for (size_t i = 0; i < sizeof own_attributes / sizeof *own_attributes; i++)
        if (PyUnicode_CompareWithASCIIString(name, own_attributes[i]) == 0)
            return PyObject_GenericGetAttr(object, name);
    return PyObject_GetAttr(((ppy_native *)object)->python, name);
}

static int native_setattro(PyObject *object, PyObject *name, PyObject *value)
{
    static const char *const compiled_in[] = {"__code__", "__defaults__", "__kwdefaults__"};
    for (size_t i = 0; i < sizeof compiled_in / sizeof *compiled_in; i++)
        if (PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, compiled_in[i]) == 0)
            ppy_changes++;
    return PyObject_SetAttr(((ppy_native *)object)->python, name, value);
}

static PyObject *native_get(PyObject *object, PyObject *instance, PyObject *owner)
{
    (void)owner;
    if (instance == NULL || instance == Py_None)
        return Py_NewRef(object);
    return PyMethod_New(object, instance);
}

static PyObject *native_repr(PyObject *object)
{
    PyObject *name = native_reduce(object, NULL);
    if (name == NULL)
        return NULL;
    PyObject *text = PyUnicode_FromFormat("<function %U at %p>", name, (void *)object);
    Py_DECREF(name);
    return text;
}

/* Life */

static int native_traverse(PyObject *object, visitproc visit, void *arg)
{
    ppy_native *self = (ppy_native *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->python);
    Py_VISIT(self->code);
    Py_VISIT(self->defaults);
    Py_VISIT(self->keyword_defaults);
    Py_VISIT(self->array);
    return ppy_traverse_relied(self, visit, arg);
}

/* The Python function stays, so that a call always finds it: all other cycles through it go
 * through its dictionary, defaults or globals, which are cleared. */
static int native_clear(PyObject *object)
{
    ppy_native *self = (ppy_native *)object;
    Py_CLEAR(self->defaults);
    Py_CLEAR(self->keyword_defaults);
    ppy_forget_relied(self);
    return 0;
}

static void native_dealloc(PyObject *object)
{
    ppy_native *self = (ppy_native *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    if (self->weakrefs != NULL)
        PyObject_ClearWeakRefs(object);
    native_clear(object);
    Py_XDECREF(self->python);
    Py_XDECREF(self->code);
    Py_XDECREF(self->array);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyMemberDef native_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(ppy_native, vectorcall), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(ppy_native, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot native_slots[] = {
    {Py_tp_call, (void *)PyVectorcall_Call},
    {Py_tp_descr_get, (void *)native_get},
    {Py_tp_getattro, (void *)native_getattro},
    {Py_tp_setattro, (void *)native_setattro},
    {Py_tp_repr, (void *)native_repr},
    {Py_tp_traverse, (void *)native_traverse},
    {Py_tp_clear, (void *)native_clear},
    {Py_tp_dealloc, (void *)native_dealloc},
    {Py_tp_getset, native_attributes},
    {Py_tp_methods, native_methods},
    {Py_tp_members, native_members},
    {0, NULL},
};

static PyType_Spec native_spec = {
    .name = PPY_TYPE_NAME,
    .basicsize = sizeof(ppy_native),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL
             | Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION
             | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = native_slots,
};

/* Modules: the attribute of an entry is a built-in function whose self is
 * (the module, the entry in a capsule). */

static PyObject *bind_entry(PyObject *self, PyObject *python)
{
    const ppy_entry *entry = (const ppy_entry *)PyCapsule_GetPointer(
        PyTuple_GET_ITEM(self, 1), NULL);
    ppy_state *state = (ppy_state *)PyModule_GetState(PyTuple_GET_ITEM(self, 0));
    if (entry == NULL || state == NULL)
        return NULL;
    if (!PyFunction_Check(python)) {
        PyErr_Format(PyExc_TypeError, "%s: a Python function is needed, not %.100s",
                     entry->name, Py_TYPE(python)->tp_name);
        return NULL;
    }
    PyCodeObject *code = (PyCodeObject *)PyFunction_GET_CODE(python);
    if (code->co_argcount + code->co_kwonlyargcount != entry->parameters
        || code->co_flags & (CO_VARARGS | CO_VARKEYWORDS)) {
        PyErr_Format(PyExc_TypeError, "%s: the native code is of another function than %R",
                     entry->name, python);
        return NULL;
    }
    PyObject *keyword_defaults = PyFunction_GET_KW_DEFAULTS(python);
    if (keyword_defaults != NULL && (keyword_defaults = PyDict_Copy(keyword_defaults)) == NULL)
        return NULL;
    ppy_native *native = PyObject_GC_New(ppy_native, state->type);
    if (native == NULL) {
        Py_XDECREF(keyword_defaults);
        return NULL;
    }
    native->vectorcall = native_call;
    native->entry = entry;
    native->positional = code->co_kwonlyargcount == 0 ? code->co_argcount : -1;
    native->python = Py_NewRef(python);
    native->code = Py_NewRef(code);
    native->defaults = Py_XNewRef(PyFunction_GET_DEFAULTS(python));
    native->keyword_defaults = keyword_defaults;
    native->array = Py_NewRef(state->array);
    native->weakrefs = NULL;
    native->seen = NULL;
    native->looking = native->exposed = false;
    PyObject_GC_Track(native);
    return (PyObject *)native;
}

static PyMethodDef bind_definition = {"bind", bind_entry, METH_O, NULL};

static int add_entry(PyObject *module, const ppy_entry *entry)
{
    PyObject *capsule = PyCapsule_New((void *)entry, NULL, NULL);
    if (capsule == NULL)
        return -1;
    PyObject *self = PyTuple_Pack(2, module, capsule);
    Py_DECREF(capsule);
    if (self == NULL)
        return -1;
    PyObject *bind = PyCFunction_New(&bind_definition, self);
    Py_DECREF(self);
    if (bind == NULL)
        return -1;
    int failed = PyModule_AddObjectRef(module, entry->name, bind);
    Py_DECREF(bind);
    return failed;
}

int ppy_fill_module(PyObject *module, const ppy_entry *const *tables)
{
    ppy_state *state = (ppy_state *)PyModule_GetState(module);
    state->type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &native_spec, NULL);
    if (state->type == NULL)
        return -1;
    PyObject *array = PyImport_ImportModule("array");
    if (array == NULL)
        return -1;
    state->array = PyObject_GetAttrString(array, "array");
    Py_DECREF(array);
    if (state->array == NULL)
        return -1;
    for (; *tables != NULL; tables++)
        for (const ppy_entry *entry = *tables; entry->name != NULL; entry++)
            if (add_entry(module, entry) < 0)
                return -1;
    return 0;
}

int ppy_traverse_module(PyObject *module, visitproc visit, void *arg)
{
    ppy_state *state = (ppy_state *)PyModule_GetState(module);
    if (state != NULL) {
        Py_VISIT(state->type);
        Py_VISIT(state->array);
    }
    return 0;
}

int ppy_clear_module(PyObject *module)
{
    ppy_state *state = (ppy_state *)PyModule_GetState(module);
    if (state != NULL) {
        Py_CLEAR(state->type);
        Py_CLEAR(state->array);
    }
    return 0;
}

void ppy_free_module(void *module)
{
    ppy_clear_module((PyObject *)module);
}

/* Tracebacks */

void ppy_add_traceback(ppy_native *self)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *globals = PyFunction_GET_GLOBALS(self->python);
    PyFrameObject *frame = PyFrame_New(PyThreadState_Get(), (PyCodeObject *)self->code,
                                       globals, NULL);
    if (frame == NULL)
        PyErr_Clear();
    PyErr_Restore(type, value, traceback);
    if (frame != NULL) {
        PyTraceBack_Here(frame);
        Py_DECREF(frame);
    }
}
