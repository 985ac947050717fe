"""Adds imports where they belong: standard library, then third party with `ppy`, then own."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from ppybuild.convert.names import Names

STANDARD, THIRD_PARTY, OWN = range(3)

Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement


@dataclass(frozen=True, slots=True)
class Addition:
    """An import to add: `import module`, or `from module import names`."""

    module: str
    names: tuple[str, ...] = ()
    alias: str = ""

    @property
    def text(self) -> str:
        if self.names:
            return f"from {self.module} import {', '.join(self.names)}"
        return f"import {self.module}" + (f" as {self.alias}" if self.alias else "")

    @property
    def key(self) -> tuple[bool, str]:
        return bool(self.names), self.module


def add_imports(tree: cst.Module, names: Names) -> cst.Module:
    """The module with what `names` asks for imported."""
    body = list(tree.body)
    for addition in additions(names.imports):
        body = _insert(body, addition, names.own)
    if names.guarded:
        body = _insert_guarded(body, names, tree.default_indent)
    return tree.with_changes(body=body)


def additions(table: dict[str, tuple[str, str]]) -> list[Addition]:
    """One statement for each module, in the order in which they are written."""
    plain: list[Addition] = []
    members: dict[str, list[str]] = {}
    for local, (module, name) in table.items():
        if name:
            members.setdefault(module, []).append(
                name if local == name else f"{name} as {local}"
            )
        else:
            plain.append(Addition(module, alias="" if local == module else local))
    grouped = (
        Addition(module, tuple(sorted(found, key=str.lower)))
        for module, found in members.items()
    )
    return sorted((*plain, *grouped), key=lambda found: found.key)


def _insert(
    body: Sequence[Statement], addition: Addition, own: frozenset[str]
) -> list[Statement]:
    merged = _merge(body, addition)
    if merged is not None:
        return merged
    section = _section(addition.module, own)
    start = _first_import(body)
    last = _first_own(body, own) if addition.module == "ppy" else len(body)
    place, previous = start, -1
    for position in range(start, last):
        found = _imported(body[position])
        if found is None:
            break
        there = _section(found.module, own)
        if (there, found.key) <= (section, addition.key):
            place, previous = position + 1, there
    line = cst.parse_module(addition.text + "\n").body[0]
    assert isinstance(line, cst.SimpleStatementLine)
    after = _imported(body[place]) if place < len(body) else None
    same = after is not None and _section(after.module, own) == section
    changed = list(body)
    if previous == -1:
        line, changed = _first_of_file(line, changed, place, same=same)
    elif previous != section:
        line = line.with_changes(leading_lines=[cst.EmptyLine(indent=False)])
        if same and all(found.comment is None for found in changed[place].leading_lines):
            changed[place] = changed[place].with_changes(leading_lines=[])
    if previous != -1 and place < len(changed) and not same:
        changed[place] = _separated(changed[place])
    changed.insert(place, line)
    return changed


def _first_of_file(
    line: cst.SimpleStatementLine, body: list[Statement], place: int, *, same: bool
) -> tuple[cst.SimpleStatementLine, list[Statement]]:
    """The new line stands before the first import: it takes over its leading lines."""
    if place >= len(body):
        blank = [cst.EmptyLine(indent=False)] if place else []
        return line.with_changes(leading_lines=blank), body
    leading = body[place].leading_lines
    if _imported(body[place]) is None:
        blank = [cst.EmptyLine(indent=False)] if place else []
        return line.with_changes(leading_lines=blank), _with(
            body, place, _separated(body[place])
        )
    own = [] if same else [cst.EmptyLine(indent=False)]
    if any(found.comment is not None for found in leading):
        # A comment stays with the import that it was written for.
        blank = [cst.EmptyLine(indent=False)] if place else []
        changed = body[place].with_changes(leading_lines=[*own, *_unspaced(leading)])
        return line.with_changes(leading_lines=blank), _with(body, place, changed)
    changed = body[place].with_changes(leading_lines=own)
    return line.with_changes(leading_lines=leading), _with(body, place, changed)


def _unspaced(leading: Sequence[cst.EmptyLine]) -> list[cst.EmptyLine]:
    left = list(leading)
    while left and left[0].comment is None:
        left = left[1:]
    return left


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
    """Add names to a one-line `from module import ...` among the imports at the top."""
    for position, statement in enumerate(body):
        if isinstance(statement, cst.FunctionDef | cst.ClassDef) or _annotates(statement):
            return None  # the name would come too late for it
        found = _imported(statement)
        if not addition.names or found is None or found.module != addition.module:
            continue
        assert isinstance(statement, cst.SimpleStatementLine)
        line = statement.body[0]
        if (
            not isinstance(line, cst.ImportFrom)
            or isinstance(line.names, cst.ImportStar)
            or line.lpar is not None
            or len(statement.body) > 1
        ):
            continue
        aliases = {
            _code(alias.with_changes(comma=cst.MaybeSentinel.DEFAULT)) for alias in line.names
        }
        spelled = sorted(aliases | set(addition.names), key=str.lower)
        text = f"from {found.module} import {', '.join(spelled)}"
        fresh = cst.parse_module(text + "\n").body[0]
        assert isinstance(fresh, cst.SimpleStatementLine)
        return _with(list(body), position, statement.with_changes(body=fresh.body))
    return None


def _annotates(statement: Statement) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and any(
        isinstance(line, cst.AnnAssign) for line in statement.body
    )


def _insert_guarded(body: Sequence[Statement], names: Names, indent: str) -> list[Statement]:
    flag = names.member("typing", "TYPE_CHECKING")
    place = max(_first_import(body), _after_import_of(flag.partition(".")[0], body))
    while place < len(body) and _imported(body[place]) is not None:
        place += 1
    lines = "".join(f"{indent}{found.text}\n" for found in additions(names.guarded))
    block = _separated(cst.parse_module(f"if {flag}:\n{lines}").body[0])
    after = [_separated(body[place])] if place < len(body) else []
    return [*body[:place], block, *after, *body[place + 1 :]]


def _first_import(body: Sequence[Statement]) -> int:
    """Where imports may start: after the docstring and `from __future__`."""
    place = 0
    if body and _is_docstring(body[0]):
        place = 1
    for position, statement in enumerate(body):
        found = _imported(statement)
        if found is not None and found.module == "__future__":
            place = position + 1
    return place


def _after_import_of(name: str, body: Sequence[Statement]) -> int:
    """The place after the import at the top level that binds a name."""
    for position, statement in enumerate(body):
        if isinstance(statement, cst.SimpleStatementLine):
            for line in statement.body:
                if isinstance(line, cst.Import | cst.ImportFrom) and not isinstance(
                    line.names, cst.ImportStar
                ):
                    bound = {
                        alias.evaluated_alias or alias.evaluated_name for alias in line.names
                    }
                    if name in bound:
                        return position + 1
    return 0


def _first_own(body: Sequence[Statement], own: frozenset[str]) -> int:
    """Where the first import of a module of the project stands, be it inside `if` or `try`."""
    for position, statement in enumerate(body):
        if isinstance(statement, cst.FunctionDef | cst.ClassDef):
            continue
        for found in _imports_in(statement):
            if found.module != "__future__" and _section(found.module, own) == OWN:
                return position
    return len(body)


def _imports_in(statement: cst.CSTNode) -> list[Addition]:
    pending, found = [statement], []
    while pending:
        node = pending.pop()
        if isinstance(node, cst.SimpleStatementLine):
            for line in node.body:
                imported = _import_of(line)
                if imported is not None:
                    found.append(imported)
        elif not isinstance(node, cst.FunctionDef | cst.BaseExpression):
            pending.extend(node.children)
    return found


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
    return _import_of(statement.body[0])


def _import_of(line: cst.BaseSmallStatement) -> Addition | None:
    match line:
        case cst.Import(names=[first, *_]):
            return Addition(_code(first.name))
        case cst.ImportFrom(module=module, relative=relative):
            dots = "." * len(relative)
            return Addition(dots + (_code(module) if module else ""), ("",))
    return None


def _code(node: cst.CSTNode) -> str:
    return cst.Module([]).code_for_node(node)


def _section(module: str, own: frozenset[str]) -> int:
    """The group an import stands in; `own` are the project's top-level modules."""
    top = module.partition(".")[0]
    if not top or top in own:
        return OWN
    return STANDARD if top in sys.stdlib_module_names else THIRD_PARTY
