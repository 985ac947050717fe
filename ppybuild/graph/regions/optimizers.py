"""The optimizers of `torch.optim` that steps look through, as facts.

    torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)    →    SGD, with momentum

Which terms an update has is read where the optimizer is made, and checked when the step runs;
the numbers in them are read on every call.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, final

from ppybuild.graph.program import Facts
from ppybuild.graph.regions.sources import Site
from ppybuild.graph.types import Instance, Type

Term = Literal["decay", "momentum", "nesterov"]


@final
@dataclass(frozen=True, slots=True)
class Kind:
    """A class of `torch.optim`."""

    name: str
    takes: tuple[str, ...]
    """Its constructor's parameters that may stand by position, after the tensors."""
    terms: Mapping[Term, str]
    """The setting that turns a term on, where it is not zero or false."""
    default: frozenset[Term]
    """Terms that are on where the program says nothing."""
    states: tuple[str, ...]
    """The tensors that it keeps for each parameter, beside the count of steps."""
    numbers: tuple[str, ...]
    """What updates multiply by in one step, by the names in `ppy_module.h`."""


@final
@dataclass(frozen=True, slots=True)
class Form:
    """An optimizer's class and the terms of its updates, in the order of `Kind.terms`."""

    kind: str
    terms: tuple[Term, ...]

    @property
    def states(self) -> tuple[str, ...]:
        if self.kind == "SGD" and "momentum" not in self.terms:
            return ()
        return KINDS[self.kind].states


_ADAM = ("lr", "betas", "eps", "weight_decay")
_AVERAGES = ("exp_avg", "exp_avg_sq")
_NUMBERS = ("by", "root", "first", "second", "rest", "eps", "decay")

KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("Adam", _ADAM, {"decay": "weight_decay"}, frozenset(), _AVERAGES, _NUMBERS),
        Kind(
            "AdamW", _ADAM, {"decay": "weight_decay"}, frozenset({"decay"}), _AVERAGES, _NUMBERS
        ),
        Kind(
            "SGD",
            ("lr", "momentum", "dampening", "weight_decay"),
            {"decay": "weight_decay", "momentum": "momentum", "nesterov": "nesterov"},
            frozenset(),
            ("momentum_buffer",),
            ("by", "decay", "momentum", "rest"),
        ),
    )
}


def optimizer_kind(name: str) -> Kind | None:
    """By the class's dotted name, under `torch.optim` or the module that defines it."""
    module, _, last = name.rpartition(".")
    inside = module == "torch.optim" or module.startswith("torch.optim.")
    return KINDS.get(last) if inside else None


def read_optimizer(facts: Facts, made: Sequence[Site], type: Type) -> Form | None:
    """The form of an optimizer that the calls `made` make; None where it is none that
    steps look through, or made in several ways."""
    forms = {form for site in made if (form := _form(facts, site.call, {})) is not None}
    if not forms:
        kind = optimizer_kind(type.name) if isinstance(type, Instance) else None
        return None if kind is None else _ordered(kind, kind.default)
    return forms.pop() if len(forms) == 1 else None


def read_groups(facts: Facts, call: ast.Call) -> tuple[tuple[ast.expr, Form], ...]:
    """What the groups are over and their forms, where the call spells them:

    Adam([{"params": model.body.parameters()}, {"params": head, "lr": 0.1}], weight_decay=0.1)
    """
    first = call.args[0] if call.args else None
    items = first.elts if isinstance(first, ast.List | ast.Tuple) else []
    found = []
    for item in items:
        if not isinstance(item, ast.Dict):
            return ()
        pairs = zip(item.keys, item.values, strict=True)
        own: dict[object, ast.expr] = {
            key.value: value for key, value in pairs if isinstance(key, ast.Constant)
        }
        form = _form(facts, call, own)
        if form is None or len(own) < len(item.keys) or "params" not in own:
            return ()
        found.append((own["params"], form))
    return tuple(found)


def is_grouped(call: ast.Call) -> bool:
    first = call.args[0] if call.args else None
    items = first.elts if isinstance(first, ast.List | ast.Tuple) else []
    return any(isinstance(item, ast.Dict) for item in items)


def _form(facts: Facts, call: ast.Call, own: Mapping[object, ast.expr]) -> Form | None:
    """`own`: settings that a group has of its own."""
    callee = facts.callees.get(call)
    kind = optimizer_kind(callee.name) if callee is not None else None
    if kind is None or any(keyword.arg is None for keyword in call.keywords):
        return None
    given = dict(zip(kind.takes, call.args[1:], strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    given |= {name: value for name, value in own.items() if isinstance(name, str)}
    terms = {
        term
        for term, setting in kind.terms.items()
        if (_is_on(facts, given[setting]) if setting in given else term in kind.default)
    }
    return _ordered(kind, terms)


def _is_on(facts: Facts, node: ast.expr) -> bool:
    """Whether a setting is other than zero; what is not known counts as that."""
    if isinstance(node, ast.Constant):
        return bool(node.value)
    return bool(facts.constants.get(node, True))


def _ordered(kind: Kind, terms: frozenset[Term] | set[Term]) -> Form:
    return Form(kind.name, tuple(term for term in kind.terms if term in terms))
