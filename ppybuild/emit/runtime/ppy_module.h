/* Modules of torch.nn and optimizers of torch.optim, looked into without running Python.
 *
 * A step that goes through `model(x)` and `optimizer.step()` holds only where these objects
 * are exactly what they seem: no hooks, nothing replaced, the settings it was made for.
 */
#ifndef PPY_MODULE_H
#define PPY_MODULE_H

#include "ppy_step.h"

#include <cstring>

namespace ppy {

/* An interned string, made when it is first needed. */
class Name {
 public:
  explicit constexpr Name(const char* text) : text_(text) {}

  operator PyObject*() {
    if (object_ == nullptr) {
      object_ = PyUnicode_InternFromString(text_);
    }
    return object_;
  }

 private:
  const char* text_;
  PyObject* object_ = nullptr;
};

/* A borrowed reference to what an object's own dictionary holds, or null. */
inline PyObject* own(PyObject* object, PyObject* name) {
  PyObject** place = _PyObject_GetDictPtr(object);
  if (place == nullptr || *place == nullptr || name == nullptr) {
    return nullptr;
  }
  return PyDict_GetItemWithError(*place, name);
}

inline PyObject* item(PyObject* dictionary, PyObject* name) {
  if (dictionary == nullptr || name == nullptr || !PyDict_Check(dictionary)) {
    return nullptr;
  }
  return PyDict_GetItemWithError(dictionary, name);
}

inline bool is_empty(PyObject* dictionary) {
  return dictionary != nullptr && PyDict_Check(dictionary) && PyDict_GET_SIZE(dictionary) == 0;
}

/* A new reference to `module.name`, or null. */
inline PyObject* imported(const char* module, const char* name) {
  PyObject* found = PyImport_ImportModule(module);
  PyObject* value = found != nullptr ? PyObject_GetAttrString(found, name) : nullptr;
  Py_XDECREF(found);
  PyErr_Clear();
  return value;
}

/* A class of torch, with the methods that it had when it was first looked at. */
class Class {
 public:
  constexpr Class(const char* module, const char* name, const char* first, const char* second)
      : module_(module), name_(name), first_(first), second_(second) {}

  bool is(PyObject* object) {
    return known() && Py_TYPE(object) == reinterpret_cast<PyTypeObject*>(type_) && unchanged();
  }
  /* The first of both methods. */
  PyObject* first() const {
    return methods_[0];
  }
  /* Whether `type` is made from this class alone and keeps both methods. */
  bool is_base(PyTypeObject* type) {
    return known() && unchanged() && type->tp_base == reinterpret_cast<PyTypeObject*>(type_) &&
        PyTuple_GET_SIZE(type->tp_bases) == 1 && _PyType_Lookup(type, first_) == methods_[0] &&
        _PyType_Lookup(type, second_) == methods_[1];
  }

 private:
  bool known() {
    if (type_ == nullptr) {
      type_ = imported(module_, name_);
      if (type_ == nullptr || !PyType_Check(type_)) {
        Py_CLEAR(type_);
        return false;
      }
      methods_[0] = Py_XNewRef(looked_up(first_));
      methods_[1] = Py_XNewRef(looked_up(second_));
    }
    return true;
  }
  bool unchanged() {
    return looked_up(first_) == methods_[0] && looked_up(second_) == methods_[1];
  }
  PyObject* looked_up(PyObject* name) {
    return _PyType_Lookup(reinterpret_cast<PyTypeObject*>(type_), name);
  }

