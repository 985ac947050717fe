"""Options of the command line: what `argparse` puts into its namespace.

    parser.add_argument("--epochs", type=int, default=4)    →    args.epochs: int

Read from the calls' text, wherever the program has them; what an option that is declared
twice, or set elsewhere, is worth is the union, or unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from ppybuild.graph.lattice import join
from ppybuild.graph.program import Module
from ppybuild.graph.syntax import walk
from ppybuild.graph.types import BOOL, FLOAT, INT, NONE, STR, UNKNOWN, Collection, Type

NAMESPACE = "argparse.Namespace"

_TYPES: Mapping[str, Type] = {"int": INT, "float": FLOAT, "str": STR, "bool": BOOL}
_ACTIONS: Mapping[str, Type] = {"store_true": BOOL, "store_false": BOOL}
_LITERALS: Mapping[type, Type] = {
    int: INT,
    float: FLOAT,
    str: STR,
    bool: BOOL,
    type(None): NONE,
}


def find_options(modules: Iterable[Module]) -> Mapping[str, Type]:
    """The type of each attribute that options make."""
    found: dict[str, Type] = {}

    def note(name: str, type: Type) -> None:
        found[name] = join(found[name], type) if name in found else type

    for module in modules:
        if "add_argument" not in module.text and "Namespace" not in module.text:
            continue
        read = {name for node in walk(module.tree) for name in _holders(node)}
        for node in walk(module.tree):
            match node:
                case ast.Call(func=ast.Attribute(attr="add_argument")):
                    name = _name(node)
                    if name is not None:
                        note(name, _type(node))
                case ast.Call(func=ast.Attribute(attr="set_defaults" | "Namespace")):
                    for keyword in node.keywords:
                        note(keyword.arg or "", UNKNOWN)
                case ast.Attribute(value=ast.Name(id=owner), attr=attribute, ctx=ast.Store()):
                    if owner in read:
                        note(attribute, UNKNOWN)
                case _:
                    pass
    return found


def _holders(node: ast.AST) -> list[str]:
    """The variables that hold what a parser has read."""
    match node:
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Call(func=ast.Attribute(attr="parse_args" | "parse_known_args")),
        ):
            return [name]
    return []


def _name(node: ast.Call) -> str | None:
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    match given.get("dest"):
        case ast.Constant(value=str(name)):
            return name
        case None:
            pass
        case _:
            return None
    flags = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
    names = [flag for flag in flags if isinstance(flag, str)]
    if len(names) < len(node.args) or not names:
        return None
    long = next((each for each in names if each.startswith("--")), names[0])
    return long.lstrip("-").replace("-", "_")


def _type(node: ast.Call) -> Type:
    """What the option gives."""
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    action = given.get("action")
    if action is not None:
        name = action.value if isinstance(action, ast.Constant) else None
        return UNKNOWN if "default" in given else _ACTIONS.get(str(name), UNKNOWN)
    kind = given.get("type")
    one: Type = STR if kind is None else UNKNOWN
    if isinstance(kind, ast.Name):
        one = _TYPES.get(kind.id, UNKNOWN)
    several = given.get("nargs")
    if several is not None:
        counted = isinstance(several, ast.Constant) and several.value != "?"
        one = Collection("list", one) if counted else UNKNOWN
    return one if _is_always_given(node, given) else join(one, _default(given, one))


def _is_always_given(node: ast.Call, given: Mapping[str | None, ast.expr]) -> bool:
    required = given.get("required")
    if isinstance(required, ast.Constant) and required.value is True:
        return True
    flags = [arg for arg in node.args if isinstance(arg, ast.Constant)]
    return all(not str(flag.value).startswith("-") for flag in flags)


def _default(given: Mapping[str | None, ast.expr], one: Type) -> Type:
    """What the attribute is where the option is left out: without a default None, unless the
    program sees to it that it is not."""
    default = given.get("default")
    if default is None:
        return UNKNOWN
    found = _literal(default)
    return one if found == STR else found  # a string is read as the option would be


def _literal(node: ast.expr) -> Type:
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
            return _LITERALS.get(type(value), UNKNOWN)
        case ast.Constant(value=value):
            return _LITERALS.get(type(value), UNKNOWN)
        case _:
            return UNKNOWN
