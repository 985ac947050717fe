"""The whole program and what is known about it, as immutable records.

A `Program` is what was read; `Facts` is what the analyses found. Facts are looked up by
syntax node (nodes hash by identity) or by dotted name. Nothing here computes.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ppybuild.diagnostics import Diagnostic
from ppybuild.graph.shapes import Shapes
from ppybuild.graph.types import Type

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Constant = int | float | bool | str


@dataclass(frozen=True, slots=True)
class Module:
    """A source file of the project."""

    name: str
    """Dotted, as imported: `app.train`; a package's `__init__` bears the package's name."""
    path: Path
    text: str
    tree: ast.Module
    is_package: bool


@dataclass(frozen=True, slots=True)
class Function:
    """A function or method of the project."""

    name: str
    """Module and qualified name: `app.model.Net.forward`, `app.train.main.<locals>.step`."""
    module: str
    node: FunctionNode
    owner: str | None
    """The dotted name of the class it is a method of."""


@dataclass(frozen=True, slots=True)
class Class:
    """A class of the project."""

    name: str
    module: str
    node: ast.ClassDef
    bases: tuple[str, ...]
    """Dotted names, resolved where they could be."""


@dataclass(frozen=True, slots=True)
class Program:
    """Everything the manifest's sources hold, in order of module name."""

    modules: Mapping[str, Module]
    functions: Mapping[str, Function]
    classes: Mapping[str, Class]
    diagnostics: tuple[Diagnostic, ...] = ()
    """What reading found wrong: syntax, encoding, duplicates, unresolved imports."""
    shapes: Shapes = field(default_factory=dict)
    """What `ppybuild run --record` saw."""


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    type: Type
    kind: Literal["positional", "normal", "rest", "keyword", "keywords"]
    """positional-only, normal, `*args`, keyword-only, `**kwargs`."""
    default: ast.expr | None
    annotated: bool


@dataclass(frozen=True, slots=True)
class Signature:
    parameters: tuple[Parameter, ...]
    result: Type
    result_annotated: bool
    result_declared: bool
    """`result` is what the annotation says; False where that is not understood."""


@dataclass(frozen=True, slots=True)
class Callee:
    """What a call reaches.

    `project`: a function or method of the project, `name` as in `Function.name`.
    `class`: a class of the project. `external`: a library's function or class by its
    canonical dotted name (`math.sqrt`, `builtins.len`, `torch.nn.functional.relu`).
    `method`: a method of a library type, `name` dotted with the type (`torch.Tensor.sum`,
    `list.append`); the receiver is `call.func.value`.
    """

    kind: Literal["project", "class", "external", "method"]
    name: str


@dataclass(frozen=True, slots=True)
class Effects:
    """What running a function's body can do beside computing its result.

    Effects of callees are included, translated to this function's own parameters.
    """

    writes: frozenset[str]
    """Parameters (`self` too) whose contents may change."""
    reads_globals: frozenset[str]
    """Dotted names of module variables read that are not constants."""
    writes_globals: frozenset[str]
    """Also variables of the functions around, as `module.function.variable`."""
    performs_io: bool
    """Prints, reads files, asks the clock or a random generator."""
    calls_unknown: bool
    """Calls something that could not be resolved, so anything may happen."""
    returned: frozenset[str]
    """Parameters that the result may share contents with."""

    @property
    def pure(self) -> bool:
        """True where a call can be repeated or dropped without a visible difference."""
        return not (
            self.writes or self.writes_globals or self.performs_io or self.calls_unknown
        )


@dataclass(frozen=True, slots=True)
class Facts:
    """What the analyses found, over the whole program."""

    program: Program
    types: Mapping[ast.expr, Type]
    """The type of each expression, where it is reached, in its flow."""
    signatures: Mapping[str, Signature]
    """By function name."""
    locals: Mapping[str, Mapping[str, Type]]
    """By function name, then variable: the join over all its bindings."""
    fields: Mapping[str, Mapping[str, Type]]
    """By class name, then attribute."""
    callees: Mapping[ast.Call, Callee]
    constants: Mapping[ast.expr, Constant]
    """Names and attributes that stand for a module-level constant bound once in the whole
    program and never rebound, and what they are worth."""
    effects: Mapping[str, Effects]
    diagnostics: tuple[Diagnostic, ...]
