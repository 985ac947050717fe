"""Print the work on weights between the passes over rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from ppybuild.emit.tensors.fused.elements import ELEMENTS
from ppybuild.emit.tensors.fused.ir import (
    Column,
    Count,
    Element,
    Load,
    Operand,
    Operation,
    Program,
    Spread,
    Weight,
    Whole,
    operands,
)
from ppybuild.emit.tensors.fused.target import Vectors


def count_of(program: Program, i: int) -> int:
    space = program.spaces[i]
    assert isinstance(space, Weight)
    return space.count


@final
@dataclass(frozen=True, slots=True)
class WeightContext:
    program: Program
    vectors: Vectors
    pointers: Mapping[int, str]
    readers: Mapping[int, frozenset[int]]
    """The operations that read each value; a value that the region gives reads itself."""


def grouped(program: Program, ids: tuple[int, ...]) -> list[tuple[int | None, list[int]]]:
    """Elements of one size share a loop where their operands allow it; None: on its own."""
    groups: list[tuple[int | None, list[int]]] = []
    known_after: dict[int, int] = {}
    kinds = program.operations
    for i in ids:
        operation = kinds[i]
        earliest = max((known_after.get(o, 0) for o in operands(operation)), default=0)
        if not isinstance(operation, Element | Whole):
            groups.append((None, [i]))
            known_after[i] = len(groups)
            continue
        of = operation.weight if isinstance(operation, Whole) else i
        size = count_of(program, of)
        fitting = (k for k in range(earliest, len(groups)) if groups[k][0] == size)
        place = next(fitting, len(groups))
        if place == len(groups):
            groups.append((size, []))
        groups[place][1].append(i)
        # A number read by a wider loop, and a sum, is known only after its own loop.
        known_after[i] = place + 1 if size == 1 or isinstance(operation, Whole) else place
    return groups


def emit_section(context: WeightContext, ids: tuple[int, ...]) -> list[str]:
    kinds = context.program.operations
    lines: list[str] = []
    for extent, body in grouped(context.program, ids):
        if extent is None:
            lines += _emit_alone(context, body[0], kinds[body[0]])
        elif extent:
            lines += _emit_loop(context, extent, body)
        else:
            lines += [
                f"*{context.pointers[i]} = 0;" for i in body if isinstance(kinds[i], Whole)
            ]
    return lines


def _emit_alone(context: WeightContext, i: int, operation: Operation) -> list[str]:
    out = context.pointers[i]
    match operation:
        case Load(place, "float"):
            return [f"*{out} = (ppy_real)*(const double *)inputs[{place}];"]
        case Load(place, "int"):
            return [f"*{out} = (ppy_real)*(const int64_t *)inputs[{place}];"]
        case Load():
            return []
        case Count(factor):
            return [f"*{out} = (ppy_real)(batch * {factor});"]
        case Column(width):
            return [f"for (int64_t j = 0; j < {width}; j++) {out}[j] = (ppy_real)j;"]
        case Spread(weight, strides):
            return _emit_spread(context, i, weight, strides)
        case _:
            raise AssertionError(operation)


def _emit_spread(
    context: WeightContext, i: int, weight: int, strides: tuple[int, ...]
) -> list[str]:
    space = context.program.spaces[i]
    assert isinstance(space, Weight)
    lines, target, step = [], [], 1
    for depth in reversed(range(len(strides))):
        target.append(f"i{depth} * {step}")
        step *= space.shape[depth]
    for depth, size in enumerate(space.shape):
        lines.append(
            "    " * depth + f"for (int64_t i{depth} = 0; i{depth} < {size}; i{depth}++)"
        )
    source = " + ".join(f"i{d} * {s}" for d, s in enumerate(strides) if s) or "0"
    place = " + ".join(reversed(target)) or "0"
    lines.append(
        "    " * len(strides)
        + f"{context.pointers[i]}[{place}] = {context.pointers[weight]}[{source}];"
    )
    return lines


def _emit_loop(context: WeightContext, size: int, ids: list[int]) -> list[str]:
    kinds = context.program.operations
    inside = {i for i in ids if isinstance(kinds[i], Element)} if size > 1 else set()
    read: dict[int, None] = {}
    for i in ids:
        for operand in operands(kinds[i]):
            if operand not in inside:
                read[operand] = None
    numbers = [i for i in read if count_of(context.program, i) == 1]
    wide = [i for i in read if count_of(context.program, i) != 1]
    if size == 1:
        return [line for i in ids for line in _emit_number(context, i)]
    lines = ["{"]
    lines += [f"    const ppy_vec e{i} = ppy_set(*{context.pointers[i]});" for i in numbers]
    lines += [f"    ppy_vec s{i} = {{0}};" for i in ids if isinstance(kinds[i], Whole)]
    lines.append(f"    for (int64_t i = 0; i < {size}; i += PPY_LANES) {{")
    lines += [
        f"        const ppy_vec e{i} = ppy_load_upto({context.pointers[i]} + i, {size} - i);"
        for i in wide
    ]
    for i in ids:
        operation = kinds[i]
        if isinstance(operation, Whole):
            lines.append(f"        s{i} += ppy_first(e{operation.weight}, {size} - i, 0);")
        else:
            note = context.program.notes[i]
            lines.append(
                f"        const ppy_vec e{i} = {_spell(context, operation)}; /* {note} */"
            )
            lines.append(
                f"        ppy_store_upto({context.pointers[i]} + i, e{i}, {size} - i);"
            )
    lines.append("    }")
    lines += [
        f"    *{context.pointers[i]} = ppy_lanes_sum(s{i});"
        for i in ids
        if isinstance(kinds[i], Whole)
    ]
    return [*lines, "}"]


def _emit_number(context: WeightContext, i: int) -> list[str]:
    operation = context.program.operations[i]
    if isinstance(operation, Whole):
        return [f"*{context.pointers[i]} = *{context.pointers[operation.weight]};"]
    assert isinstance(operation, Element)
    text = ELEMENTS[operation.name].format(
        *(
            f"ppy_set({context.vectors.literal(v)})"
            if isinstance(v, float)
            else f"ppy_set(*{context.pointers[v]})"
            for v in operation.operands
        )
    )
    return [f"*{context.pointers[i]} = ({text})[0]; /* {context.program.notes[i]} */"]


def _spell(context: WeightContext, operation: Operation) -> str:
    assert isinstance(operation, Element)

    def one(value: Operand) -> str:
        if isinstance(value, float):
            return f"ppy_set({context.vectors.literal(value)})"
        return f"e{value}"

    return ELEMENTS[operation.name].format(*map(one, operation.operands))