  const char* module_;
  const char* name_;
  Name first_;
  Name second_;
  PyObject* type_ = nullptr;
  PyObject* methods_[2] = {nullptr, nullptr};
};

/* Whether calling the module only calls its forward. */
inline bool is_quiet(PyObject* module) {
  static Name hooks[] = {
      Name("_forward_hooks"),
      Name("_forward_pre_hooks"),
      Name("_backward_hooks"),
      Name("_backward_pre_hooks"),
  };
  static Name replaced[] = {Name("forward"), Name("_compiled_call_impl"), Name("_call_impl")};
  for (Name& name : hooks) {
    if (!is_empty(own(module, name))) {
      return false;
    }
  }
  for (Name& name : replaced) {
    if (own(module, name) != nullptr) {
      return false;
    }
  }
  return true;
}

/* Whether no hook is there that all modules, or all optimizers, call. */
inline bool all_quiet() {
  static PyObject* hooks[] = {
      imported("torch.nn.modules.module", "_global_forward_hooks"),
      imported("torch.nn.modules.module", "_global_forward_pre_hooks"),
      imported("torch.nn.modules.module", "_global_backward_hooks"),
      imported("torch.nn.modules.module", "_global_backward_pre_hooks"),
      imported("torch.optim.optimizer", "_global_optimizer_pre_hooks"),
      imported("torch.optim.optimizer", "_global_optimizer_post_hooks"),
  };
  for (PyObject* dictionary : hooks) {
    if (!is_empty(dictionary)) {
      return false;
    }
  }
  return true;
}

/* A layer of torch.nn. */
inline bool is_layer(PyObject* module, Class& layer) {
  return module != nullptr && layer.is(module) && is_quiet(module);
}

/* A module whose class is the program's. */
inline bool is_program_module(PyObject* module) {
  static Class base("torch.nn", "Module", "__call__", "__getattr__");
  return module != nullptr && base.is_base(Py_TYPE(module)) && is_quiet(module);
}

/* Whether the module's method `name` is the function `qualified` that starts in that line. */
inline bool has_method(
    ppy_native* self,
    PyObject* module,
    PyObject* name,
    const char* qualified,
    int line) {
  if (own(module, name) != nullptr) {
    return false;
  }
  PyObject* function = _PyType_Lookup(Py_TYPE(module), name);
  if (function != nullptr && Py_TYPE(function) == Py_TYPE(reinterpret_cast<PyObject*>(self))) {
    function = reinterpret_cast<ppy_native*>(function)->python;
  }
  if (function == nullptr || !PyFunction_Check(function)) {
    return false;
  }
  auto* code = reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(function));
  const char* found = PyUnicode_AsUTF8(code->co_qualname);
  return code->co_firstlineno == line && found != nullptr && std::strcmp(found, qualified) == 0;
}

inline PyObject* child(PyObject* module, PyObject* name) {
  static Name modules("_modules");
  if (module == nullptr || own(module, name) != nullptr ||
      _PyType_Lookup(Py_TYPE(module), name) != nullptr) {
    return nullptr;
  }
  return item(own(module, modules), name);
}

inline PyObject* parameter(PyObject* module, PyObject* name) {
  static Name parameters("_parameters");
  if (module == nullptr || own(module, name) != nullptr) {
    return nullptr;
  }
  return item(own(module, parameters), name);
}

inline PyObject* buffer(PyObject* module, PyObject* name) {
  static Name buffers("_buffers");
  if (module == nullptr || own(module, name) != nullptr) {
    return nullptr;
  }
  return item(own(module, buffers), name);
}

inline bool has_size(PyObject* dictionary, Py_ssize_t size) {
  return dictionary != nullptr && PyDict_Check(dictionary) && PyDict_GET_SIZE(dictionary) == size;
}

inline bool has_modules(PyObject* module, Py_ssize_t count) {
  static Name modules("_modules");
  return has_size(own(module, modules), count);
}

/* Absent ones, which are None, count too. */
inline bool has_parameters(PyObject* module, Py_ssize_t count) {
  static Name parameters("_parameters");
  return has_size(own(module, parameters), count);
}

/* Absent ones, such as the weights of a loss that has none, do not count. */
inline bool has_buffers(PyObject* module, Py_ssize_t count) {
  static Name buffers("_buffers");
  PyObject* held = own(module, buffers);
  PyObject* value = nullptr;
  Py_ssize_t place = 0;
  if (held == nullptr || !PyDict_Check(held)) {
    return false;
  }
  while (PyDict_Next(held, &place, nullptr, &value)) {
    count -= value != Py_None;
  }
  return count == 0;
}

inline bool is_parameter(PyObject* object, at::Tensor& value) {
  return object != nullptr && is_tensor(object, value);
}

inline bool is_text(PyObject* object, const char* text) {
  return object != nullptr && PyUnicode_CheckExact(object) &&
      PyUnicode_CompareWithASCIIString(object, text) == 0;
}

inline bool is_number(PyObject* object, double& value) {
  if (object != nullptr && PyFloat_CheckExact(object)) {
    value = PyFloat_AS_DOUBLE(object);
    return true;
  }
  if (object != nullptr && PyLong_CheckExact(object)) {
    value = PyLong_AsDouble(object);
    if (PyErr_Occurred() == nullptr) {
      return true;
    }
    PyErr_Clear();
  }
  return false;
}

inline bool is_value(PyObject* object, double value) {
  double found = 0;
  return is_number(object, found) && found == value;
}

inline bool are_values(PyObject* object, std::initializer_list<double> values) {
  if (object == nullptr || !PyTuple_CheckExact(object) ||
      PyTuple_GET_SIZE(object) != static_cast<Py_ssize_t>(values.size())) {
    return false;
  }
  PyObject** found = &PyTuple_GET_ITEM(object, 0);
  for (const double value : values) {
    if (!is_value(*found, value)) {
      return false;
    }
    found++;
  }
  return true;
}

