"""Walks the program once, innermost expressions first, and asks each family of findings."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from ppybuild.diagnostics import Diagnostic
from ppybuild.graph.check.attributes import check_attribute
from ppybuild.graph.check.calls import check_call
from ppybuild.graph.check.conditions import (
    chooses,
    is_conditional,
    is_import_handler,
)
from ppybuild.graph.check.context import Context
from ppybuild.graph.check.layers import check_layer
from ppybuild.graph.check.libraries import check_import, check_import_from
from ppybuild.graph.check.names import check_names
from ppybuild.graph.check.operators import (
    check_augmented,
    check_binary,
    check_compare,
    check_unary,
)
from ppybuild.graph.check.optional import check_optional
from ppybuild.graph.check.place import Place
from ppybuild.graph.check.purity import check_purity
from ppybuild.graph.check.values import (
    check_annotated,
    check_item,
    check_iteration,
    check_return,
    check_unpacking,
)
from ppybuild.graph.library import Library
from ppybuild.graph.program import Facts, Function
from ppybuild.graph.recursion import deep_recursion
from ppybuild.graph.syntax import children

Check = Callable[[Context, Place, ast.AST], Iterator[Diagnostic]]

FAMILIES: Mapping[type[ast.AST], tuple[Check, ...]] = {
    ast.Import: (check_import,),
    ast.ImportFrom: (check_import_from,),
    ast.Attribute: (check_optional, check_attribute),
    ast.Subscript: (check_optional, check_item),
    ast.Call: (check_optional, check_call, check_layer),
    ast.BinOp: (check_optional, check_binary),
    ast.Compare: (check_compare,),
    ast.Assign: (check_unpacking,),
    ast.AugAssign: (check_optional, check_augmented),
    ast.UnaryOp: (check_optional, check_unary),
    ast.For: (check_optional, check_iteration),
    ast.Return: (check_return,),
    ast.AnnAssign: (check_annotated,),
}
"""What looks at which nodes; the first finding at a node is the only one."""
WHOLE_MODULE = (check_names, check_purity)
"""What looks at a module as a whole."""


@deep_recursion()
def check(facts: Facts, library: Library | None = None) -> tuple[Diagnostic, ...]:
    """Everything that is certain to be wrong, in order of place."""
    context = Context(facts, library or Library())
    found: list[Diagnostic] = []
    for module in facts.program.modules.values():
        for whole in WHOLE_MODULE:
            found.extend(whole(context, module))
        place = Place(module, None, False, frozenset(), False, False)
        by_node: dict[ast.AST, Function] = {
            function.node: function for function in context.functions_of(module)
        }
        walker = _Walker(context, by_node, context.flags)
        for statement, inner in walker.body(place, module.tree.body):
            walker.visit(inner, statement)
        ignored = ignored_lines(module.text) if walker.found else frozenset()
        found.extend(one for one in walker.found if _line(one) not in ignored)
    return tuple(sorted(set(found), key=_order))


def ignored_lines(text: str) -> frozenset[int]:
    """Lines whose comment tells type checkers to look away."""
    if not _IGNORE.search(text):
        return frozenset()
    return frozenset(
        token.start[0]
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT and _IGNORE.match(token.string)
    )


_IGNORE = re.compile(r"#\s*type:\s*ignore\b")


def _line(found: Diagnostic) -> int | None:
    return None if found.location is None else found.location.line


def _order(found: Diagnostic) -> tuple[str, int, int, str, str]:
    where = found.location
    if where is None:
        return ("", 0, 0, found.code, found.message)
    return (str(where.path), where.line, where.column, found.code, found.message)


_SCOPED = frozenset(
    {
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
        ast.Try,
        ast.TryStar,
        ast.ExceptHandler,
        ast.With,
        ast.AsyncWith,
        ast.If,
        ast.IfExp,
        ast.BoolOp,
        ast.Lambda,
        ast.ListComp,
        ast.SetComp,
        ast.DictComp,
        ast.GeneratorExp,
        ast.AnnAssign,
    }
)
"""Nodes some of whose children stand in another place than they do, or are not looked at."""


_LEAVES = frozenset({ast.Name, ast.Constant})
"""Nodes that no family looks at, and that hold no others."""


class _Walker:
    """One module's walk."""

    def __init__(
        self,
        context: Context,
        functions: Mapping[ast.AST, Function],
        flags: frozenset[str],
    ) -> None:
        self.context = context
        self.functions = functions
        self.flags = flags
        self.found: list[Diagnostic] = []

    def visit(self, place: Place, node: ast.AST) -> bool:
        """True where the node, or an expression in it, has a finding."""
        kind = type(node)
        known = self.context.broken
        broken = node in known
        if kind in _SCOPED:
            for child, inner in self._children(place, node):
                broken = self.visit(inner, child) or broken
        else:
            for child in children(node):
                if type(child) in _LEAVES:
                    broken = broken or child in known
                elif self.visit(place, child):
                    broken = True
        if not broken:
            for family in FAMILIES.get(kind, ()):
                reported = list(family(self.context, place, node))
                if reported:
                    self.found.extend(reported)
                    broken = True
                    break
        if isinstance(node, ast.stmt):
            return False
        if broken:
            self.context.broken.add(node)
        return broken

    def _children(self, place: Place, node: ast.AST) -> Iterator[tuple[ast.AST, Place]]:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from self._function(place, node)
            case ast.ClassDef():
                inner = replace(place, in_class=True)
                for child in children(node):
                    yield child, inner if isinstance(child, ast.stmt) else place
            case ast.Try() | ast.TryStar():
                names = place.caught | caught_by(node.handlers)
                for child in children(node):
                    in_body = isinstance(child, ast.stmt) and child in node.body
                    yield child, replace(place, caught=names) if in_body else place
            case ast.ExceptHandler() if is_import_handler(node):
                for child in children(node):
                    yield child, replace(place, conditional=True)
            case ast.With() | ast.AsyncWith() if expects_exception(node):
                inner = replace(place, caught=place.caught | {"*"})
                for child in children(node):
                    yield child, inner
            case ast.If(test=test) | ast.IfExp(test=test) if is_conditional(test, self.flags):
                inner = replace(place, conditional=True)
                for child in children(node):
                    yield child, inner
            case ast.BoolOp(values=values) if any(
                is_conditional(value, self.flags) for value in values
            ):
                inner = replace(place, conditional=True)
                for child in values:
                    yield child, inner
            case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp():
                yield from self._nested(place, node)
            case ast.GeneratorExp():
                yield from self._nested(place, node)
            case ast.AnnAssign(value=value):
                if value is not None:
                    yield value, place
                yield node.target, place
            case _:
                for child in children(node):
                    yield child, place

    def _nested(self, place: Place, node: ast.AST) -> Iterator[tuple[ast.AST, Place]]:
        inner = replace(place, nested=True)
        for child in children(node):
            yield child, inner

    def _function(
        self, place: Place, node: ast.FunctionDef | ast.AsyncFunctionDef
    ) -> Iterator[tuple[ast.AST, Place]]:
        """Defaults and decorators stand outside; annotations are not looked at."""
        for outer in (*node.decorator_list, *node.args.defaults, *node.args.kw_defaults):
            if outer is not None:
                yield outer, place
        function = self.functions.get(node)
        inner = Place(place.module, function, False, frozenset(), place.conditional, False)
        yield from self.body(inner, node.body)

    def body(
        self, place: Place, statements: Sequence[ast.stmt]
    ) -> Iterator[tuple[ast.stmt, Place]]:
        """The statements of a module or function, with where each stands."""
        for statement in statements:
            yield statement, place
            if chooses(statement, self.flags):
                place = replace(place, conditional=True)


def caught_by(handlers: list[ast.ExceptHandler]) -> frozenset[str]:
    """The names of the exceptions that handlers take; "*" for all."""
    names: set[str] = set()
    for handler in handlers:
        if handler.type is None:
            return frozenset({"*"})
        kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        for kind in kinds:
            match kind:
                case ast.Name(id="Exception" | "BaseException"):
                    names.add("*")
                case ast.Name(id=name) | ast.Attribute(attr=name):
                    names.add(name)
                case _:
                    names.add("*")
    return frozenset(names)


def expects_exception(node: ast.With | ast.AsyncWith) -> bool:
    """True for `with suppress(...)`, `with pytest.raises(...)`, `assertRaises`."""
    for item in node.items:
        match item.context_expr:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                if name == "suppress" or "aises" in name:
                    return True
            case _:
                pass
    return False
