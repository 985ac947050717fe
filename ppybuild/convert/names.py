"""What a module can call things, and what has to be imported to do so."""

from __future__ import annotations

import ast
import importlib
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from ppybuild.graph.imports import absolute_name
from ppybuild.graph.library.files import find_module
from ppybuild.graph.program import Facts, Module

NEVER_IMPORTED = frozenset({"antigravity", "this", "__main__", "idlelib", "test"})


@dataclass(frozen=True, slots=True)
class Names:
    """A module's names as conversion may use them; `line` is where an annotation will be
    evaluated, None where it never is."""

    facts: Facts
    module: Module
    trusted: Mapping[str, str]
    """Names that top-level imports bind before the first definition, and nothing else binds
    anywhere in the module: what they stand for."""
    for_types: Mapping[str, str]
    """Names bound below `if TYPE_CHECKING`, and nowhere else."""
    taken: frozenset[str]
    """Every name that the module binds, in any scope."""
    hidden: bool
    """True where a plain new name would reach other modules, or might be overwritten:
    the module is imported by `*`, or imports so."""
    lazy: bool
    """`from __future__ import annotations`"""
    own: frozenset[str]
    """Top-level names of the project's modules."""
    line: int | None = None
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    """To add: local name → module and name in it, "" for the module itself."""
    guarded: dict[str, tuple[str, str]] = field(default_factory=dict)
    """To add under `TYPE_CHECKING`."""

    def at(self, line: int | None) -> Names:
        """As seen from an annotation on this line."""
        return replace(self, line=None if self.lazy else line)

    def plain(self, module: str) -> str:
        """The name of an imported module, to be imported if it is not."""
        return self._known(module) or self._add(self.imports, module, "")

    def member(self, module: str, name: str) -> str:
        """The name of something imported from a module of the standard library or ppy."""
        return self._known(f"{module}.{name}") or self._add(self.imports, module, name)

    def builtin(self, name: str) -> str:
        """The name of a built-in, which the module may use for something else."""
        return f"{self.plain('builtins')}.{name}" if name in self.taken else name

    def of_class(self, dotted: str) -> str | None:
        """How this module spells a class, quoted where it may not be bound yet; None where
        it cannot be named."""
        home, _, name = dotted.rpartition(".")
        if "<" in dotted or "#" in dotted:
            return None
        if home == "builtins":
            return self.builtin(name) if name in _BUILTINS else None
        found = self.facts.program.classes.get(dotted)
        home = found.module if found is not None else home
        path = dotted[len(home) + 1 :]
        if home == self.module.name:
            return path if self._defined_before(path) else self._quoted(path)
        known = self._spelled(dotted)
        if known is not None:
            local, rest = known
            safe = not rest if found is not None else exists(dotted)
            safe = safe and local in self.trusted
            return local + rest if safe else self._quoted(local + rest)
        if home.partition(".")[0] not in self.own and find_module(home) is None:
            return None
        self.member("typing", "TYPE_CHECKING")
        top, _, inner = path.partition(".")
        local = self._find(self.guarded, home, top) or self._add(self.guarded, home, top)
        return self._quoted(f"{local}.{inner}" if inner else local)

    def _quoted(self, text: str) -> str:
        return text if self.line is None else f'"{text}"'

    def _defined_before(self, path: str) -> bool:
        """Whether a class of the module is there, under its own name, on `line`."""
        top = path.partition(".")[0]
        for node in self.module.tree.body:
            if isinstance(node, ast.ClassDef) and node.name == top:
                return self.line is None or (node.end_lineno or node.lineno) < self.line
        return False

    def _known(self, dotted: str) -> str | None:
        for name, stands_for in self.trusted.items():
            if stands_for == dotted:
                return name
        module, _, name = dotted.rpartition(".")
        return self._find(self.imports, dotted, "") or self._find(self.imports, module, name)

    @staticmethod
    def _find(table: Mapping[str, tuple[str, str]], module: str, name: str) -> str | None:
        wanted = (module, name)
        return next((local for local, found in table.items() if found == wanted), None)

    def _spelled(self, dotted: str) -> tuple[str, str] | None:
        """An imported name and what has to follow it to name the class."""
        prefix, rest = dotted, ""
        while prefix:
            for table in (self.trusted, self.for_types):
                for local, stands_for in table.items():
                    if stands_for == prefix:
                        return local, rest
            prefix, _, last = prefix.rpartition(".")
            rest = f".{last}{rest}"
        return None

    def _add(self, table: dict[str, tuple[str, str]], module: str, name: str) -> str:
        wanted = name or module
        local = f"_{wanted}" if self.hidden else wanted
        while local in self.taken or local in self.imports or local in self.guarded:
            local = f"_{local}" if not local.startswith("_") else f"{local}_"
        table[local] = (module, name)
        return local


