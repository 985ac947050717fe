"""Ways between slots that no statement shows: imports, inheritance, callers outside."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ppybuild.graph.flow.body import Gathered
from ppybuild.graph.flow.calls import TRANSPARENT
from ppybuild.graph.flow.records import Slot, Use
from ppybuild.graph.imports import absolute_name
from ppybuild.graph.program import Function, Module
from ppybuild.graph.scopes import parameters_of

PLAIN_BASES = frozenset(
    {"object", "builtins.object", "abc.ABC", "typing.Protocol", "typing.Generic",
     "Exception", "ValueError", "RuntimeError", "torch.nn.Module"}
)  # fmt: skip
"""Bases from libraries that look at no field of their own accord, and call nothing of a
subclass but dunder methods and `forward`."""
CALLED_BY_BASES = frozenset({"forward"})


def imports_of(gathered: Gathered, module: Module) -> None:
    """An imported variable is the variable of the module it comes from."""
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        source = absolute_name(module, node)
        for alias in node.names:
            if source not in gathered.facts.program.modules:
                continue
            if alias.name == "*":
                _star(gathered, module, source)
                continue
            local = Slot("variable", module.name, alias.asname or alias.name)
            gathered.classes.join(Slot("variable", source, alias.name), local)
            for owner, names in gathered.bound.items():
                if owner.startswith(f"{module.name}.") and local.name in names:
                    inner = Slot("variable", owner, local.name)
                    gathered.classes.join(local, inner)


def _star(gathered: Gathered, module: Module, source: str) -> None:
    for node in ast.walk(gathered.facts.program.modules[source].tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            theirs = Slot("variable", source, node.id)
            gathered.classes.join(theirs, Slot("variable", module.name, node.id))


def related_classes(gathered: Gathered) -> None:
    """A subclass has its bases' fields, and its methods stand in for theirs."""
    facts = gathered.facts
    for name, found in facts.program.classes.items():
        ancestors = [each for each in gathered.ancestors(name) if each != name]
        for base in ancestors:
            if base not in facts.program.classes:
                continue
            for field in (*facts.fields.get(name, {}), *facts.fields.get(base, {})):
                gathered.classes.join(Slot("field", base, field), Slot("field", name, field))
            for method in _methods(gathered, name):
                other = facts.program.functions.get(f"{base}.{method.node.name}")
                if other is not None and method.node.name != "__init__":
                    _stands_in(gathered, other, method)
        strange = [
            base
            for base in ancestors
            if base not in facts.program.classes and base not in PLAIN_BASES
        ]
        if strange or found.node.decorator_list or found.node.keywords:
            _open_class(gathered, name, found.node, methods=bool(strange))


def _stands_in(gathered: Gathered, base: Function, method: Function) -> None:
    gathered.classes.join(Slot("result", base.name), Slot("result", method.name))
    for theirs, ours in zip(parameters_of(base.node), parameters_of(method.node), strict=False):
        gathered.classes.join(
            Slot("variable", base.name, theirs.arg), Slot("variable", method.name, ours.arg)
        )
    named = {found.arg for found in parameters_of(base.node)}
    for ours in parameters_of(method.node):
        if ours.arg in named:
            gathered.classes.join(
                Slot("variable", base.name, ours.arg), Slot("variable", method.name, ours.arg)
            )


def _open_class(gathered: Gathered, name: str, node: ast.ClassDef, *, methods: bool) -> None:
    """A decorator or metaclass may look at the fields, a library's base call the methods."""
    module = gathered.facts.program.classes[name].module
    use = Use("escape", node, module, f"what `{node.name}` is built on")
    for statement in node.body:
        targets: list[ast.expr] = []
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        for target in targets:
            if isinstance(target, ast.Name):
                gathered.use(Slot("field", name, target.id), use)
    for method in _methods(gathered, name):
        if methods and method.node.name != "__init__":
            gathered.leak(method.name, use)


def _methods(gathered: Gathered, name: str) -> Iterator[Function]:
    for node in gathered.facts.program.classes[name].node.body:
        found = gathered.names.get(id(node))
        if found is not None:
            yield gathered.facts.program.functions[found]


def open_to_others(gathered: Gathered) -> None:
    """Functions that Python, a decorator or nobody in the program calls."""
    facts = gathered.facts
    for name, function in facts.program.functions.items():
        node = function.node
        use = Use("escape", node, function.module, f"callers of `{node.name}` outside")
        dunder = node.name.startswith("__") and node.name.endswith("__")
        strange = any(_mark(found) not in TRANSPARENT for found in node.decorator_list)
        uncalled = name not in gathered.called
        implicit = dunder and node.name != "__init__"
        if implicit or strange or uncalled or node.name in CALLED_BY_BASES:
            gathered.leak(name, use)
        if node.name in gathered.loose:
            gathered.leak(name, gathered.loose[node.name])
    for name, fields in facts.fields.items():
        for field in fields:
            if field in gathered.loose:
                gathered.use(Slot("field", name, field), gathered.loose[field])
    for slot in list(gathered.classes.parents):
        is_global = slot.kind == "variable" and slot.owner in facts.program.modules
        if is_global and slot.name in gathered.loose:
            gathered.use(slot, gathered.loose[slot.name])


def _mark(decorator: ast.expr) -> str:
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(target).rpartition(".")[2]
