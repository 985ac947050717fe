"""From a Python signature to a kernel's parameters."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.lower.stay import Stay
from ppybuild.graph import types
from ppybuild.graph.program import Function, Parameter, Signature

SCALARS: dict[types.Type, ir.Type] = {
    types.INT: ir.Type.I64,
    types.FLOAT: ir.Type.F64,
    types.BOOL: ir.Type.BOOL,
}
ARRAYS = {
    "d": ir.Element.F64,
    "q": ir.Element.I64,
    "f": ir.Element.F32,
    "i": ir.Element.I32,
    "B": ir.Element.U8,
    "b": ir.Element.I8,
}
LISTS: dict[ir.Type, tuple[ir.Element, ir.Holder]] = {
    ir.Type.F64: (ir.Element.F64, "list"),
    ir.Type.I64: (ir.Element.I64, "list"),
    ir.Type.BOOL: (ir.Element.U8, "list of bools"),
}
"""How a list is held, by the type of its items."""
_ONE_OF = (
    "int, float, bool, str, bytes, Buffer[T], Sequence[Buffer[T]], list[T], or a tuple of"
    " scalars"
)


@dataclass(frozen=True, slots=True)
class Undecided:
    """A result that is known only once the body is lowered."""


@dataclass(frozen=True, slots=True)
class NativeSignature:
    """What a caller must know of a native function."""

    parameters: tuple[ir.Parameter, ...]
    result: ir.Result | Undecided
    python: Signature


def lower_signature(function: Function, signature: Signature) -> NativeSignature:
    """The kernel's parameters, and its result as far as annotations tell."""
    parameters = tuple(_parameter(function, each) for each in signature.parameters)
    return NativeSignature(parameters, _result(signature.result), signature)


def _parameter(function: Function, parameter: Parameter) -> ir.Parameter:
    node = argument_node(function, parameter.name)
    if parameter.kind in ("rest", "keywords"):
        star = "*" if parameter.kind == "rest" else "**"
        raise Stay(node, f"`{star}{parameter.name}`", "name the parameters one by one")
    lowered = lower_parameter(parameter.name, parameter.type)
    if lowered is None and function.owner is not None and node is _first(function):
        raise Stay(
            node,
            f"it is a method, and `{parameter.name}` an object",
            "a loop over numbers becomes native in a function of its own, which takes what it"
            " reads of the object as parameters",
        )
    if lowered is None:
        raise Stay(
            node,
            f"parameter `{parameter.name}` is no number, text, buffer or list of numbers",
            f"make it {_ONE_OF}",
        )
    return lowered


def lower_parameter(name: str, type_: types.Type) -> ir.Parameter | None:
    """None where the type has no place in a kernel."""
    match type_:
        case types.Buffer(element):
            return ir.BufferParameter(name, ir.Element(element), False)
        case types.STR | types.Literal(types.STR):
            return ir.BufferParameter(name, ir.Element.STR, False, "str")
        case types.BYTES | types.Literal(types.BYTES):
            return ir.BufferParameter(name, ir.Element.U8, False, "bytes")
        case types.Array(typecode) if typecode in ARRAYS:
            return ir.BufferParameter(name, ARRAYS[typecode], False)
        case types.Collection("list" | "Sequence", item) if item in SCALARS:
            held = LISTS[SCALARS[item]]
            return ir.BufferParameter(name, held[0], False, held[1])
        case types.Collection("Sequence", types.Buffer(element)):
            return ir.GridParameter(name, ir.Element(element), False)
        case types.Tuple(items) if items:
            lowered = [lower_parameter(f"{name}.{at}", each) for at, each in enumerate(items)]
            kept = [each for each in lowered if isinstance(each, _TUPLE_ITEMS)]
            return ir.TupleParameter(name, tuple(kept)) if len(kept) == len(items) else None
    scalar = _scalar(type_)
    return ir.ScalarParameter(name, scalar) if scalar else None


_TUPLE_ITEMS = (ir.ScalarParameter, ir.TupleParameter)


def _scalar(type_: types.Type) -> ir.Type | None:
    return SCALARS.get(type_.base if isinstance(type_, types.Literal) else type_)


def _result(type_: types.Type) -> ir.Result | Undecided:
    if type_ == types.NONE:
        return None
    if isinstance(type_, types.Tuple):
        items = tuple(_result(item) for item in type_.items)
        kept = tuple(each for each in items if isinstance(each, ir.Type | ir.TupleResult))
        return ir.TupleResult(kept) if kept and len(kept) == len(items) else Undecided()
    return _scalar(type_) or Undecided()


def _first(function: Function) -> ast.arg | None:
    args = function.node.args
    return next(iter([*args.posonlyargs, *args.args]), None)


def argument_node(function: Function, name: str) -> ast.AST:
    args = function.node.args
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    return next((each for each in every if each and each.arg == name), function.node)
