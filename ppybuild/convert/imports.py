"""Adds imports where they belong: standard library, then third party with `ppy`, then own."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from ppybuild.convert.annotations import Names

STANDARD, THIRD_PARTY, OWN = range(3)


@dataclass(frozen=True, slots=True)
class Addition:
    """An import to add: `import module`, or `from module import names`."""

    module: str
    names: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        if not self.names:
            return f"import {self.module}"
        return f"from {self.module} import {', '.join(self.names)}"


def add_imports(tree: cst.Module, names: Names) -> cst.Module:
    """The module with what `names` asks for imported."""
    plain = [Addition(name) for name, dotted in names.imports.items() if dotted is None]
    wanted: dict[str, list[str]] = {}
    for name, dotted in names.imports.items():
        if dotted is not None:
            wanted.setdefault(dotted.rpartition(".")[0], []).append(name)
    members = [Addition(module, tuple(sorted(found))) for module, found in wanted.items()]
    body = list(tree.body)
    for addition in sorted(
        (*plain, *members), key=lambda found: (bool(found.names), found.module)
    ):
        body = _insert(body, addition, names.own)
    if names.guarded:
        body = _insert_guarded(body, names)
    return tree.with_changes(body=body)


Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement


def _insert(
    body: Sequence[Statement], addition: Addition, own: frozenset[str]
) -> list[Statement]:
    merged = _merge(body, addition)
    if merged is not None:
        return merged
    section = _section(addition.module, own)
    key = (bool(addition.names), addition.module)
    start = _first_import(body)
    place, previous = start, -1
    for position in range(start, len(body)):
        found = _imported(body[position])
        if found is None:
            break
        there, found_key = _section(found.module, own), (bool(found.names), found.module)
        if (there, found_key) <= (section, key):
            place, previous = position + 1, there
    line = cst.parse_module(addition.text + "\n").body[0]
    assert isinstance(line, cst.SimpleStatementLine)
    after = _imported(body[place]) if place < len(body) else None
    changed = list(body)
    if previous == -1:
        line, changed = _first_of_file(
            line,
            changed,
            place,
            same=after is not None and _section(after.module, own) == section,
        )
    elif previous != section:
        line = line.with_changes(leading_lines=[cst.EmptyLine(indent=False)])
    if after is not None and _section(after.module, own) != section:
        changed[place] = _separated(changed[place])
    changed.insert(place, line)
    return changed


def _first_of_file(
    line: cst.SimpleStatementLine, body: list[Statement], place: int, *, same: bool
) -> tuple[cst.SimpleStatementLine, list[Statement]]:
    """The new line stands before the first import: it takes over its leading lines."""
    if place >= len(body):
        return line, body
    leading = body[place].leading_lines
    if _imported(body[place]) is None:
        blank = [cst.EmptyLine(indent=False)] if place else []
        return line.with_changes(leading_lines=blank), _with(
            body, place, _separated(body[place])
        )
    own = [] if same else [cst.EmptyLine(indent=False)]
    changed = body[place].with_changes(leading_lines=own)
    return line.with_changes(leading_lines=leading), _with(body, place, changed)


def _with(body: list[Statement], place: int, statement: Statement) -> list[Statement]:
    return [*body[:place], statement, *body[place + 1 :]]


def _separated(statement: Statement) -> Statement:
    """The statement with at least the blank lines before it that its kind wants."""
    wanted = 2 if isinstance(statement, cst.FunctionDef | cst.ClassDef) else 1
    leading = list(statement.leading_lines)
    while wanted and leading and leading[0].comment is None:
        wanted, leading = wanted - 1, leading[1:]
    blank = [cst.EmptyLine(indent=False)] * wanted
    return statement.with_changes(leading_lines=[*blank, *statement.leading_lines])


def _merge(body: Sequence[Statement], addition: Addition) -> list[Statement] | None:
    """Add names to a `from module import ...` that is there already."""
    for position, statement in enumerate(body):
        found = _imported(statement)
        if not addition.names or found is None or found.module != addition.module:
            continue
        assert isinstance(statement, cst.SimpleStatementLine)
        line = statement.body[0]
        if not isinstance(line, cst.ImportFrom) or isinstance(line.names, cst.ImportStar):
            continue
        aliases = {
            cst.Module([]).code_for_node(alias.with_changes(comma=cst.MaybeSentinel.DEFAULT))
            for alias in line.names
        }
        spelled = sorted(aliases | set(addition.names), key=str.lower)
        text = f"from {found.module} import {', '.join(spelled)}"
        fresh = cst.parse_module(text + "\n").body[0]
        assert isinstance(fresh, cst.SimpleStatementLine)
        changed = list(body)
        changed[position] = statement.with_changes(body=fresh.body)
        return changed
    return None


def _insert_guarded(body: Sequence[Statement], names: Names) -> list[Statement]:
    place = _first_import(body)
    while place < len(body) and _imported(body[place]) is not None:
        place += 1
    flag = next(
        (local for local, dotted in names.bound.items() if dotted == "typing.TYPE_CHECKING"),
        "TYPE_CHECKING",
    )
    lines = "".join(
        f"    from {dotted.rpartition('.')[0]} import {name}\n"
        for name, dotted in sorted(names.guarded.items(), key=lambda found: found[1])
    )
    block = _separated(cst.parse_module(f"if {flag}:\n{lines}").body[0])
    after = [_separated(body[place])] if place < len(body) else []
    return [*body[:place], block, *after, *body[place + 1 :]]


def _first_import(body: Sequence[Statement]) -> int:
    """Where imports may start: after the docstring and `from __future__`."""
    place = 0
    if body and _is_docstring(body[0]):
        place = 1
    while place < len(body):
        found = _imported(body[place])
        if found is None or found.module != "__future__":
            return place
        place += 1
    return place


def _is_docstring(statement: Statement) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    first = statement.body[0]
    return isinstance(first, cst.Expr) and isinstance(
        first.value, cst.SimpleString | cst.ConcatenatedString
    )


def _imported(statement: Statement) -> Addition | None:
    """What an import statement imports; None for any other statement."""
    if not isinstance(statement, cst.SimpleStatementLine) or not statement.body:
        return None
    match statement.body[0]:
        case cst.Import(names=names):
            return Addition(_dotted(names[0].name))
        case cst.ImportFrom(module=module, relative=relative):
            dots = "." * len(relative)
            return Addition(dots + (_dotted(module) if module else ""), ("",))
    return None


def _dotted(node: cst.BaseExpression) -> str:
    return cst.Module([]).code_for_node(node)


def _section(module: str, own: frozenset[str]) -> int:
    """The group an import stands in; `own` are the project's top-level modules."""
    top = module.partition(".")[0]
    if not top or top in own:
        return OWN
    return STANDARD if top in sys.stdlib_module_names else THIRD_PARTY
