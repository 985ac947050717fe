"""E1301, E1303: values that contradict what is declared, and uses that no value allows."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ppybuild.diagnostics import Diagnostic
from ppybuild.graph.check.context import Context
from ppybuild.graph.check.place import Place, is_caught
from ppybuild.graph.lattice import fits, members_of, show
from ppybuild.graph.library import Argument
from ppybuild.graph.syntax import children
from ppybuild.graph.types import (
    NONE,
    Array,
    Collection,
    Dictionary,
    Function,
    Literal,
    Module,
    Never,
    Scalar,
    Tuple,
    Type,
    Unknown,
)

CONCRETE = frozenset({"list", "tuple", "set", "frozenset", "dict", "range"})


def contradicts(found: Type, wanted: Type) -> bool:
    """True where no value of the type `found` is one of `wanted`."""
    if isinstance(found, Unknown | Never) or isinstance(wanted, Unknown | Never):
        return False
    parts = [(one, other) for one in members_of(found) for other in members_of(wanted)]
    return bool(parts) and all(
        fits(one, other) is False or differ(one, other) for one, other in parts
    )


def differ(found: Type, wanted: Type) -> bool:
    """Two kinds of built-in values that have no value in common."""
    first, second = kind_of(found), kind_of(wanted)
    return first is not None and second is not None and first != second


def kind_of(kind: Type) -> str | None:
    match kind:
        case Collection(kind=name) | Dictionary(kind=name):
            return name if name in CONCRETE else None
        case Tuple():
            return "tuple"
        case Scalar(name="int" | "float" | "bool" | "complex"):
            return "number"
        case Scalar(name=name) | Literal(base=Scalar(name=name)):
            return "number" if name in ("int", "float", "bool", "complex") else name
        case _:
            return None


def check_annotated(context: Context, place: Place, node: ast.AST) -> Iterator[Diagnostic]:
    """`name: type = value`"""
    assert isinstance(node, ast.AnnAssign)
    if node.value is None or not isinstance(node.target, ast.Name) or place.function is None:
        return
    declared = context.facts.types.get(node.target)
    found = context.type(node.value)
    local = context.facts.locals.get(place.function.name, {}).get(node.target.id)
    wanted = annotation_type(node.annotation) or None
    if wanted is None or (declared is None and local is None):
        return
    if contradicts(found, wanted) and context.sure(place, node.value):
        yield context.report(
            "E1301",
            f"`{node.target.id}` is declared `{show(wanted)}`",
            place,
            node.value,
            label=show(found),
            help="give a value of the declared type, or declare the type that is meant",
        )


def is_written_out(context: Context, place: Place, node: ast.expr) -> bool:
    """True for a tuple's display, and a variable that holds such: what a function is declared
    to return, `tuple[Tensor]`, is often meant for a tuple of any length."""
    if isinstance(node, ast.Tuple):
        return not any(isinstance(each, ast.Starred) for each in node.elts)
    if not isinstance(node, ast.Name) or place.function is None or place.nested:
        return False
    sources = context.certainty.bindings_of(place.function.node).get(node.id, [])
    shown = bool(sources) and all(isinstance(each, ast.Tuple) for each in sources)
    return shown and context.sure(place, node)


def check_unpacking(context: Context, place: Place, node: ast.AST) -> Iterator[Diagnostic]:
    """`a, b = value` of a tuple of another length."""
    assert isinstance(node, ast.Assign)
    found = context.type(node.value)
    if not isinstance(found, Tuple) or place.conditional or is_caught(place, "ValueError"):
        return
    for target in node.targets:
        if not isinstance(target, ast.Tuple | ast.List) or any(
            isinstance(each, ast.Starred) for each in target.elts
        ):
            continue
        names, values = len(target.elts), len(found.items)
        if names != values and is_written_out(context, place, node.value):
            yield context.report(
                "E1301",
                f"{values} value{'s' * (values != 1)} for {names} name{'s' * (names != 1)}",
                place,
                node.value,
                label=show(found),
                help="give each value a name; `_` for one that is not used",
            )


SCALAR_NAMES = {
    name: Scalar(name) for name in ("int", "float", "bool", "complex", "str", "bytes")
}


def annotation_type(node: ast.expr) -> Type | None:
    """The type that an annotation names, for the built-in ones."""
    match node:
        case ast.Name(id=name):
            return SCALAR_NAMES.get(name)
        case ast.Constant(value=None):
            return NONE
        case ast.Constant(value=str(name)):
            return SCALAR_NAMES.get(name)
        case _:
            return None


def check_return(context: Context, place: Place, node: ast.AST) -> Iterator[Diagnostic]:
    """`return value` against the declared result."""
    assert isinstance(node, ast.Return)
    function = place.function
    if function is None or isinstance(function.node, ast.AsyncFunctionDef):
        return
    signature = context.facts.signatures.get(function.name)
    if signature is None or not signature.result_declared or is_generator(function.node):
        return
    if function.node.decorator_list and any(
        "contextmanager" in ast.unparse(one) for one in function.node.decorator_list
    ):
        return
    found = NONE if node.value is None else context.type(node.value)
    if node.value is not None and not context.sure(place, node.value):
        return
    if contradicts(found, signature.result):
        yield context.report(
            "E1303",
            f"`{function.node.name}` is declared to return `{show(signature.result)}`",
            place,
            node.value or node,
            label=show(found),
            help=f"return `{show(signature.result)}`, or declare `-> {show(found)}`",
        )


def is_generator(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    pending: list[ast.AST] = list(node.body)
    while pending:
        inner = pending.pop()
        if isinstance(inner, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            pending.extend(children(inner))
    return False


def check_item(context: Context, place: Place, node: ast.AST) -> Iterator[Diagnostic]:
    """`value[index]` of a value that has no items."""
    assert isinstance(node, ast.Subscript)
    owner = context.type(node.value)
    if not isinstance(owner, Scalar | Module | Function | Collection | Tuple | Array):
        return
    if owner == NONE or place.conditional or is_caught(place, "TypeError"):
        return
    index = context.type(node.slice)
    refused = context.library.item(owner, Argument(index)) is None
    sure = refused and context.sure(place, node.value)
    if sure and (not has_items(owner) or context.sure(place, node.slice)):
        yield context.report(
            "E1302",
            f"`{show(owner)}` has no item `{ast.unparse(node.slice)}`"
            if has_items(owner)
            else f"`{show(owner)}` has no items",
            place,
            node,
            label=show(owner),
        )


def has_items(kind: Type) -> bool:
    if isinstance(kind, Scalar):
        return kind.name in ("str", "bytes")
    return isinstance(kind, Tuple | Array) or (
        isinstance(kind, Collection) and kind.kind in ("list", "tuple", "range")
    )


def check_iteration(context: Context, place: Place, node: ast.AST) -> Iterator[Diagnostic]:
    """`for x in value` over what cannot be iterated."""
    assert isinstance(node, ast.For)
    kind = context.type(node.iter)
    if not isinstance(kind, Scalar | Module | Function) or kind == NONE:
        return
    if place.conditional or is_caught(place, "TypeError"):
        return
    if context.library.iterate(kind) is None and context.sure(place, node.iter):
        yield context.report(
            "E1302",
            f"`{show(kind)}` cannot be iterated over",
            place,
            node.iter,
            label=show(kind),
            help=f"did you mean `range({ast.unparse(node.iter)})`?"
            if kind == Scalar("int")
            else "",
        )
