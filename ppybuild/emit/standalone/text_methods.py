"""Methods of str, as rows."""

from __future__ import annotations

import ast

from ppybuild.emit.standalone.body import Body
from ppybuild.emit.standalone.kinds import BOOL, INT, TEXT, Kind, ListOf, TupleOf, show
from ppybuild.emit.standalone.lists import gathered
from ppybuild.emit.standalone.operators import to_int
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.values import Value, constant

_LIST = ListOf(TEXT)
_Row = tuple[str, tuple[Kind, ...], Kind]

# By name and how many arguments: the C function, the kinds of its arguments, and of its result.
_ROWS: dict[tuple[str, int], _Row] = {
    ("strip", 0): ("ppy_strip", (), TEXT),
    ("strip", 1): ("ppy_strip_these", (TEXT,), TEXT),
    ("lstrip", 0): ("ppy_strip_left", (), TEXT),
    ("lstrip", 1): ("ppy_strip_left_these", (TEXT,), TEXT),
    ("rstrip", 0): ("ppy_strip_right", (), TEXT),
    ("rstrip", 1): ("ppy_strip_right_these", (TEXT,), TEXT),
    ("removeprefix", 1): ("ppy_remove_prefix", (TEXT,), TEXT),
    ("removesuffix", 1): ("ppy_remove_suffix", (TEXT,), TEXT),
    ("upper", 0): ("ppy_upper", (), TEXT),
    ("lower", 0): ("ppy_lower", (), TEXT),
    ("capitalize", 0): ("ppy_capitalize", (), TEXT),
    ("title", 0): ("ppy_title", (), TEXT),
    ("swapcase", 0): ("ppy_swapcase", (), TEXT),
    ("isalpha", 0): ("ppy_is_alpha", (), BOOL),
    ("isdigit", 0): ("ppy_is_digit", (), BOOL),
    ("isdecimal", 0): ("ppy_is_digit", (), BOOL),
    ("isnumeric", 0): ("ppy_is_digit", (), BOOL),
    ("isalnum", 0): ("ppy_is_alnum", (), BOOL),
    ("isspace", 0): ("ppy_is_white", (), BOOL),
    ("isupper", 0): ("ppy_is_upper", (), BOOL),
    ("islower", 0): ("ppy_is_lower", (), BOOL),
    ("isascii", 0): ("ppy_is_ascii", (), BOOL),
    ("replace", 2): ("ppy_replace", (TEXT, TEXT), TEXT),
    ("replace", 3): ("ppy_replace_some", (TEXT, TEXT, INT), TEXT),
    ("startswith", 1): ("ppy_starts_with", (TEXT,), BOOL),
    ("endswith", 1): ("ppy_ends_with", (TEXT,), BOOL),
    ("find", 1): ("ppy_find", (TEXT,), INT),
    ("find", 2): ("ppy_find_from", (TEXT, INT), INT),
    ("rfind", 1): ("ppy_find_last", (TEXT,), INT),
    ("index", 1): ("ppy_index_first", (TEXT,), INT),
    ("rindex", 1): ("ppy_index_last", (TEXT,), INT),
    ("count", 1): ("ppy_count", (TEXT,), INT),
    ("zfill", 1): ("ppy_zfill", (INT,), TEXT),
    ("center", 2): ("ppy_center", (INT, TEXT), TEXT),
    ("ljust", 2): ("ppy_left", (INT, TEXT), TEXT),
    ("rjust", 2): ("ppy_right", (INT, TEXT), TEXT),
    ("split", 0): ("ppy_text_split", (), _LIST),
    ("split", 1): ("ppy_text_split_at", (TEXT,), _LIST),
    ("split", 2): ("ppy_text_split_most", (TEXT, INT), _LIST),
    ("rsplit", 2): ("ppy_text_split_last", (TEXT, INT), _LIST),
    ("splitlines", 0): ("ppy_text_lines", (), _LIST),
}
_DEFAULTS = {"center": constant(" "), "ljust": constant(" "), "rjust": constant(" ")}
"""The second argument, where it is left out."""
_KEYWORDS = {("split", "maxsplit"), ("rsplit", "maxsplit")}
"""Arguments that may be named: the second of each."""
_PARTED = {"partition": "ppy_partition", "rpartition": "ppy_partition_last"}
_KNOWN = {"join", *_PARTED, *(name for name, _ in _ROWS)}


def lower_text_method(body: Body, node: ast.Call, value: Value, method: str) -> Value:
    """`value.method(…)`"""
    if method == "join" and len(node.args) == 1 and not node.keywords:
        return _join(body, node, value)
    named = [each for each in node.keywords if (method, each.arg) in _KEYWORDS]
    if len(named) != len(node.keywords) or (named and len(node.args) != 1):
        raise Refused(node, f"these arguments of `str.{method}`")
    given = [*node.args, *(each.value for each in named)]
    if method in ("startswith", "endswith"):
        match given:
            case [ast.Tuple() as ends]:
                return _any_end(body, node, value, method, ends)
    args = [to_int(arg) for arg in body.values(*given)]
    if method in _DEFAULTS and len(args) == 1:
        args.append(_DEFAULTS[method])
    if method in _PARTED and [arg.kind for arg in args] == [TEXT]:
        return _parted(body, node, _PARTED[method], value, args[0])
    row = _ROWS.get((method, len(args)))
    if row is None and method not in _KNOWN:
        raise Refused(node, f"`str.{method}`")
    if row is None or tuple(arg.kind for arg in args) != row[1]:
        raise Refused(node, f"these arguments of `str.{method}`")
    c, _, result = row
    body.at(node)
    return body.temporary(result, f"{c}({', '.join(each.c for each in (value, *args))})")


def _join(body: Body, node: ast.Call, value: Value) -> Value:
    texts = gathered(body, node.args[0])
    if texts.kind != _LIST:
        raise Refused(node, f"`join` of {show(texts.kind)}")
    body.at(node)
    return body.temporary(TEXT, f"ppy_list_join({value.c}, {texts.c})")


def _any_end(body: Body, node: ast.Call, value: Value, method: str, ends: ast.Tuple) -> Value:
    """`startswith` of one of several."""
    c = _ROWS[method, 1][0]
    found = body.values(*ends.elts)
    if any(each.kind != TEXT for each in found):
        raise Refused(node, f"these arguments of `str.{method}`")
    tests = " || ".join(f"{c}({value.c}, {each.c})" for each in found)
    return body.temporary(BOOL, tests or "false")


def _parted(body: Body, node: ast.Call, c: str, value: Value, separator: Value) -> Value:
    name = body.fresh()
    body.at(node)
    body.uses_arena = True
    body.line(f"const ppy_three_texts {name} = {c}({value.c}, {separator.c});")
    parts = tuple(body.keep(Value(TEXT, f"{name}.p{at}")) for at in range(3))
    return Value(TupleOf((TEXT, TEXT, TEXT)), "", parts=parts, fixed=True)
