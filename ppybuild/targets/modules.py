"""An entry's modules: which ones its bundle holds, and under which paths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppybuild.emit.emission import Splice
from ppybuild.graph.load import reachable
from ppybuild.graph.program import Module, Program

_DYNAMIC = ("import_module", "__import__", "run_module", "run_path", "iter_modules", "exec(")
"""Where a module's text holds one of these words, what it imports is known only when it
runs, and the bundle holds the whole program."""


def main_module(program: Program, module: str) -> str | None:
    """The module that `python -m module` runs: for a package, its `__main__`."""
    found = program.modules.get(module)
    if found is not None and not found.is_package:
        return module
    inner = f"{module}.__main__"
    return inner if inner in program.modules else None


def entry_modules(program: Program, main: str) -> dict[str, Module]:
    """What running `main` may import, by module name, in order."""
    names = reachable(program, main)
    modules = [program.modules[name] for name in names]
    if any(word in module.text for module in modules for word in _DYNAMIC):
        modules = list(program.modules.values())
    return {module.name: module for module in modules}


def app_path(module: Module) -> str:
    """Where the module lies below the folder that is put on the path."""
    parts = module.name.split(".")
    if module.is_package:
        parts.append("__init__")
    return "/".join(parts) + module.path.suffix


def bindings_by_module(
    bindings: Mapping[str, tuple[str, str]], modules: Mapping[str, Module]
) -> dict[str, dict[str, tuple[str, str]]]:
    """Bindings by module and by name inside it: the longest module name that fits."""
    found: dict[str, dict[str, tuple[str, str]]] = {}
    for name, binding in bindings.items():
        module = name
        while module not in modules:
            module, dot, _ = module.rpartition(".")
            if not dot:
                raise ValueError(f"`{name}` is bound, and lies in no module of the entry")
        found.setdefault(module, {})[name[len(module) + 1 :]] = binding
    return found


def splices_by_module(splices: Mapping[str, Splice]) -> dict[str, list[dict[str, Any]]]:
    """Splices by module, as `bundle.json` has them."""
    found: dict[str, list[dict[str, Any]]] = {}
    for splice in splices.values():
        described = {
            "line": splice.line,
            "column": splice.column,
            "count": splice.count,
            "takes": list(splice.takes),
            "gives": list(splice.gives),
            "renews": list(splice.renews),
            "value": None if splice.value is None else list(splice.value),
            "target": [splice.extension, splice.attribute],
        }
        found.setdefault(splice.module, []).append(described)
    return found
