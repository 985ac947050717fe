"""Arguments of built-in functions and methods that are given by their places alone."""

from __future__ import annotations

import ast

from ppybuild.emit.standalone.body import Body
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.values import Value


def positional(body: Body, node: ast.Call, least: int, most: int) -> list[Value]:
    """The values, of which there are as many."""
    if node.keywords or not least <= len(node.args) <= most:
        raise Refused(node, f"these arguments of `{ast.unparse(node.func)}`")
    if any(isinstance(arg, ast.Starred) for arg in node.args):
        raise Refused(node, "a starred argument")
    return body.values(*node.args)