/* Whether `step`, which an optimizer holds of its own, is what a scheduler of torch puts there:
 * the class's `method`, and a note that it was called. */
inline bool is_tracking(PyObject* step, PyObject* optimizer, PyObject* method) {
  static PyObject* globals = imported("torch.optim.lr_scheduler", "__dict__");
  if (!PyFunction_Check(step) || PyFunction_GET_GLOBALS(step) != globals) {
    return false;
  }
  auto* code = reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(step));
  PyObject* closure = PyFunction_GET_CLOSURE(step);
  if (PyUnicode_CompareWithASCIIString(
          code->co_qualname,
          "LRScheduler.__init__.<locals>.patch_track_step_called.<locals>.wrap_step.<locals>."
          "wrapper") != 0 ||
      closure == nullptr || PyTuple_GET_SIZE(closure) != 2) {
    return false;
  }
  PyObject* function = PyCell_GET(PyTuple_GET_ITEM(closure, 0));
  PyObject* reference = PyCell_GET(PyTuple_GET_ITEM(closure, 1));
  return function == method && reference != nullptr && PyWeakref_Check(reference) &&
      PyWeakref_GET_OBJECT(reference) == optimizer;
}

/* What optimizers have in common: a plain group of these parameters in this order, in its place
 * among the optimizer's `groups`. */
template <size_t N>
class Group {
 public:
  constexpr explicit Group(Py_ssize_t place = 0, Py_ssize_t groups = 1)
      : place_(place), groups_(groups) {}

  bool takes(PyObject* optimizer, Class& type, PyObject* const (&parameters)[N]) {
    static Name groups("param_groups"), step("step"), zero("zero_grad"), state("state");
    static Name pre("_optimizer_step_pre_hooks"), post("_optimizer_step_post_hooks");
    if (!type.is(optimizer) || !is_empty(own(optimizer, pre)) ||
        !is_empty(own(optimizer, post)) || own(optimizer, zero) != nullptr) {
      return false;
    }
    PyObject* replaced = own(optimizer, step);
    if (replaced != nullptr && !is_tracking(replaced, optimizer, type.first())) {
      return false;
    }
    tracked_ = replaced != nullptr ? optimizer : nullptr;
    PyObject* list = own(optimizer, groups);
    if (list == nullptr || !PyList_CheckExact(list) || PyList_GET_SIZE(list) != groups_) {
      return false;
    }
    settings_ = PyList_GET_ITEM(list, place_);
    states_ = own(optimizer, state);
    return is_plain() && holds(parameters);
  }

  PyObject* setting(Name& name) const {
    return item(settings_, name);
  }
  bool number(Name& name, double& value) const {
    return is_number(setting(name), value);
  }
  PyObject* state(PyObject* parameter) const {
    return item(states_, parameter);
  }
  /* Leaves the note that a scheduler looks for. */
  void note() const {
    static Name called("_opt_called");
    if (tracked_ != nullptr && PyObject_SetAttr(tracked_, called, Py_True) != 0) {
      PyErr_Clear();
    }
  }

 private:
  bool is_plain() const {
    static Name off[] = {Name("maximize"), Name("differentiable")};
    static Name unset[] = {Name("foreach"), Name("fused")};
    for (Name& name : off) {
      if (setting(name) != Py_False) {
        return false;
      }
    }
    for (Name& name : unset) {
      if (setting(name) != Py_None && setting(name) != Py_False) {
        return false;
      }
    }
    return true;
  }
  bool holds(PyObject* const (&parameters)[N]) const {
    static Name params("params");
    PyObject* list = setting(params);
    if (list == nullptr || !PyList_CheckExact(list) ||
        PyList_GET_SIZE(list) != static_cast<Py_ssize_t>(N)) {
      return false;
    }
    for (size_t i = 0; i < N; i++) {
      if (PyList_GET_ITEM(list, static_cast<Py_ssize_t>(i)) != parameters[i]) {
        return false;
      }
    }
    return true;
  }

  const Py_ssize_t place_;
  const Py_ssize_t groups_;
  PyObject* settings_ = nullptr;
  PyObject* states_ = nullptr;
  PyObject* tracked_ = nullptr; /* the optimizer, where its steps are to be noted */
};

/* torch.optim.Adam, or AdamW, where the decay is `decoupled`. */
template <size_t N>
class Adam {
 public:
  double by, root, first, second, rest, eps, decay; /* what the update multiplies by */

  constexpr Adam(bool decoupled, bool decays, Py_ssize_t place = 0, Py_ssize_t groups = 1)
      : decoupled_(decoupled), decays_(decays), group_(place, groups) {}

