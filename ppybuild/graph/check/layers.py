"""E1401: linear layers that get tensors of another width than they were made for.

    self.one = nn.Linear(8, 16)
    self.two = nn.Linear(32, 2)
    self.two(torch.relu(self.one(batch)))    # 32 columns are taken, 16 are given

Layers are followed to where they are made: a variable with one binding, or an attribute that
the program sets in one place.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ppybuild.diagnostics import Diagnostic
from ppybuild.graph.check.context import Context, text_of
from ppybuild.graph.check.place import Place
from ppybuild.graph.check.tensors import trusts_tensors
from ppybuild.graph.types import Class, Instance, Tensor

LINEAR, SEQUENTIAL = "torch.nn.Linear", "torch.nn.Sequential"
KEEPING = frozenset(
    f"torch.nn.{name}"
    for name in ("ReLU", "GELU", "SiLU", "ELU", "LeakyReLU", "Tanh", "Sigmoid", "Dropout",
                 "Identity", "Softplus", "Softmax")
)  # fmt: skip
"""Layers that give tensors of the shape that they take."""
KEEPING_FUNCTIONS = frozenset(
    f"{owner}.{name}"
    for owner in ("torch", "torch.nn.functional")
    for name in ("relu", "tanh", "sigmoid", "gelu", "silu", "elu", "leaky_relu", "dropout")
)


def check_layer(context: Context, place: Place, node: ast.AST) -> Iterator[Diagnostic]:
    """A call of a linear layer, or of several in a row."""
    assert isinstance(node, ast.Call)
    if len(node.args) != 1 or node.keywords:
        return
    made = made_by(context, place, node.func)
    if made is None or "weight" in context.stored_attributes:
        return
    width = width_of(context, place, node.args[0])
    for layer in layers_of(context, made):
        sizes = sizes_of(context, layer)
        if sizes is None:
            width = width if name_of(context, layer) in KEEPING else None
            continue
        taken, given = sizes
        if width is not None and taken is not None and width != taken:
            if trusts_tensors(context, place):
                yield context.report(
                    "E1401",
                    f"`{text_of(layer)}` takes {taken} columns, and gets {width}",
                    place,
                    node,
                    help=f"make it with {width} as its first size, or change what it is given",
                )
            return
        width = given


def width_of(context: Context, place: Place, node: ast.expr) -> int | None:
    """The last size of a tensor, where it is certain."""
    found = context.type(node)
    if isinstance(found, Tensor) and found.shape and context.sure(place, node):
        last = found.shape[-1]
        return last if isinstance(last, int) else None
    if not isinstance(node, ast.Call) or not node.args:
        return None
    callee = context.facts.callees.get(node)
    if callee is not None and callee.name in KEEPING_FUNCTIONS:
        return width_of(context, place, node.args[0])
    made = made_by(context, place, node.func)
    if made is None:
        return None
    for layer in reversed(layers_of(context, made)):
        sizes = sizes_of(context, layer)
        if sizes is not None:
            return sizes[1]
        if name_of(context, layer) not in KEEPING:
            return None
    return width_of(context, place, node.args[0])


def made_by(context: Context, place: Place, node: ast.expr) -> ast.Call | None:
    """The call that makes the layer that `node` is."""
    if not isinstance(context.type(node), Instance):
        return None
    match node:
        case ast.Call():
            return node if name_of(context, node) is not None else None
        case ast.Name(id=name) if context.sure(place, node):
            body = place.module.tree if place.function is None else place.function.node
            sources = context.certainty.bindings_of(body).get(name, [])
            source = sources[0] if len(sources) == 1 else None
            return made_by(context, place, source) if source is not None else None
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            stores = context.stores.get(name, ())
            if len(stores) != 1 or name in context.texts or context.objects_are_open:
                return None
            owner, value = stores[0]
            inside = place.function.owner if place.function is not None else None
            known = owner is not None and owner == inside and isinstance(value, ast.Call)
            return made_by(context, place, value) if known else None
        case _:
            return None


def name_of(context: Context, node: ast.expr) -> str | None:
    """The library's class that a call makes an object of."""
    found = context.type(node.func) if isinstance(node, ast.Call) else None
    own = context.facts.program.classes
    if not isinstance(found, Class) or found.name in own:
        return None
    return context.library.canonical(found.name)


def layers_of(context: Context, made: ast.Call) -> tuple[ast.expr, ...]:
    """The layers that run one after another."""
    return tuple(made.args) if name_of(context, made) == SEQUENTIAL else (made,)


def sizes_of(context: Context, layer: ast.expr) -> tuple[int | None, int | None] | None:
    """How many columns a linear layer takes and gives; None for what is none."""
    if not isinstance(layer, ast.Call) or name_of(context, layer) != LINEAR:
        return None
    if len(layer.args) < 2:
        return None, None
    return whole(context, layer.args[0]), whole(context, layer.args[1])


def whole(context: Context, node: ast.expr) -> int | None:
    value = node.value if isinstance(node, ast.Constant) else context.facts.constants.get(node)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
