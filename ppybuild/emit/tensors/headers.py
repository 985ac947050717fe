"""Whether torch's installed headers still say what `ppy_region.h` repeats of them."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

REPEATED: tuple[tuple[str, str], ...] = (
    (
        "torch/csrc/autograd/python_variable.h",
        "struct THPVariable { PyObject_HEAD at::Tensor cdata;",
    ),
    ("torch/csrc/autograd/python_variable.h", "extern PyObject* THPVariableClass;"),
    ("torch/csrc/autograd/python_variable.h", "extern PyObject* ParameterClass;"),
    (
        "torch/csrc/autograd/python_variable.h",
        "PyObject* THPVariable_Wrap(at::TensorBase&& var);",
    ),
    (
        "torch/csrc/Exceptions.h",
        "struct PyWarningHandler { struct InternalHandler : at::WarningHandler { "
        "~InternalHandler() override = default; "
        "void process(const c10::Warning& warning) override; "
        "std::vector<c10::Warning> warning_buffer_; };",
    ),
    (
        "torch/csrc/Exceptions.h",
        "InternalHandler internal_handler_; at::WarningHandler* prev_handler_; "
        "bool in_exception_{false}; };",
    ),
    (
        "torch/csrc/Exceptions.h",
        "void translate_exception_to_python( const std::exception_ptr& );",
    ),
    (
        "ATen/ScalarOps.h",
        "TORCH_API Tensor scalar_tensor_static( const Scalar& s, "
        "std::optional<ScalarType> dtype_opt, std::optional<Device> device_opt);",
    ),
    ("torch/csrc/autograd/node.h", "struct TORCH_API Node : c10::intrusive_ptr_target {"),
    (
        "torch/csrc/autograd/variable.h",
        "TORCH_API c10::intrusive_ptr<Node> try_get_grad_accumulator( const at::TensorBase& );",
    ),
    (
        "torch/csrc/autograd/variable.h",
        "TORCH_API std::vector<std::unique_ptr<FunctionPreHook>>& hooks( const Variable& );",
    ),
    (
        "torch/csrc/autograd/variable.h",
        "TORCH_API std::unique_ptr<PostAccumulateGradHook>& post_acc_grad_hooks( "
        "const Variable& );",
    ),
)
"""File below torch's include folder, and a text that it must hold, up to white space."""


def torch_include() -> Path | None:
    """The include folder of the torch that this interpreter would import."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "include"


def declarations_hold(include: Path) -> bool:
    """Whether the short declarations may stand for the full headers."""
    texts: dict[str, str] = {}
    for name, wanted in REPEATED:
        if name not in texts:
            try:
                texts[name] = _plain((include / name).read_text("utf-8"))
            except OSError:
                return False
        if _plain(wanted) not in texts[name]:
            return False
    return True


def _plain(text: str) -> str:
    """Without comments, and with no more than one space in a row."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"\s+", " ", text)
