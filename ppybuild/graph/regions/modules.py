"""What `torch.nn` modules of the program are made of, read from their `__init__`.

    self.first = nn.Linear(20, width)     →    first: Linear, weight [64, 20], bias [64]
    self.rest = nn.Sequential(nn.GELU(), nn.Linear(width, 10))

As with seeds, what is found is a guess that the region checks when it runs.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import final

from ppybuild.graph.program import Facts
from ppybuild.graph.regions.built import PROGRAM, Built, Config
from ppybuild.graph.regions.seeds import Seeds, Site
from ppybuild.graph.types import Tensor

DTYPE = "float32"
"""Of a module's parameters, unless the program says otherwise; checked when it runs."""


class NotKnown(Exception):
    """The module's make cannot be read; the message says why."""


def read_module(facts: Facts, seeds: Seeds, owner: str) -> Built:
    """The make of the program's class `owner`, where all that make one agree."""
    reader = _Reader(facts, seeds)
    found = {reader.program(owner, site) for site in seeds.makers(owner)}
    if len(found) != 1:
        raise NotKnown(f"`{owner}` is not made in just one way")
    return found.pop()


@final
class _Reader:
    def __init__(self, facts: Facts, seeds: Seeds) -> None:
        self._facts = facts
        self._seeds = seeds

    def program(self, owner: str, site: Site) -> Built:
        function = self._facts.program.functions.get(f"{owner}.__init__")
        found = self._facts.program.classes.get(owner)
        if found is None or function is None or found.bases != ("torch.nn.Module",):
            raise NotKnown(f"`{owner}` is not a plain module")
        children: list[tuple[str, Built]] = []
        inside = Site(site.call, function.name, function.module)
        for statement in function.node.body:
            match statement:
                case (
                    ast.Assign(
                        targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)],
                        value=ast.Call() as call,
                    )
                    | ast.AnnAssign(
                        target=ast.Attribute(value=ast.Name(id="self"), attr=name),
                        value=ast.Call() as call,
                    )
                ):
                    children.append((name, self.made(call, inside)))
                case ast.Expr(value=ast.Call() | ast.Constant()) | ast.Pass():
                    pass  # super().__init__(), a docstring
                case ast.Assign(targets=[ast.Name()]) | ast.AnnAssign(target=ast.Name()):
                    pass
                case _:
                    raise NotKnown(f"`{owner}.__init__` does more than make layers")
        return Built(PROGRAM, owner, children=tuple(children))

    def made(self, call: ast.Call, site: Site) -> Built:
        callee = self._facts.callees.get(call)
        if callee is not None and callee.kind == "class":
            return self.program(callee.name, Site(call, site.inside, site.module))
        rule = LAYERS.get(callee.name) if callee is not None else None
        if callee is None or rule is None:
            raise NotKnown(f"`{ast.unparse(call.func)}` is not a layer that regions hold")
        return rule(self, callee.name, call, site)

    def number(self, node: ast.expr, site: Site) -> int:
        found = self._seeds.number(node, site)
        if found is None:
            raise NotKnown(f"`{ast.unparse(node)}` is not a known size")
        return found


Rule = Callable[[_Reader, str, ast.Call, Site], Built]


def _linear(reader: _Reader, kind: str, call: ast.Call, site: Site) -> Built:
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    sizes = [*call.args[:2]]
    sizes += [
        keywords[n] for n in ("in_features", "out_features")[len(sizes) :] if n in keywords
    ]
    bias = keywords.get("bias", ast.Constant(True))
    if len(call.args) > 2 or len(sizes) != 2 or not isinstance(bias, ast.Constant):
        raise NotKnown(f"`{ast.unparse(call)}` has other arguments than sizes")
    if keywords.keys() - {"in_features", "out_features", "bias"}:
        raise NotKnown(f"`{ast.unparse(call)}` has other arguments than sizes")
    inner, outer = (reader.number(size, site) for size in sizes)
    weight = _parameter(outer, inner)
    return Built(
        kind,
        parameters=(("weight", weight), ("bias", _parameter(outer) if bias.value else None)),
    )


def _plain(*config: Config) -> Rule:
    def rule(reader: _Reader, kind: str, call: ast.Call, site: Site) -> Built:
        if call.args or call.keywords:
            raise NotKnown(f"`{ast.unparse(call)}` has arguments")
        return Built(kind, config=config)

    return rule


def _sequential(reader: _Reader, kind: str, call: ast.Call, site: Site) -> Built:
    if call.keywords or not all(isinstance(argument, ast.Call) for argument in call.args):
        raise NotKnown("a `Sequential` of other things than layers made there")
    made = [reader.made(item, site) for item in call.args if isinstance(item, ast.Call)]
    return Built(kind, children=tuple((str(i), child) for i, child in enumerate(made)))


def _parameter(*shape: int) -> Tensor:
    return Tensor(DTYPE, shape, parameter=True)


LAYERS: Mapping[str, Rule] = {
    "torch.nn.Linear": _linear,
    "torch.nn.Sequential": _sequential,
    "torch.nn.ReLU": _plain(Config("inplace", False)),
    "torch.nn.SiLU": _plain(Config("inplace", False)),
    "torch.nn.GELU": _plain(Config("approximate", "none")),
    "torch.nn.Tanh": _plain(),
    "torch.nn.Sigmoid": _plain(),
}

CALLS: Mapping[str, str] = {
    "torch.nn.Linear": "torch.nn.functional.linear",
    "torch.nn.ReLU": "torch.relu",
    "torch.nn.SiLU": "torch.nn.functional.silu",
    "torch.nn.GELU": "torch.nn.functional.gelu",
    "torch.nn.Tanh": "torch.tanh",
    "torch.nn.Sigmoid": "torch.sigmoid",
}
"""What a layer's forward calls, with its input and then its parameters."""