  /* Takes the state tensors too; false before the first step, when there is none. */
  bool takes(PyObject* optimizer, Class& type, PyObject* const (&parameters)[N],
             at::Tensor* averages, at::Tensor* squares) {
    static Name lr("lr"), betas("betas"), epsilon("eps"), weight("weight_decay");
    static Name off[] = {Name("amsgrad"), Name("capturable")}, apart("decoupled_weight_decay");
    double beta1 = 0, beta2 = 0, rate = 0;
    if (!group_.takes(optimizer, type, parameters) || group_.setting(off[0]) != Py_False ||
        group_.setting(off[1]) != Py_False || !group_.number(lr, rate) ||
        group_.setting(apart) != (decoupled_ ? Py_True : Py_False) ||
        !group_.number(epsilon, eps) || !group_.number(weight, decay) ||
        (decay != 0) != decays_) {
      return false;
    }
    PyObject* pair = group_.setting(betas);
    if (pair == nullptr || !PyTuple_CheckExact(pair) || PyTuple_GET_SIZE(pair) != 2 ||
        !is_number(PyTuple_GET_ITEM(pair, 0), beta1) ||
        !is_number(PyTuple_GET_ITEM(pair, 1), beta2)) {
      return false;
    }
    double count = 0;
    for (size_t i = 0; i < N; i++) {
      double found = 0;
      if (!take_state(group_.state(parameters[i]), i, averages[i], squares[i], found) ||
          (i > 0 && found != count)) {
        return false;
      }
      count = found;
    }
    count += 1;
    by = -(rate / (1 - std::pow(beta1, count)));
    root = std::pow(1 - std::pow(beta2, count), 0.5);
    first = 1 - beta1;
    second = beta2;
    rest = 1 - beta2;
    decay = decoupled_ ? 1 - rate * decay : decay;
    return true;
  }

  void count() {
    for (at::Tensor& step : steps_) {
      *static_cast<float*>(step.mutable_data_ptr()) += 1;
      written(step, 1);
    }
    group_.note();
  }

 private:
  bool take_state(PyObject* state, size_t place, at::Tensor& average, at::Tensor& square,
                  double& count) {
    static Name step("step"), averages("exp_avg"), squares("exp_avg_sq");
    PyObject* found = item(state, step);
    if (found == nullptr || !is_tensor(found, steps_[place]) ||
        !is_parameter(item(state, averages), average) ||
        !is_parameter(item(state, squares), square) ||
        !is_data(steps_[place], at::kFloat, {})) {
      return false;
    }
    for (size_t i = 0; i < place; i++) {
      if (steps_[i].const_data_ptr() == steps_[place].const_data_ptr()) {
        return false;
      }
    }
    count = *static_cast<const float*>(steps_[place].const_data_ptr());
    return true;
  }

  const bool decoupled_;
  const bool decays_;
  Group<N> group_;
  std::array<at::Tensor, N> steps_;
};

/* torch.optim.SGD. */
template <size_t N>
class Sgd {
 public:
  double by, decay, momentum, rest; /* what the update multiplies by */

  constexpr Sgd(
      bool decays, bool moves, bool nesterov, Py_ssize_t place = 0, Py_ssize_t groups = 1)
      : decays_(decays), moves_(moves), nesterov_(nesterov), group_(place, groups) {}

  /* Takes the momentum too; false before the first step, when there is none. */
  bool takes(PyObject* optimizer, Class& type, PyObject* const (&parameters)[N],
             at::Tensor* buffers) {
    static Name lr("lr"), speed("momentum"), damp("dampening"), weight("weight_decay");
    static Name ahead("nesterov"), buffer("momentum_buffer");
    double rate = 0, dampening = 0;
    if (!group_.takes(optimizer, type, parameters) || !group_.number(lr, rate) ||
        !group_.number(speed, momentum) || !group_.number(damp, dampening) ||
        !group_.number(weight, decay) || (decay != 0) != decays_ || (momentum != 0) != moves_ ||
        group_.setting(ahead) != (nesterov_ ? Py_True : Py_False)) {
      return false;
    }
    by = -rate;
    rest = 1 - dampening;
    for (size_t i = 0; moves_ && i < N; i++) {
      if (!is_parameter(item(group_.state(parameters[i]), buffer), buffers[i])) {
        return false;
      }
    }
    return true;
  }

  /* It counts no steps. */
  void count() {
    group_.note();
  }

 private:
  const bool decays_;
  const bool moves_;
  const bool nesterov_;
  Group<N> group_;
};

} // namespace ppy

#endif
