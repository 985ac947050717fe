"""Built-in functions, by name."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ppybuild.emit.standalone.arguments import positional
from ppybuild.emit.standalone.body import Body, has_effects
from ppybuild.emit.standalone.dicts import lower_dict_call
from ppybuild.emit.standalone.invoke import invoke_method
from ppybuild.emit.standalone.items import fitting, new_list, put
from ppybuild.emit.standalone.kinds import (
    BOOL,
    ERROR,
    FLOAT,
    INT,
    NUMBERS,
    TEXT,
    ArrayOf,
    DictOf,
    ListOf,
    ObjectOf,
    SetOf,
    TupleOf,
    kind_of,
    show,
)
from ppybuild.emit.standalone.lists import append, each_of, listed
from ppybuild.emit.standalone.mathematics import whole
from ppybuild.emit.standalone.objects import form_of
from ppybuild.emit.standalone.operators import checked, lower_binary, to_float, to_int
from ppybuild.emit.standalone.ordering import extreme, lower_sorted
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.sets import lower_set_call
from ppybuild.emit.standalone.texts import formatted, repr_of, str_of
from ppybuild.emit.standalone.values import NOTHING, Value, constant, tuple_of

Rule = Callable[[Body, ast.Call], Value]


def _wrong(node: ast.Call, *values: Value) -> Refused:
    kinds = " and ".join(show(value.kind) for value in values)
    return Refused(node, f"`{ast.unparse(node.func)}` of {kinds}")


# Input and output


def _print(body: Body, node: ast.Call) -> Value:
    named = {each.arg: each.value for each in node.keywords}
    if not set(named) <= {"sep", "end", "file", "flush"}:
        raise Refused(node, "these arguments of `print`")
    stream = _stream(body, node, named.get("file"))
    starred = any(isinstance(arg, ast.Starred) for arg in node.args)
    texts = _spread(body, node) if starred else None
    values = body.values(*node.args) if not starred else []
    sep = _text_or(body, named.get("sep"), " ")
    end = _text_or(body, named.get("end"), "\n")
    flush = body.truth(body.value(named["flush"])) if "flush" in named else "false"
    parts = [str_of(body, node, value) for value in values]
    body.at(node)
    words = f"(const ppy_text[]){{{', '.join(part.c for part in parts)}}}" if parts else "NULL"
    count = str(len(parts))
    if texts is not None:
        words, count = f"PPY_ITEMS(ppy_text, {texts.c})", f"{texts.c}->length"
    body.line(f"ppy_print({words}, {count}, {sep}, {end}, {stream}, {flush});")
    return NOTHING


def _spread(body: Body, node: ast.Call) -> Value:
    """What `print(a, *b)` shows, as a list of texts."""
    texts = new_list(body, node, ListOf(TEXT))

    def add(value: Value) -> None:
        if isinstance(value.kind, ListOf | ArrayOf) and any(map(has_effects, node.args)):
            raise Refused(node, "a starred argument beside calls that may change what it holds")
        append(body, node, texts, str_of(body, node, value))

    for arg in node.args:
        if isinstance(arg, ast.Starred):
            each_of(body, arg.value, add)
        else:
            with body.statement():
                add(body.value(arg))
    return texts


def _text_or(body: Body, node: ast.expr | None, default: str) -> str:
    if node is None or (isinstance(node, ast.Constant) and node.value is None):
        return constant(default).c
    value = body.value(node)
    if value.kind != TEXT:
        raise Refused(node, f"{show(value.kind)} where a str belongs")
    return value.c


def _stream(body: Body, node: ast.AST, file: ast.expr | None) -> str:
    if file is None:
        return "PPY_STDOUT"
    said = ast.unparse(file)
    if said.rpartition(".")[2] in ("stdout", "stderr") and "sys" in said:
        return "PPY_STDERR" if said.endswith("stderr") else "PPY_STDOUT"
    raise Refused(node, f"a file `{said}`")


def _input(body: Body, node: ast.Call) -> Value:
    args = positional(body, node, 0, 1)
    prompt = str_of(body, node, args[0]) if args else constant("")
    body.at(node)
    return body.temporary(TEXT, f"ppy_input({prompt.c})")


# Conversions


def _int(body: Body, node: ast.Call) -> Value:
    args = positional(body, node, 0, 2)
    if not args:
        return constant(0)
    if args[0].kind == TEXT:
        base = to_int(args[1]).c if len(args) == 2 else "10"
        body.at(node)
        return body.temporary(INT, f"ppy_int_of_text({args[0].c}, {base})")
    if args[0].kind not in NUMBERS or len(args) == 2:
        raise _wrong(node, *args)
    return whole("trunc")(body, node, args)


def _float(body: Body, node: ast.Call) -> Value:
    args = positional(body, node, 0, 1)
    if not args:
        return constant(0.0)
    if args[0].kind == TEXT:
        body.at(node)
        return body.temporary(FLOAT, f"ppy_float_of_text({args[0].c})")
    if args[0].kind not in NUMBERS:
        raise _wrong(node, *args)
    return to_float(args[0])


def _bool(body: Body, node: ast.Call) -> Value:
    args = positional(body, node, 0, 1)
    return Value(BOOL, body.truth(args[0])) if args else constant(False)


def _str(body: Body, node: ast.Call) -> Value:
    args = positional(body, node, 0, 1)
    return str_of(body, node, args[0]) if args else constant("")


def _repr(body: Body, node: ast.Call) -> Value:
    (value,) = positional(body, node, 1, 1)
    if value.kind == ERROR:
        return body.temporary(TEXT, "ppy_caught_repr()")
    return repr_of(body, node, value)


def _format(body: Body, node: ast.Call) -> Value:
    value, *spec = positional(body, node, 1, 2)
    return formatted(body, node, value, spec[0] if spec else constant(""))


def _chr(body: Body, node: ast.Call) -> Value:
    (value,) = positional(body, node, 1, 1)
    if value.kind not in (INT, BOOL):
        raise _wrong(node, value)
    body.at(node)
    return body.temporary(TEXT, f"ppy_chr({to_int(value).c})")


def _ord(body: Body, node: ast.Call) -> Value:
    (value,) = positional(body, node, 1, 1)
    if value.kind != TEXT:
        raise _wrong(node, value)
    body.at(node)
    return body.temporary(INT, f"ppy_ord({value.c})")


# Numbers


def _abs(body: Body, node: ast.Call) -> Value:
    (value,) = positional(body, node, 1, 1)
    if value.kind not in NUMBERS:
        raise _wrong(node, value)
    value = to_int(value)
    if value.kind == FLOAT:
        return Value(FLOAT, f"fabs({value.c})", fixed=value.fixed)
    return checked(body, node, "abs_i64", "integer", INT, value)


def _round(body: Body, node: ast.Call) -> Value:
    args = positional(body, node, 1, 2)
    if any(arg.kind not in NUMBERS for arg in args):
        raise _wrong(node, *args)
    if len(args) == 1:
        return whole("round")(body, node, args)
    value, digits = to_int(args[0]), args[1]
    if not isinstance(digits.literal, int) or digits.literal < 0:
        raise Refused(node, "`round` to digits that are no constant, or before the point")
    if value.kind == INT:
        return value
    body.at(node)
    body.uses_arena = True
    return body.temporary(FLOAT, f"ppy_round_digits({value.c}, {digits.c})")


def _divmod(body: Body, node: ast.Call) -> Value:
    left, right = positional(body, node, 2, 2)
    if left.kind not in NUMBERS or right.kind not in NUMBERS:
        raise _wrong(node, left, right)
    left, right = body.keep(to_int(left)), body.keep(to_int(right))
    kind, name = INT, "i64"
    if FLOAT in (left.kind, right.kind):
        left, right, kind, name = to_float(left), to_float(right), FLOAT, "f64"
    quotient = checked(body, node, f"floordiv_{name}", f"divmod_{name}", kind, left, right)
    rest = checked(body, node, f"mod_{name}", f"divmod_{name}", kind, left, right)
    return tuple_of((quotient, rest))


def _pow(body: Body, node: ast.Call) -> Value:
    left, right = positional(body, node, 2, 2)
    return lower_binary(body, node, ast.Pow(), left, right)


def _sum(body: Body, node: ast.Call) -> Value:
    named = {each.arg: each.value for each in node.keywords}
    start_node = node.args[1] if len(node.args) == 2 else named.get("start")
    if not node.args or len(node.args) > 2 or set(named) - {"start"}:
        raise Refused(node, "these arguments of `sum`")
    start = to_int(body.value(start_node)) if start_node is not None else constant(0)
    if start_node is None and body.kind_at(node) == FLOAT:
        return _sum_of_floats(body, node)
    if start.kind not in (INT, FLOAT):
        raise Refused(node, f"`sum` from {show(start.kind)}")
    place = body.variable(start.kind)
    body.set(place, start)
    each_of(body, node.args[0], lambda value: _add_to(body, node, place, to_int(value)))
    return place


def _add_to(body: Body, node: ast.Call, place: Value, value: Value) -> None:
    if value.kind == FLOAT and place.kind == INT:
        raise Refused(node, "`sum` of floats from an int", "write `sum(values, 0.0)`")
    if value.kind not in (INT, FLOAT):
        raise Refused(node, f"`sum` of {show(value.kind)}")
    body.set(place, lower_binary(body, node, ast.Add(), place, value))


def _sum_of_floats(body: Body, node: ast.Call) -> Value:
    """From the int 0, which is the sum of none."""
    place, some = body.variable(FLOAT), body.variable(BOOL)

    def add(value: Value) -> None:
        if value.kind != FLOAT:
            raise Refused(node, f"`sum` of floats and {show(value.kind)}", "make it float")
        body.set(some, constant(True))
        _add_to(body, node, place, value)

    each_of(body, node.args[0], add)
    body.fail(node, f"!{some.c}", 'ppy_raise_beyond("the sum of no floats is the int 0")')
    return place


def _any(is_all: bool) -> Rule:
    def apply(body: Body, node: ast.Call) -> Value:
        if len(node.args) != 1 or node.keywords:
            raise Refused(node, "these arguments of `any` or `all`")
        place, done = body.fresh(), body.fresh()
        body.line(f"bool {place} = {'true' if is_all else 'false'};")

        def test(value: Value) -> None:
            truth = body.truth(value)
            condition = f"!{truth}" if is_all else truth
            outcome = "false" if is_all else "true"
            body.line(f"if ({condition}) {{ {place} = {outcome}; goto {done}; }}")

        each_of(body, node.args[0], test)
        body.line(f"{done}:;")
        return Value(BOOL, place, fixed=True)

    return apply


# Collections


def _len(body: Body, node: ast.Call) -> Value:
    (value,) = positional(body, node, 1, 1)
    match value.kind:
        case ListOf() | ArrayOf():
            return Value(INT, f"{value.c}->length")
        case DictOf() | SetOf():
            return Value(INT, f"{value.c}->table->used")
        case ObjectOf():
            length = form_of(body, node, value).method("__len__")
            if length is None:
                raise _wrong(node, value)
            found = invoke_method(body, node, length, value)
            if found.kind != INT:
                raise Refused(node, "a `__len__` that gives no int")
            body.fail(node, f"{found.c} < 0", "ppy_why_length()")
            return found
        case TupleOf(items):
            return constant(len(items))
        case kind if kind == TEXT:
            return Value(INT, f"{value.c}.length", fixed=value.fixed)
        case _:
            raise _wrong(node, value)


def _list(body: Body, node: ast.Call) -> Value:
    if node.keywords or len(node.args) > 1:
        raise Refused(node, "these arguments of `list`")
    if node.args and not isinstance(node.args[0], ast.GeneratorExp):
        return listed(body, node.args[0])
    kind = body.kind_at(node)
    if not isinstance(kind, ListOf):
        raise Refused(node, "a list whose items are not known", "annotate it")
    made = new_list(body, node, kind)
    for arg in node.args:
        each_of(body, arg, lambda value: append(body, node, made, value))
    return made


def lower_array(body: Body, node: ast.Call) -> Value:
    """`array.array(typecode, items)`"""
    kind = kind_of(body.whole.facts.types.get(node))
    if node.keywords or not 1 <= len(node.args) <= 2 or not isinstance(kind, ArrayOf):
        raise Refused(node, "this array", 'its typecode is one of "d", "f", "q", "i", "B", "b"')
    made = new_list(body, node, kind)
    if len(node.args) == 2:

        def add(value: Value) -> None:
            fitted = fitting(body, node, kind, value)
            body.line(f"ppy_list_append({made.c});")
            put(body, node, kind, made.c, f"{made.c}->length - 1", fitted)

        each_of(body, node.args[1], add)
    return made


FUNCTIONS: dict[str, Rule] = {
    "print": _print,
    "input": _input,
    "int": _int,
    "float": _float,
    "bool": _bool,
    "str": _str,
    "repr": _repr,
    "format": _format,
    "chr": _chr,
    "ord": _ord,
    "abs": _abs,
    "round": _round,
    "divmod": _divmod,
    "pow": _pow,
    "min": extreme(is_max=False),
    "max": extreme(is_max=True),
    "sum": _sum,
    "any": _any(is_all=False),
    "all": _any(is_all=True),
    "len": _len,
    "list": _list,
    "dict": lower_dict_call,
    "set": lower_set_call,
    "sorted": lower_sorted,
}