_BUILTINS = frozenset(dir(__import__("builtins")))


def exists(dotted: str) -> bool:
    """Whether a class of a library is there under this name when the program runs: types
    come from stubs, which name more than there is."""
    parts = dotted.split(".")
    if parts[0] == "torch":
        return not any(part.startswith("_") for part in parts)
    if parts[0] not in sys.stdlib_module_names or parts[0] in NEVER_IMPORTED:
        return False
    for split in range(len(parts) - 1, 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:split]))
        except ImportError:
            continue
        for part in parts[split:]:
            found = getattr(found, part, None)
        return isinstance(found, type)
    return False


def names_of(facts: Facts, module: Module, starred: frozenset[str]) -> Names:
    """What the module binds now; `starred` are the modules that some `import *` names."""
    counts, star = _bindings(module)
    trusted, for_types = _imports(module, counts)
    return Names(
        facts,
        module,
        trusted,
        for_types,
        frozenset(counts),
        hidden=star or module.name in starred,
        lazy=any(name == "annotations" for name in _future(module)),
        own=frozenset(name.partition(".")[0] for name in facts.program.modules),
    )


def _bindings(module: Module) -> tuple[Counter[str], bool]:
    """How often each name is bound in any scope, and whether `import *` binds others."""
    counts: Counter[str] = Counter()
    star = False
    for node in ast.walk(module.tree):
        match node:
            case ast.Name(ctx=ast.Store() | ast.Del()):
                counts[node.id] += 1
            case ast.arg():
                counts[node.arg] += 1
            case ast.alias():
                star = star or node.name == "*"
                counts[(node.asname or node.name).partition(".")[0]] += 1
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                counts[node.name] += 1
            case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar():
                if node.name:
                    counts[node.name] += 1
            case ast.MatchMapping():
                if node.rest:
                    counts[node.rest] += 1
            case ast.Global() | ast.Nonlocal():
                counts.update(node.names)
    return counts, star


def _imports(
    module: Module, counts: Mapping[str, int]
) -> tuple[dict[str, str], dict[str, str]]:
    found: dict[str, list[str]] = {}
    typing_only: dict[str, list[str]] = {}
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            break
        if isinstance(node, ast.Import | ast.ImportFrom):
            for local, dotted in _bound(module, node):
                found.setdefault(local, []).append(dotted)
        elif isinstance(node, ast.If) and is_for_types(node):
            for inner in node.body:
                if isinstance(inner, ast.Import | ast.ImportFrom):
                    for local, dotted in _bound(module, inner):
                        typing_only.setdefault(local, []).append(dotted)
    return _alone(found, counts), _alone(typing_only, counts)


def is_for_types(node: ast.stmt) -> bool:
    """Whether what stands below is for type checkers, and never runs."""
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _bound(module: Module, node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, f"{absolute_name(module, node)}.{alias.name}"
        elif alias.asname:
            yield alias.asname, alias.name
        else:
            top = alias.name.partition(".")[0]
            yield top, top


def _alone(found: Mapping[str, list[str]], counts: Mapping[str, int]) -> dict[str, str]:
    return {
        local: meanings[0]
        for local, meanings in found.items()
        if len(set(meanings)) == 1 and counts[local] == len(meanings)
    }


def _future(module: Module) -> Iterator[str]:
    for node in module.tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            yield from (alias.name for alias in node.names)


def star_imported(facts: Facts) -> frozenset[str]:
    """Modules whose names some `import *` brings to another."""
    found = set[str]()
    for module in facts.program.modules.values():
        if "import *" not in module.text:
            continue
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                found.add(absolute_name(module, node))
    return frozenset(found)
