"""Where values of the program come from: calls, assignments, loops, gathered once.

train_step(x, model)        a site of `train_step`
x = torch.randn(20, 6)      assigned to `x` in this function
self.model = Net(6)         assigned to the field `model` of this class
for x, y in loader:         `x` is the first part of what each turn gives
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from ppybuild.graph.program import Facts


@final
@dataclass(frozen=True, slots=True)
class Turn:
    """What a loop goes through, and which part of each item is meant."""

    over: ast.expr
    path: tuple[int, ...]


@final
@dataclass(frozen=True, slots=True)
class Scope:
    """The code in which names are looked up."""

    function: str | None
    """None for a module's own code."""
    module: str
    entered: Site | None = None
    """The one call of the function that is meant, where only one is."""

    @property
    def name(self) -> str:
        return self.function or self.module


@final
@dataclass(frozen=True, slots=True)
class Site:
    """A call, and where it stands."""

    call: ast.Call
    scope: Scope


@final
class Sources:
    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.sites: dict[str, list[Site]] = {}
        """By function: the calls of it."""
        self.assigned: dict[tuple[str, str], list[ast.expr]] = {}
        """By scope (function or module) and variable: what is assigned to it."""
        self.fields: dict[tuple[str, str], list[tuple[ast.expr, Scope]]] = {}
        """By class and attribute: what its methods assign to it, and where."""
        self.grown: set[tuple[str, str]] = set()
        """By scope and variable: tensors, or lists of them, told to require gradients."""
        self.options: dict[str, list[ast.expr]] = {}
        """By attribute: defaults of options of the command line."""
        self.turns: dict[tuple[str, str], list[Turn]] = {}
        """By scope and variable: the loops whose turns bind it."""
        for name, module in facts.program.modules.items():
            self._gather(module.tree.body, Scope(None, name))
        for name, function in facts.program.functions.items():
            self._gather(function.node.body, Scope(name, function.module))

    def _gather(self, body: list[ast.stmt], scope: Scope) -> None:
        has_lambdas = "lambda" in self._facts.program.modules[scope.module].text
        for node in (*own_nodes(body), *(_calls_in_lambdas(body) if has_lambdas else ())):
            match node:
                case (
                    ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="requires_grad_"))
                    | ast.Assign(
                        targets=[ast.Attribute(value=ast.Name(id=name), attr="requires_grad")]
                    )
                ):
                    self._grow(name, scope)
                case ast.Call(func=ast.Attribute(attr="add_argument")):
                    self._option(node)
                case ast.Call():
                    callee = self._facts.callees.get(node)
                    if callee is not None and callee.kind in ("project", "class"):
                        made = ".__init__" if callee.kind == "class" else ""
                        self.sites.setdefault(callee.name + made, []).append(Site(node, scope))
                case ast.Assign(
                    targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)
                ) if len(targets) == len(values):
                    for target, value in zip(targets, values, strict=True):
                        self._assign(target, value, scope)
                case ast.Assign(targets=[target], value=value):
                    self._assign(target, value, scope)
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    self._assign(target, value, scope)
                case ast.For(target=target, iter=over):
                    self._bind_turns(target, Turn(over, ()), scope)
                case _:
                    pass

    def _assign(self, target: ast.expr, value: ast.expr, scope: Scope) -> None:
        match target:
            case ast.Name(id=name):
                self.assigned.setdefault((scope.name, name), []).append(value)
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if scope.function:
                function = self._facts.program.functions[scope.function]
                first = function.node.args.args[:1]
                if function.owner is not None and first and first[0].arg == owner:
                    self.fields.setdefault((function.owner, name), []).append((value, scope))
            case _:
                pass

    def _grow(self, name: str, scope: Scope) -> None:
        """Of a loop's variable what it goes through is told so; loops come before bodies."""
        self.grown.add((scope.name, name))
        for turn in self.turns.get((scope.name, name), ()):
            if isinstance(turn.over, ast.Name):
                self.grown.add((scope.name, turn.over.id))

    def _option(self, node: ast.Call) -> None:
        """`parser.add_argument("--width", type=int, default=16)`"""
        names = [each.value for each in node.args if isinstance(each, ast.Constant)]
        long = [name for name in names if isinstance(name, str) and name.startswith("--")]
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        if long and "default" in given:
            name = long[0].removeprefix("--").replace("-", "_")
            self.options.setdefault(name, []).append(given["default"])

    def _bind_turns(self, target: ast.expr, turn: Turn, scope: Scope) -> None:
        match target:
            case ast.Name(id=name):
                self.turns.setdefault((scope.name, name), []).append(turn)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                counts = isinstance(turn.over, ast.Call) and _is_enumerate(turn.over)
                if counts and isinstance(turn.over, ast.Call) and len(parts) == 2:
                    self._bind_turns(parts[1], Turn(turn.over.args[0], ()), scope)
                    return
                for place, part in enumerate(parts):
                    self._bind_turns(part, Turn(turn.over, (*turn.path, place)), scope)
            case _:
                pass


def _is_enumerate(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == "enumerate" and bool(node.args)


def around(scope: Scope) -> tuple[str, ...]:
    """Where a name may be assigned: the function, those around it, and the module."""
    found: list[str] = []
    function = scope.function or ""
    while function:
        found.append(function)
        function = function.rpartition(".<locals>.")[0]
    return (*found, scope.module)


def own_nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes of a body in order, without those of functions in it."""
    work: list[ast.AST] = list(reversed(body))
    while work:
        node = work.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        yield node
        work.extend(reversed(list(ast.iter_child_nodes(node))))


def _calls_in_lambdas(body: list[ast.stmt]) -> Iterator[ast.Call]:
    """The calls in lambdas of a body, as far as they name no parameter of the lambda: there
    names stand for what they do around it."""
    work: list[tuple[ast.AST, frozenset[str] | None]] = [(node, None) for node in body[::-1]]
    while work:
        node, hidden = work.pop()  # `hidden`: the parameters of the lambdas around it
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.Lambda):
            named = (part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg))
            hidden = (hidden or frozenset()) | {*named}
        if isinstance(node, ast.Call) and hidden is not None:
            names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            if not names & hidden:
                yield node
        work.extend((inner, hidden) for inner in reversed([*ast.iter_child_nodes(node)]))
