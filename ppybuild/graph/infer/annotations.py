"""From annotations to types."""

from __future__ import annotations

import ast
from collections.abc import Callable as Lookup

from ppybuild.graph.lattice import DATA_CLASSES, join_all, optional
from ppybuild.graph.types import (
    BOOL,
    BYTES,
    COMPLEX,
    FLOAT,
    INT,
    NEVER,
    NONE,
    STR,
    UNKNOWN,
    Buffer,
    Callable,
    Class,
    Collection,
    Dictionary,
    Instance,
    Literal,
    Scalar,
    Tensor,
    Tuple,
    Type,
)

CLASSES: dict[str, Type] = {
    "builtins.int": INT,
    "builtins.float": FLOAT,
    "builtins.bool": BOOL,
    "builtins.complex": COMPLEX,
    "builtins.str": STR,
    "builtins.bytes": BYTES,
    "builtins.list": Collection("list", UNKNOWN),
    "builtins.tuple": Collection("tuple", UNKNOWN),
    "builtins.set": Collection("set", UNKNOWN),
    "builtins.frozenset": Collection("frozenset", UNKNOWN),
    "builtins.range": Collection("range", INT),
    "builtins.dict": Dictionary("dict", UNKNOWN, UNKNOWN),
    "torch.Tensor": Tensor(),
    "torch.nn.Parameter": Tensor(parameter=True),
}
"""What an instance of each class is in the algebra."""

ALIASES = {
    "typing.List": "builtins.list",
    "typing.Tuple": "builtins.tuple",
    "typing.Set": "builtins.set",
    "typing.FrozenSet": "builtins.frozenset",
    "typing.Dict": "builtins.dict",
    "typing.Type": "builtins.type",
    "torch._tensor.Tensor": "torch.Tensor",
    "torch.nn.parameter.Parameter": "torch.nn.Parameter",
    "torch.nn.modules.Parameter": "torch.nn.Parameter",
    "types.NoneType": "None",
}
COLLECTIONS = {
    "builtins.list": "list",
    "builtins.set": "set",
    "builtins.frozenset": "frozenset",
} | {
    f"{module}.{name}": kind
    for module in ("typing", "collections.abc")
    for name, kind in {
        "Sequence": "Sequence",
        "Iterable": "Iterable",
        "Iterator": "Iterator",
    }.items()
}
MAPPINGS = {
    "builtins.dict": "dict",
    "typing.Mapping": "Mapping",
    "collections.abc.Mapping": "Mapping",
}
BUFFER_MARKS = {
    "builtins.float": "f64",
    "builtins.int": "i64",
    **{f"ppy.{name}": name for name in ("f32", "i32", "u8", "i8")},
}
TRANSPARENT = frozenset(
    {"Final", "Annotated", "ClassVar", "Required", "NotRequired", "ReadOnly"}
)

Names = Lookup[[ast.expr], str | None]
"""The dotted name that an expression in an annotation stands for."""


def read_annotation(node: ast.expr | None, names: Names) -> Type:
    """The type that an annotation says; `UNKNOWN` for what the algebra does not hold."""
    match node:
        case None:
            return UNKNOWN
        case ast.Constant(value=None):
            return NONE
        case ast.Constant(value=str() as text):
            try:
                return read_annotation(ast.parse(text.strip(), mode="eval").body, names)
            except (SyntaxError, ValueError):
                return UNKNOWN
        case ast.BinOp(op=ast.BitOr()):
            return join_all(
                (read_annotation(node.left, names), read_annotation(node.right, names))
            )
        case ast.Subscript():
            return _subscript(node, names)
        case ast.Name() | ast.Attribute():
            return named_type(names(node))
    return UNKNOWN


def named_type(name: str | None) -> Type:
    """An instance of the class with that canonical name."""
    if name is None:
        return UNKNOWN
    name = ALIASES.get(name, name)
    if name in CLASSES:
        return CLASSES[name]
    if name in COLLECTIONS:
        return Collection(COLLECTIONS[name], UNKNOWN)
    if name in MAPPINGS:
        return Dictionary(MAPPINGS[name], UNKNOWN, UNKNOWN)
    if name in DATA_CLASSES:
        return Collection(DATA_CLASSES[name], UNKNOWN)
    last = name.rpartition(".")[2]
    if name.startswith(("typing.", "typing_extensions.")):
        if last in ("NoReturn", "Never"):
            return NEVER
        return STR if last in ("LiteralString", "Text") else UNKNOWN
    if name == "None":
        return NONE
    return UNKNOWN if name == "builtins.object" else Instance(name)


def _subscript(node: ast.Subscript, names: Names) -> Type:
    found = names(node.value)
    if found is None:
        return UNKNOWN
    name = ALIASES.get(found, found)
    last = name.rpartition(".")[2]
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name in COLLECTIONS:
        return Collection(COLLECTIONS[name], read_annotation(inner[0], names))
    if name in DATA_CLASSES:
        return named_type(name)  # a loader's batches are found where it is made
    if name in MAPPINGS and len(inner) == 2:
        return Dictionary(
            MAPPINGS[name], read_annotation(inner[0], names), read_annotation(inner[1], names)
        )
    if name == "builtins.tuple":
        return _tuple(inner, names)
    if name in ("ppy.Buffer", "ppy.buffer.Buffer"):
        mark = names(inner[0])
        return Buffer(BUFFER_MARKS[mark]) if mark in BUFFER_MARKS else UNKNOWN
    if last == "Optional":
        return optional(read_annotation(inner[0], names))
    if last == "Union":
        return join_all(read_annotation(part, names) for part in inner)
    if last == "Literal":
        return join_all(map(_literal, inner))
    if last in TRANSPARENT:
        return read_annotation(inner[0], names)
    if last == "Callable" and len(inner) == 2:
        given = inner[0]
        parameters = (
            tuple(read_annotation(part, names) for part in given.elts)
            if isinstance(given, ast.List)
            else None
        )
        return Callable(parameters, read_annotation(inner[1], names))
    if last in ("Generator", "Iterator", "Iterable"):
        return Collection("Iterator", read_annotation(inner[0], names))
    if name == "builtins.type":
        instance = read_annotation(inner[0], names)
        return Class(instance.name) if isinstance(instance, Instance) else UNKNOWN
    return UNKNOWN


def _tuple(inner: list[ast.expr], names: Names) -> Type:
    if len(inner) == 2 and isinstance(inner[1], ast.Constant) and inner[1].value is ...:
        return Collection("tuple", read_annotation(inner[0], names))
    if len(inner) == 1 and isinstance(inner[0], ast.Tuple) and not inner[0].elts:
        return Tuple(())
    return Tuple(tuple(read_annotation(part, names) for part in inner))


_BASES: dict[type, Scalar] = {int: INT, str: STR, bool: BOOL, bytes: BYTES}


def _literal(node: ast.expr) -> Type:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = getattr(node.operand, "value", None)
        return Literal(INT, (-value,)) if isinstance(value, int) else UNKNOWN
    if not isinstance(node, ast.Constant):
        return UNKNOWN
    if node.value is None:
        return NONE
    value = node.value
    if isinstance(value, int | str | bool | bytes):
        return Literal(_BASES[type(value)], (value,))
    return UNKNOWN
