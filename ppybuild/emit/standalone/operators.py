"""Operators of numbers, texts, lists and tuples."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ppybuild.emit.standalone.body import Body, has_effects
from ppybuild.emit.standalone.classes import COMPARISONS, OPERATORS, class_form
from ppybuild.emit.standalone.entries import find, is_in
from ppybuild.emit.standalone.invoke import invoke_method
from ppybuild.emit.standalone.kinds import (
    BOOL,
    FLOAT,
    INT,
    NONE,
    NUMBERS,
    TEXT,
    ArrayOf,
    DictOf,
    Kind,
    ListOf,
    ObjectOf,
    Reference,
    SetOf,
    TupleOf,
    c_item,
    c_type,
    has_order,
    show,
)
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.values import Value, constant
from ppybuild.graph.symbols import SYMBOLS

# By Python's operator: the checked operation of `ppy_kernel.h`, and why it fails.
_INTS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("add_i64", "integer"),
    ast.Sub: ("sub_i64", "integer"),
    ast.Mult: ("mul_i64", "integer"),
    ast.FloorDiv: ("floordiv_i64", "floordiv_i64"),
    ast.Mod: ("mod_i64", "mod_i64"),
    ast.LShift: ("shl_i64", "shl_i64"),
    ast.RShift: ("shr_i64", "shr_i64"),
    ast.Pow: ("pow_i64", "pow_i64"),
}
_BITS: dict[type[ast.operator], str] = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
_FLOATS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
_FLOATS_CHECKED: dict[type[ast.operator], str] = {
    ast.Div: "div_f64",
    ast.FloorDiv: "floordiv_f64",
    ast.Mod: "mod_f64",
    ast.Pow: "pow_f64",
}
SETS: dict[type[ast.operator], tuple[str, str]] = {
    ast.BitOr: ("ppy_set_union", "ppy_set_update"),
    ast.BitAnd: ("ppy_set_intersection", "ppy_set_keep_common"),
    ast.Sub: ("ppy_set_difference", "ppy_set_remove_all"),
    ast.BitXor: ("ppy_set_symmetric", "ppy_set_flip"),
}
"""Of two sets: the function that makes a third, and that which changes the first."""
_COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("==", "eq"),
    ast.NotEq: ("!=", "ne"),
    ast.Lt: ("<", "lt"),
    ast.LtE: ("<=", "le"),
    ast.Gt: (">", "gt"),
    ast.GtE: (">=", "ge"),
}
_MIRRORED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


# Conversions


def to_int(value: Value) -> Value:
    """A bool as the int that it is."""
    if value.kind == BOOL:
        if isinstance(value.literal, bool):
            return constant(int(value.literal))
        return Value(INT, f"((int64_t){value.c})", fixed=value.fixed)
    return value


def to_float(value: Value) -> Value:
    """A number as `float(value)`."""
    if value.kind == FLOAT:
        return value
    if isinstance(value.literal, int):
        return constant(float(value.literal))
    return Value(FLOAT, f"((double){value.c})", fixed=value.fixed)


def checked(
    body: Body, node: ast.AST, operation: str, why: str, result: Kind, *args: Value
) -> Value:
    """The result of `ppy_checked_<operation>`; `ppy_why_<why>` raises where it fails."""
    name = body.fresh()
    words = ", ".join(arg.c for arg in args)
    said = "" if why == "integer" else words
    body.line(f"{c_type(result)} {name};")
    body.fail(node, f"!ppy_checked_{operation}({words}, &{name})", f"ppy_why_{why}({said})")
    return Value(result, name, fixed=True)


# Arithmetic


def lower_unary(body: Body, node: ast.UnaryOp) -> Value:
    if isinstance(node.op, ast.Not):
        return Value(BOOL, body.test(node))
    value = body.value(node.operand)
    if value.kind not in NUMBERS:
        raise Refused(node, f"an operator of {show(value.kind)}")
    value = to_int(value)
    match node.op:
        case ast.UAdd():
            return value
        case ast.USub():
            return _negated(body, node, value)
        case _:
            if value.kind == FLOAT:
                raise Refused(node, "`~` of a float")
            return Value(INT, f"(~{value.c})", fixed=value.fixed)


def _negated(body: Body, node: ast.AST, value: Value) -> Value:
    if value.literal is not None and value.literal != -(2**63):
        assert isinstance(value.literal, int | float)
        return constant(-value.literal)
    if value.kind == FLOAT:
        return Value(FLOAT, f"(-{value.c})", fixed=value.fixed)
    return checked(body, node, "neg_i64", "integer", INT, value)


def lower_binary(
    body: Body, node: ast.AST, op: ast.operator, left: Value, right: Value
) -> Value:
    """`left op right`"""
    if left.kind in NUMBERS and right.kind in NUMBERS:
        return _numbers(body, node, op, left, right)
    sign = SYMBOLS[type(op)]
    method = special_method(body, node, left, OPERATORS.get(type(op), ""))
    if method is not None:
        return invoke_method(body, node, method, left, right)
    if isinstance(left.kind, SetOf) and left.kind == right.kind and type(op) in SETS:
        body.at(node)
        return body.root(left.kind, f"{SETS[type(op)][0]}({left.c}, {right.c})")
    if isinstance(left.kind, DictOf) and left.kind == right.kind and type(op) is ast.BitOr:
        body.at(node)
        made = body.root(left.kind, f"ppy_dict_copy({left.c})")
        body.line(f"ppy_dict_update({made.c}, {right.c});")
        return made
    match op, left.kind, right.kind:
        case ast.Add(), a, b if a == b == TEXT:
            return body.temporary(
                TEXT, f"ppy_concat((const ppy_text[]){{{left.c}, {right.c}}}, 2)"
            )
        case ast.Add(), ListOf() | ArrayOf(), b if left.kind == b:
            body.at(node)
            return body.root(left.kind, f"ppy_list_concat({left.c}, {right.c})")
        case ast.Add(), TupleOf(), TupleOf():
            from ppybuild.emit.standalone.values import tuple_of

            return tuple_of(left.items() + right.items())
        case ast.Mult(), a, b if b in (INT, BOOL):
            return _repeated(body, node, left, to_int(right))
        case ast.Mult(), a, b if a in (INT, BOOL):
            return _repeated(body, node, right, to_int(left))
        case _:
            raise Refused(node, f"`{sign}` of {show(left.kind)} and {show(right.kind)}")


def _repeated(body: Body, node: ast.AST, value: Value, times: Value) -> Value:
    body.at(node)
    if value.kind == TEXT:
        return body.temporary(TEXT, f"ppy_repeat({value.c}, {times.c})")
    if isinstance(value.kind, ListOf | ArrayOf):
        return body.root(value.kind, f"ppy_list_repeat({value.c}, {times.c})")
    raise Refused(node, f"`*` of {show(value.kind)} and int")


def _numbers(body: Body, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
    kind = type(op)
    if kind in _BITS and left.kind == right.kind == BOOL:
        return Value(BOOL, f"((bool)({left.c} {_BITS[kind]} {right.c}))")
    left, right = to_int(left), to_int(right)
    if FLOAT in (left.kind, right.kind):
        return _floats(body, node, op, to_float(left), to_float(right))
    if kind is ast.Div:
        return checked(body, node, "truediv_i64", "truediv_i64", FLOAT, left, right)
    if kind in _BITS:
        return Value(INT, f"({left.c} {_BITS[kind]} {right.c})")
    if kind is ast.Pow and right.literal is not None and right.literal < 0:  # type: ignore[operator]
        return _floats(body, node, op, to_float(left), to_float(right))
    if kind not in _INTS:
        raise Refused(node, f"`{SYMBOLS[kind]}` of two ints")
    operation, why = _INTS[kind]
    return checked(body, node, operation, why, INT, left, right)


def _floats(body: Body, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
    kind = type(op)
    if kind in _FLOATS:
        return Value(FLOAT, f"({left.c} {_FLOATS[kind]} {right.c})")
    if kind not in _FLOATS_CHECKED:
        raise Refused(node, f"`{SYMBOLS[kind]}` of floats")
    operation = _FLOATS_CHECKED[kind]
    if kind is ast.Div and right.literal:
        return Value(FLOAT, f"({left.c} / {right.c})")
    return checked(body, node, operation, operation, FLOAT, left, right)


# Comparisons


def lower_compare(body: Body, node: ast.Compare) -> Value:
    """`a < b <= c`: each operand once, and none behind the first that fails."""
    operands = [node.left, *node.comparators]
    if len(node.ops) == 1:
        left, right = _pair(body, operands[0], operands[1], node.ops[0])
        return _compared(body, node, node.ops[0], left, right, operands[1])
    name = body.fresh()
    body.line(f"bool {name} = false;")
    left = body.keep(body.value(operands[0]))
    depth = 0
    for at, (op, operand) in enumerate(zip(node.ops, operands[1:], strict=True)):
        right = body.keep(body.value(operand))
        test = _compared(body, node, op, left, right, operand).c
        if at + 1 < len(node.ops):
            body.line(f"if ({test}) {{")
            body.depth += 1
            depth += 1
        else:
            body.line(f"{name} = {test};")
        left = right
    for _ in range(depth):
        body.depth -= 1
        body.line("}")
    body.said_line = 0
    return Value(BOOL, name, fixed=True)


def _pair(body: Body, left: ast.expr, right: ast.expr, op: ast.cmpop) -> tuple[Value, Value]:
    first = body.value(left)
    if has_effects(right):
        first = body.keep(first)
    return first, body.value(right)


def _compared(
    body: Body, node: ast.AST, op: ast.cmpop, left: Value, right: Value, operand: ast.expr
) -> Value:
    match op:
        case ast.In() | ast.NotIn():
            found = _contains(body, node, left, right)
            return Value(BOOL, found if isinstance(op, ast.In) else f"(!{found})")
        case ast.Is() | ast.IsNot():
            objects = (left.kind, right.kind)
            if left.kind == right.kind and isinstance(left.kind, Reference):
                equal = "==" if isinstance(op, ast.Is) else "!="
                return Value(BOOL, f"({left.c} {equal} {right.c})")
            for one, other in (objects, objects[::-1]):
                if one == NONE and isinstance(other, ObjectOf):
                    where = left if right.kind == NONE else right
                    equal = "==" if isinstance(op, ast.Is) else "!="
                    return Value(BOOL, f"({where.c} {equal} NULL)")
            if NONE not in objects:
                raise Refused(node, "`is` of values that are no objects here")
            same = left.kind == right.kind
            return constant(same if isinstance(op, ast.Is) else not same)
        case _:
            return Value(BOOL, compare(body, node, op, left, right))


def compare(body: Body, node: ast.AST, op: ast.cmpop, left: Value, right: Value) -> str:
    """C for `left op right`."""
    sign, name = _COMPARISONS[type(op)]
    if isinstance(left.kind, ObjectOf) or isinstance(right.kind, ObjectOf):
        return _compare_objects(body, node, name, left, right)
    if left.kind in NUMBERS and right.kind in NUMBERS:
        left, right = to_int(left), to_int(right)
        if left.kind == right.kind:
            return f"({left.c} {sign} {right.c})"
        if left.kind == FLOAT:
            left, right, name = right, left, _MIRRORED[name]
        return f"ppy_{name}_mixed({left.c}, {right.c})"
    if left.kind == right.kind == TEXT:
        if name in ("eq", "ne"):
            return f"({'!' if name == 'ne' else ''}ppy_equal({left.c}, {right.c}))"
        return f"(ppy_compare({left.c}, {right.c}) {sign} 0)"
    if name in ("eq", "ne"):
        return f"({'!' if name == 'ne' else ''}{_equal(body, node, left, right)})"
    if isinstance(left.kind, TupleOf) and isinstance(right.kind, TupleOf):
        return _ordered_tuples(body, node, op, left.items(), right.items())
    if isinstance(left.kind, SetOf) and left.kind == right.kind:
        return _ordered_sets(name, left, right)
    if left.kind == right.kind and isinstance(left.kind, ListOf) and has_order(left.kind):
        first, second = (left, right) if name in ("lt", "ge") else (right, left)
        return f"({'!' if name in ('le', 'ge') else ''}ppy_list_less({first.c}, {second.c}))"
    raise Refused(node, f"`{sign}` of {show(left.kind)} and {show(right.kind)}")


def special_method(body: Body, node: ast.AST, value: Value, name: str) -> str | None:
    """The method that Python calls for an operator of an object."""
    if not isinstance(value.kind, ObjectOf):
        return None
    return class_form(body.whole, value.kind.name, node).method(name)


def _compare_objects(body: Body, node: ast.AST, name: str, left: Value, right: Value) -> str:
    if name in ("eq", "ne") and NONE in (left.kind, right.kind):
        known = left if right.kind == NONE else right
        if special_method(body, node, known, "__eq__") is None:
            return f"({known.c} {'==' if name == 'eq' else '!='} NULL)"
    method = special_method(body, node, left, COMPARISONS["eq" if name == "ne" else name])
    if left.kind == right.kind and name in ("eq", "ne"):
        body.at(node)
        return f"({'!' if name == 'ne' else ''}ppy_object_equal({left.c}, {right.c}))"
    if method is None:
        raise Refused(node, f"this comparison of {show(left.kind)} and {show(right.kind)}")
    found = invoke_method(body, node, method, left, right)
    return body.truth(found)


def _equal(body: Body, node: ast.AST, left: Value, right: Value) -> str:
    if isinstance(left.kind, TupleOf) and isinstance(right.kind, TupleOf):
        if len(left.items()) != len(right.items()):
            return "false"
        pairs = zip(left.items(), right.items(), strict=True)
        tests = [_same_part(body, node, a, b) for a, b in pairs]
        return f"({' && '.join(tests)})" if tests else "true"
    if left.kind == right.kind and isinstance(left.kind, Reference):
        body.at(node)
        return f"ppy_list_equal({left.c}, {right.c})"
    raise Refused(node, f"`==` of {show(left.kind)} and {show(right.kind)}")


def _same_part(body: Body, node: ast.AST, left: Value, right: Value) -> str:
    """Of a container, whose same objects are equal: only a nan tells the difference."""
    if left.kind == right.kind == FLOAT:
        return f"ppy_same_number({left.c}, {right.c})"
    return compare(body, node, ast.Eq(), left, right)


def _ordered_tuples(
    body: Body, node: ast.AST, op: ast.cmpop, left: Sequence[Value], right: Sequence[Value]
) -> str:
    name = _COMPARISONS[type(op)][1]
    if not left or not right:
        empty = {"lt": len(left) < len(right), "le": len(left) <= len(right)}
        empty |= {"gt": len(left) > len(right), "ge": len(left) >= len(right)}
        return "true" if empty[name] else "false"
    same = _same_part(body, node, left[0], right[0])
    before = compare(body, node, op, left[0], right[0])
    rest = _ordered_tuples(body, node, op, left[1:], right[1:])
    return f"({same} ? {rest} : {before})"


def _ordered_sets(name: str, left: Value, right: Value) -> str:
    few, many = (left, right) if name in ("lt", "le") else (right, left)
    within = f"ppy_set_within({few.c}, {many.c})"
    if name in ("le", "ge"):
        return within
    return f"({within} && ppy_set_length({few.c}) != ppy_set_length({many.c}))"


def _contains(body: Body, node: ast.AST, item: Value, where: Value) -> str:
    if where.kind == TEXT and item.kind == TEXT:
        return f"(ppy_find({where.c}, {item.c}) >= 0)"
    if isinstance(where.kind, TupleOf):
        item = body.keep(item)
        tests = [_same_part(body, node, item, each) for each in where.items()]
        return f"({' || '.join(tests)})" if tests else "false"
    if isinstance(where.kind, DictOf):
        at, _ = find(body, node, where, item)
        return f"({at} >= 0)"
    if isinstance(where.kind, SetOf):
        return is_in(body, node, item, where)
    if isinstance(where.kind, ListOf | ArrayOf):
        return f"({index_of(body, node, item, where).c} >= 0)"
    raise Refused(node, f"`in` {show(where.kind)}")


def index_of(body: Body, node: ast.AST, item: Value, where: Value) -> Value:
    """The first index at which a list holds an equal item, or -1."""
    assert isinstance(where.kind, ListOf | ArrayOf)
    item = body.keep(item)
    found, at = body.fresh(), body.fresh()
    each = Value(where.kind.item, f"PPY_ITEMS({c_item(where.kind)}, {where.c})[{at}]")
    if isinstance(where.kind, ArrayOf):
        each = Value(each.kind, f"(({c_type(each.kind)}){each.c})")
    body.line(f"int64_t {found} = -1;")
    with body.block(f"for (int64_t {at} = 0; {at} < {where.c}->length; {at}++)"):
        body.line(f"if ({_same_part(body, node, each, item)}) {{ {found} = {at}; break; }}")
    return Value(INT, found, fixed=True)
