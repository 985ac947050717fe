"""Which statements bind which names, and which names are constants of the program."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ppybuild.graph.program import Facts, Module


def statements_in_order(tree: ast.Module) -> Iterator[ast.stmt]:
    """Every statement, nested ones included, in the order of the text."""
    pending: list[ast.AST] = list(reversed(tree.body))
    while pending:
        node = pending.pop()
        if isinstance(node, ast.stmt):
            yield node
        children = [
            child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr)
        ]
        pending.extend(reversed(children))


def single_name(statement: ast.stmt) -> str | None:
    """The name that an assignment to one plain name binds."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            return target.id
    return None


def bound_by(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement itself binds, those of blocks inside it left out."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            yield node.id
        if isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
            continue
        if isinstance(node, ast.Try | ast.TryStar):
            yield from (found.name for found in node.handlers if found.name)
        if isinstance(node, ast.Match):
            for case in node.cases:
                pending.append(case.pattern)
        if isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name
        if isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest
        pending.extend(
            child
            for child in ast.iter_child_nodes(node)
            if not isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case)
        )


class Constants:
    """Module-level names that nothing in the program binds again."""

    def __init__(self, facts: Facts) -> None:
        self.stored: set[str] = set()
        """Attributes that are stored, deleted or named by a string: any may be a module's."""
        self.bound: dict[str, dict[str, int]] = {}
        for module in facts.program.modules.values():
            counts = self.bound[module.name] = dict[str, int]()
            for node in ast.walk(module.tree):
                match node:
                    case ast.Name(ctx=ast.Store() | ast.Del()):
                        counts[node.id] = counts.get(node.id, 0) + 1
                    case ast.Attribute(ctx=ast.Store() | ast.Del()):
                        self.stored.add(node.attr)
                    case ast.Global():
                        counts.update(dict.fromkeys(node.names, 2))
                    case ast.alias():
                        name = node.asname or node.name
                        counts[name] = counts.get(name, 0) + 1
                    case ast.Constant(value=str() as text) if text.isidentifier():
                        if "setattr" in module.text or "globals()" in module.text:
                            self.stored.add(text)

    def holds(self, module: Module, statement: ast.Assign) -> bool:
        """Whether the statement binds an upper-case constant, once and for all."""
        name = single_name(statement)
        if name is None or not name.isupper() or not _is_literal(statement.value):
            return False
        return self.bound[module.name].get(name) == 1 and name not in self.stored


def _is_literal(node: ast.expr) -> bool:
    match node:
        case ast.Constant():
            return node.value is not None and node.value is not ...
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert()):
            return _is_literal(node.operand)
        case ast.BinOp():
            return _is_literal(node.left) and _is_literal(node.right)
        case ast.Tuple():
            return bool(node.elts) and all(map(_is_literal, node.elts))
    return False
