"""Which operators a Python name of torch reaches, read from torch's own files.

    torch.relu, torch.Tensor.relu     →  overloads of aten::relu
    torch.nn.functional.gelu          →  torch._C._nn.gelu, overloads of aten::gelu
    torch.linalg.norm                 →  overloads of aten::linalg_norm
    Tensor.__add__                    →  Tensor.add, as the bindings' table says
    torch.nn.functional.relu,
    torch.norm, Tensor.__rsub__       →  functions written in Python, by their source

A name whose binding is written by hand (`Tensor.to`, `Tensor.item`) reaches nothing here.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import final

from ppybuild.graph.schemas.read import Schemas, installed_schemas
from ppybuild.graph.schemas.records import Operator

_PREFIXES = {
    "torch": None,
    "torch._C._VariableFunctions": None,
    "torch._C._nn": "nn",
    "torch.linalg": "linalg",
    "torch.special": "special",
    "torch.fft": "fft",
}
"""Modules whose functions are bindings, and `python_module` of their operators."""
_PREFIXED = ("linalg", "special", "fft")
"""Modules whose operators bear the module's name: `linalg_norm`."""


_PRIVATE = re.compile(r"^PRIVATE_OPS = (\([^)]*\))", re.M)
_BINDING = re.compile(r"^(\w+) = _add_docstr\(\s*(torch[\w.]+),", re.M)
_SPECIAL = re.compile(r'^  \{"(__\w+__)", .*THPVariable_([a-z]\w*)>\)', re.M)
_ASSIGNED = re.compile(
    r"^    (__\w+__) = (?:(?:cast|_handle_\w+)\([^=]*?)?(?:_C\.TensorBase\.)?(\w+)"
    r"(?=$|\n\s*\))",
    re.M,
)


@final
@dataclass(frozen=True, slots=True)
class Dispatched:
    """A function of torch that calls one of two, as a flag says that is False by default."""

    flag: str
    place: int
    """Of the flag among the positional arguments."""
    otherwise: str
    """What it calls where the flag is False."""


class Torch:
    """What torch's bindings offer, for one installation."""

    def __init__(self, folder: Path, generator: str, template: str, schemas: Schemas) -> None:
        self.schemas = schemas
        hidden = _list_literal(generator, "_SKIP_PYTHON_BINDINGS")
        self._hidden = re.compile("|".join(f"(?:{pattern})" for pattern in hidden))
        self._hidden_schemas = frozenset(
            _list_literal(generator, "SKIP_PYTHON_BINDINGS_SIGNATURES")
        )
        self._sources = {
            "torch": _text(folder / "functional.py"),
            "torch.nn.functional": _text(folder / "nn" / "functional.py"),
            "torch.Tensor": _text(folder / "_tensor.py"),
        }
        self._in_python = frozenset(_list_literal(self._sources["torch"], "__all__"))
        private = _PRIVATE.search(_text(folder / "__init__.py"))
        self._private = frozenset(ast.literal_eval(private[1]) if private else ())
        tensor = self._sources["torch.Tensor"]
        self._python_methods = frozenset(re.findall(r"^    def (\w+)\(", tensor, re.M))
        self._bindings = dict(_BINDING.findall(self._sources["torch.nn.functional"]))
        self._special = dict(_SPECIAL.findall(template)) | dict(_ASSIGNED.findall(tensor))
        self._special["__eq__"] = "eq"  # its binding adds only the word `other` for None

    def function(self, name: str) -> tuple[Operator, ...]:
        """The overloads that a function reaches, by its dotted name; none if not a binding."""
        module, _, base = name.rpartition(".")
        if module == "torch.nn.functional":
            bound = self._bindings.get(base)
            return self.function(bound) if bound is not None else ()
        if module not in _PREFIXES or (
            module == "torch" and base in self._in_python | self._private
        ):
            return ()
        place = _PREFIXES[module]
        operator = f"{place}_{base}" if place in _PREFIXED else base
        return tuple(
            found
            for found in self._offered(operator)
            if found.function and found.module == place
        )

    def method(self, name: str) -> tuple[Operator, ...]:
        """The overloads that a method of `Tensor` reaches; none if it is not a binding."""
        if name in self._python_methods:
            return ()
        if name in self._special:
            return self.method(self._special[name])
        return tuple(
            found for found in self._offered(name) if found.method and found.module is None
        )

    def source(self, name: str) -> ast.FunctionDef | None:
        """A function or method that torch defines in Python, by its dotted name."""
        module, _, base = name.rpartition(".")
        if module == "torch" and base not in self._in_python:
            return None
        if module == "torch.Tensor" and base not in self._python_methods:
            base = self._special.get(base, base)
        if module not in self._sources:
            return None
        text = self._sources[module]
        indent = "    " if module == "torch.Tensor" else ""
        # Overloads come before the function itself: the last definition is the one.
        found = list(re.finditer(rf"^{indent}def {re.escape(base)}\(", text, re.M))
        if not found:
            return None
        return _definition(text, found[-1], indent)

    def dispatched(self, name: str) -> Dispatched | None:
        """What stands behind `f = boolean_dispatch(...)`, which calls one function or another
        as a flag says."""
        module, _, base = name.rpartition(".")
        start = re.escape(base) + r" = boolean_dispatch\("
        found = re.search(rf"^{start}.*?^\)$", self._sources.get(module, ""), re.M | re.S)
        if found is None:
            return None
        call = ast.parse(found[0].partition(" = ")[2], mode="eval").body
        assert isinstance(call, ast.Call)
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        match given.get("arg_name"), given.get("arg_index"), given.get("if_false"):
            case ast.Constant(str() as flag), ast.Constant(int() as place), ast.Name(id=false):
                return Dispatched(flag, place, f"{module}.{false}")
        return None

    def _offered(self, name: str) -> tuple[Operator, ...]:
        if self._hidden.fullmatch(name):
            return ()
        return tuple(
            operator
            for operator in self.schemas.overloads(name)
            if operator.schema not in self._hidden_schemas
        )


@functools.lru_cache(maxsize=1)
def installed_torch() -> Torch | None:
    """The torch that this interpreter would import, found and not imported."""
    schemas = installed_schemas()
    torch = importlib.util.find_spec("torch")
    torchgen = importlib.util.find_spec("torchgen")
    if schemas is None or torch is None or torchgen is None:
        return None
    if torch.origin is None or torchgen.origin is None:
        return None
    autograd = Path(torchgen.origin).parent / "packaged" / "autograd"
    return Torch(
        Path(torch.origin).parent,
        _text(autograd / "gen_python_functions.py"),
        _text(autograd / "templates" / "python_variable_methods.cpp"),
        schemas,
    )


def _definition(text: str, start: re.Match[str], indent: str) -> ast.FunctionDef | None:
    """The definition that starts there, up to the first line at which it is whole.

    Text inside its strings may stand further left than its end.
    """
    for end in re.compile(rf"^(?:{indent})?(?=[^\s)#])|\Z", re.M).finditer(text, start.end()):
        try:
            node = ast.parse(textwrap.dedent(text[start.start() : end.start()])).body[0]
        except SyntaxError:
            continue
        return node if isinstance(node, ast.FunctionDef) else None
    return None


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError:
        return ""


def _list_literal(text: str, name: str) -> list[str]:
    """The list of strings assigned to `name` at the top level of a Python file."""
    found = re.search(rf"^{name} = (\[.*?^\])", text, re.M | re.S)
    return list(ast.literal_eval(found[1])) if found else []
