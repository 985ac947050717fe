"""What a `case` pattern binds, and what is left for the cases after it."""

from __future__ import annotations

import ast

from ppybuild.graph.infer.visit import Env, Visit
from ppybuild.graph.scopes import pattern_names
from ppybuild.graph.syntax import walk
from ppybuild.graph.types import UNKNOWN, Type


def match_case(
    visit: Visit, subject_node: ast.expr, subject: Type, pattern: ast.pattern
) -> Env | None:
    """Binds the pattern's names in `visit.env`; gives what holds where it does not match
    (None for a pattern that always matches)."""
    before = None if visit.env is None else dict(visit.env)
    for node in walk(pattern):
        if isinstance(node, ast.MatchValue):
            visit.infer(node.value)
        elif isinstance(node, ast.MatchClass):
            visit.infer(node.cls)
        elif isinstance(node, ast.MatchMapping):
            for key in node.keys:
                visit.infer(key)
    for name in pattern_names(pattern):
        visit.bind(name, UNKNOWN)
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is None:
        if pattern.name is not None:
            visit.bind(pattern.name, subject)
        return None
    return before
