"""The types of expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import MappingProxyType

from ppybuild.graph.infer.attributes import attribute_type
from ppybuild.graph.infer.calls import infer_call
from ppybuild.graph.infer.containers import (
    element_of,
    fresh,
    infer_dict,
    infer_display,
    item_of,
    store_comprehension,
)
from ppybuild.graph.infer.loading import turn_of
from ppybuild.graph.infer.narrow import branch
from ppybuild.graph.infer.operands import infer_binary, infer_comparison, infer_negation
from ppybuild.graph.infer.state import Unit
from ppybuild.graph.infer.values import constant_of
from ppybuild.graph.infer.visit import Visit, join_envs, lookup, path_of
from ppybuild.graph.lattice import join
from ppybuild.graph.scopes import target_names
from ppybuild.graph.types import (
    BOOL,
    BYTES,
    COMPLEX,
    FLOAT,
    INT,
    NEVER,
    NONE,
    STR,
    UNKNOWN,
    Collection,
    Function,
    Instance,
    Literal,
    Tuple,
    Type,
)

_CONSTANTS: Mapping[type, Type] = {
    bool: BOOL,
    int: INT,
    float: FLOAT,
    complex: COMPLEX,
    bytes: BYTES,
    type(None): NONE,
    type(...): Instance("types.EllipsisType"),
}


def infer_constant(visit: Visit, node: ast.expr) -> Type:
    assert isinstance(node, ast.Constant)
    if isinstance(node.value, str):
        return Literal(STR, (node.value,))
    return _CONSTANTS[type(node.value)]


def infer_name(visit: Visit, node: ast.expr) -> Type:
    assert isinstance(node, ast.Name)
    found = lookup(visit, node.id)
    if found is None:
        return UNKNOWN
    value = constant_of(visit, node)
    if value is not None:
        visit.engine.constants[node] = value
    return found


def infer_attribute(visit: Visit, node: ast.expr) -> Type:
    assert isinstance(node, ast.Attribute)
    owner = visit.infer(node.value)
    path = path_of(node)
    if path is not None and path in visit.here():
        return visit.here()[path]
    value = constant_of(visit, node)
    if value is not None:
        visit.engine.constants[node] = value
    return attribute_type(visit, owner, node.attr)


def infer_subscript(visit: Visit, node: ast.expr) -> Type:
    assert isinstance(node, ast.Subscript)
    owner = visit.infer(node.value)
    index = visit.infer(node.slice)
    path = path_of(node)
    if path is not None and path in visit.here():
        return visit.here()[path]
    return fresh(visit, node, item_of(visit, owner, index, node.slice))


def infer_slice(visit: Visit, node: ast.expr) -> Type:
    assert isinstance(node, ast.Slice)
    for part in (node.lower, node.upper, node.step):
        if part is not None:
            visit.infer(part)
    return Instance("builtins.slice")


def infer_tuple(visit: Visit, node: ast.expr) -> Type:
    assert isinstance(node, ast.Tuple)
    items: list[Type] = []
    exact = True
    for item in node.elts:
        found = visit.infer(item)
        if not isinstance(item, ast.Starred):
            items.append(found)
        elif isinstance(found, Tuple):
            items.extend(found.items)
        else:
            exact = False
            items.append(element_of(visit, found))
    if exact:
        return Tuple(tuple(items))
    joined: Type = NEVER
    for found in items:
        joined = join(joined, found)
    return Collection("tuple", joined)


def infer_starred(visit: Visit, node: ast.expr) -> Type:
    assert isinstance(node, ast.Starred)
    return visit.infer(node.value)


def infer_conditional(visit: Visit, node: ast.expr) -> Type:
    assert isinstance(node, ast.IfExp)
    true, false = branch(visit, node.test)
    found: Type = NEVER
    left = right = None
    if true is not None:
        visit.env = dict(true)
        found = visit.infer(node.body)
        left = visit.env
    if false is not None:
        visit.env = dict(false)
        found = join(found, visit.infer(node.orelse))
        right = visit.env
    visit.env = join_envs(left, right)
    return found


def infer_chain(visit: Visit, node: ast.expr) -> Type:
    assert isinstance(node, ast.BoolOp)
    true, false = branch(visit, node)
    visit.env = join_envs(true, false)
    return visit.engine.types[node]


def infer_unary_operation(visit: Visit, node: ast.expr) -> Type:
    assert isinstance(node, ast.UnaryOp)
    if isinstance(node.op, ast.Not):
        true, false = branch(visit, node)
        visit.env = join_envs(true, false)
        return BOOL
    return infer_negation(visit, node, visit.infer(node.operand))


def infer_operation(visit: Visit, node: ast.expr) -> Type:
    assert isinstance(node, ast.BinOp)
    left = visit.infer(node.left)
    right = visit.infer(node.right)
    return fresh(
        visit, node, infer_binary(visit, node, node.op, node.left, left, node.right, right)
    )


def infer_compare(visit: Visit, node: ast.expr) -> Type:
    assert isinstance(node, ast.Compare)
    left_node, left = node.left, visit.infer(node.left)
    found: Type = NEVER
    for operator, right_node in zip(node.ops, node.comparators, strict=True):
        right = visit.infer(right_node)
        found = join(
            found, infer_comparison(visit, operator, left_node, left, right_node, right)
        )
        left_node, left = right_node, right
    return found


def infer_text(visit: Visit, node: ast.expr) -> Type:
    assert isinstance(node, ast.JoinedStr)
    for part in node.values:
        visit.infer(part)
    return STR


def infer_formatted(visit: Visit, node: ast.expr) -> Type:
    assert isinstance(node, ast.FormattedValue)
    visit.infer(node.value)
    if node.format_spec is not None:
        visit.infer(node.format_spec)
    return STR


def infer_walrus(visit: Visit, node: ast.expr) -> Type:
    assert isinstance(node, ast.NamedExpr)
    found = visit.infer(node.value)
    visit.bind(node.target.id, found)
    visit.engine.types[node.target] = found
    return found


def infer_lambda(visit: Visit, node: ast.expr) -> Type:
    assert isinstance(node, ast.Lambda)
    unit = visit.engine.lambda_unit(node, visit.unit)
    infer_defaults(visit, node.args, unit)
    return Function(unit.name)


def infer_defaults(visit: Visit, arguments: ast.arguments, unit: Unit) -> None:
    """Infers default values where the `def` or `lambda` stands, and passes them in."""
    for default in (*arguments.defaults, *arguments.kw_defaults):
        if default is not None:
            visit.infer(default)
    for found in unit.inputs:
        if found.declared is None and found.default is not None:
            visit.write(found.slot, visit.engine.types[found.default])


def infer_comprehension(visit: Visit, node: ast.expr) -> Type:
    assert isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp)
    outer, hidden = visit.env, visit.hidden
    if outer is None:
        return NEVER
    visit.env = dict(outer)
    for generator in node.generators:
        item = turn_of(visit, generator.iter, visit.infer(generator.iter), generator.target)
        visit.hidden = visit.hidden | set(target_names(generator.target))
        bind_target(visit, generator.target, item)
        for test in generator.ifs:
            visit.env, _ = branch(visit, test)
            if visit.env is None:
                break
            visit.env = dict(visit.env)
        if visit.env is None:
            break
    key: Type = NEVER
    found: Type = NEVER
    if visit.env is not None:
        if isinstance(node, ast.DictComp):
            key = visit.infer(node.key)
            found = visit.infer(node.value)
        else:
            found = visit.infer(node.elt)
    visit.env, visit.hidden = outer, hidden
    return store_comprehension(visit, node, key, found)


def bind_target(visit: Visit, target: ast.expr, found: Type) -> None:
    """Binds the plain names and tuples of a comprehension's or loop's target."""
    if isinstance(target, ast.Name):
        visit.bind(target.id, found)
        visit.engine.types[target] = found
    elif isinstance(target, ast.Tuple | ast.List):
        for place, item in enumerate(target.elts):
            bind_target(visit, item, unpacked(visit, found, place, target.elts))
    elif isinstance(target, ast.Starred):
        bind_target(visit, target.value, found)


def unpacked(visit: Visit, found: Type, place: int, targets: list[ast.expr]) -> Type:
    """What the target at `place` gets when a value is unpacked into several."""
    starred = next((n for n, each in enumerate(targets) if isinstance(each, ast.Starred)), None)
    if isinstance(found, Tuple):
        if starred is None:
            return found.items[place] if len(found.items) == len(targets) else UNKNOWN
        after = len(targets) - starred - 1
        if place < starred:
            return found.items[place] if place < len(found.items) else UNKNOWN
        if place > starred:
            return found.items[place - len(targets)] if len(found.items) >= after else UNKNOWN
        item: Type = NEVER
        for each in found.items[starred : len(found.items) - after]:
            item = join(item, each)
        return Collection("list", item)
    item = element_of(visit, found)
    return Collection("list", item) if place == starred else item


def infer_await(visit: Visit, node: ast.expr) -> Type:
    assert isinstance(node, ast.Await)
    visit.infer(node.value)
    visit.forget_none()
    return UNKNOWN


def infer_yield(visit: Visit, node: ast.expr) -> Type:
    assert isinstance(node, ast.Yield | ast.YieldFrom)
    found: Type = NONE
    if node.value is not None:
        found = visit.infer(node.value)
        if isinstance(node, ast.YieldFrom):
            found = element_of(visit, found)
    visit.yielded = join(visit.yielded, found)
    visit.forget_none()
    return UNKNOWN


Handler = Callable[[Visit, ast.expr], Type]

EXPRESSIONS: Mapping[type[ast.expr], Handler] = MappingProxyType(
    {
        ast.Constant: infer_constant,
        ast.Name: infer_name,
        ast.Attribute: infer_attribute,
        ast.Subscript: infer_subscript,
        ast.Slice: infer_slice,
        ast.Tuple: infer_tuple,
        ast.List: infer_display,
        ast.Set: infer_display,
        ast.Dict: infer_dict,
        ast.Starred: infer_starred,
        ast.IfExp: infer_conditional,
        ast.BoolOp: infer_chain,
        ast.UnaryOp: infer_unary_operation,
        ast.BinOp: infer_operation,
        ast.Compare: infer_compare,
        ast.Call: infer_call,
        ast.JoinedStr: infer_text,
        ast.FormattedValue: infer_formatted,
        ast.NamedExpr: infer_walrus,
        ast.Lambda: infer_lambda,
        ast.ListComp: infer_comprehension,
        ast.SetComp: infer_comprehension,
        ast.GeneratorExp: infer_comprehension,
        ast.DictComp: infer_comprehension,
        ast.Await: infer_await,
        ast.Yield: infer_yield,
        ast.YieldFrom: infer_yield,
    }
)
