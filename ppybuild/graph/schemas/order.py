"""The order in which torch's bindings try the overloads of a name.

The same as torchgen's `sort_overloads`: by the text of the signature, then a tensor before
a number, an int before a list of ints. A test compares it with torchgen over all names.
"""

from __future__ import annotations

from collections.abc import Sequence

from ppybuild.graph.schemas.records import Argument, Operator, SchemaType

_SPELLINGS = {"int": "int64_t", "float": "double", "str": "c10::string_view"}
_LISTS = {
    "int": "IntArrayRef",
    "SymInt": "SymIntArrayRef",
    "Tensor": "TensorList",
    "Scalar": "ScalarList",
}
_DEFAULTS = {"True": "true", "False": "false", "Mean": "at::Reduction::Mean"}


def python_order(overloads: Sequence[Operator], *, method: bool) -> tuple[Operator, ...]:
    """The functional and in-place overloads in the order in which they are tried."""
    outs = [operator for operator in overloads if operator.has_out]
    ordered = sorted(
        (operator for operator in overloads if not operator.has_out),
        key=lambda operator: _signature(operator, outs, method),
    )
    later = {
        i: {j for j, other in enumerate(ordered) if _is_smaller(operator, other, method)}
        for i, operator in enumerate(ordered)
    }
    # A topological sort that keeps the textual order where nothing else decides.
    ids = [i for i in later if not later[i]]
    waiting = {i: before for i, before in later.items() if before}
    for done in ids:
        for i in sorted(waiting):
            waiting[i].discard(done)
            if not waiting[i]:
                del waiting[i]
                ids.append(i)
    return tuple(ordered[i] for i in ids)


def _parameters(operator: Operator, method: bool) -> list[Argument]:
    return [
        argument
        for argument in operator.arguments
        if not (method and argument.name == "self")
        and not (argument.type.writes and argument.keyword_only)
    ]


def _is_smaller(first: Operator, second: Operator, method: bool) -> bool:
    """Whether `second` must be tried before `first`."""
    one, two = _parameters(first, method), _parameters(second, method)
    if len(one) != len(two):
        return False
    pairs = [(str(a.type), str(b.type)) for a, b in zip(one, two, strict=True)]
    return any(a != b for a, b in pairs) and all(a == b or _goes_after(a, b) for a, b in pairs)


def _goes_after(one: str, two: str) -> bool:
    return (
        (one == "Scalar" and two == "Tensor")
        or (one == "Scalar?" and two == "Tensor?")
        or (one == "int[]" and two in ("int", "int?"))
        or (one == "Tensor[]" and "[]" in two)
        or (one == "SymInt[]" and two == "int[]")
        or (one in ("SymInt", "int") and two == "Tensor")
    )


def _signature(operator: Operator, outs: Sequence[Operator], method: bool) -> str:
    parameters = _parameters(operator, method)
    texts = [_parameter(a, method) for a in parameters]
    named = sum(not argument.keyword_only for argument in parameters)
    written = _outputs(operator, outs)
    if written == 1:
        texts.append("Tensor out=None")
    elif written > 1:
        texts.append(f"TensorList[{written}] out=None")
    if len(texts) > named:
        texts.insert(named, "*")
    return f"{operator.name}({', '.join(texts)})"


def _outputs(operator: Operator, outs: Sequence[Operator]) -> int:
    """How many outputs the `out=` form of this overload has; 0 where there is none."""
    wanted = [(a.name, str(a.type)) for a in operator.arguments]
    for out in outs:
        inputs = [(a.name, str(a.type)) for a in out.arguments if not a.type.writes]
        if inputs == wanted:
            return len(out.arguments) - len(inputs)
    return 0


def _parameter(argument: Argument, method: bool) -> str:
    name = argument.name
    if name == "self" and str(argument.type) == "Tensor" and not method:
        name = "input"
    text = f"{_spelling(argument.type)} {name}"
    if argument.default is not None:
        text += "=" + _DEFAULTS.get(argument.default, argument.default)
    return text


def _spelling(type: SchemaType) -> str:
    base = _SPELLINGS.get(type.base, type.base)
    if type.is_list:
        size = "" if type.size is None else f"[{type.size}]"
        if type.base == "bool":
            base = f"::std::array<bool,{type.size}>"
        elif type.item_optional:
            base = "c10::List<::std::optional<Tensor>>"
        else:
            base = _LISTS.get(type.base, f"ArrayRef<{base}>") + size
    return base + ("?" if type.optional else "")
