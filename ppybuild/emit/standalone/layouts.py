"""The structures of tuples in C, and the tables by which the runtime knows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ppybuild.emit.standalone.kinds import TupleOf, c_type, is_flat, layout, letters


def tuple_declarations(kinds: Iterable[TupleOf]) -> Iterator[str]:
    """Each structure once, behind those that it holds."""
    by_letters = {letters(kind): kind for kind in _with_inner(kinds)}
    for name, kind in sorted(by_letters.items(), key=lambda each: (_height(each[1]), each[0])):
        fields = " ".join(f"{c_type(item)} p{at};" for at, item in enumerate(kind.items))
        yield f"typedef struct {{ {fields or 'char none;'} }} ppy_{name};"
        parts = ", ".join(
            f"{{offsetof(ppy_{name}, p{at}), {layout(item)}, NULL}}"
            for at, item in enumerate(kind.items)
        )
        if parts:
            yield f"static const ppy_part ppy_P_{name}[] = {{{parts}}};"
        plain = "true" if is_flat(kind) else "false"
        yield (
            f"static const ppy_layout ppy_L_{name} = {{PPY_SHAPE_TUPLE, sizeof(ppy_{name}), "
            f"{plain}, {len(kind.items)}, {f'ppy_P_{name}' if parts else 'NULL'}}};"
        )


def _with_inner(kinds: Iterable[TupleOf]) -> set[TupleOf]:
    found: set[TupleOf] = set()
    pending = list(kinds)
    while pending:
        kind = pending.pop()
        if kind not in found:
            found.add(kind)
            pending += [item for item in kind.items if isinstance(item, TupleOf)]
    return found


def _height(kind: TupleOf) -> int:
    return 1 + max(
        (_height(item) for item in kind.items if isinstance(item, TupleOf)), default=0
    )
