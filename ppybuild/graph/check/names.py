"""E1101: names that nothing binds."""

from __future__ import annotations

import ast
import builtins
import re
import symtable
from collections.abc import Iterator

from ppybuild.diagnostics import Diagnostic, nearest
from ppybuild.graph.check.conditions import is_conditional
from ppybuild.graph.check.context import Context
from ppybuild.graph.imports import absolute_name
from ppybuild.graph.locations import locate
from ppybuild.graph.program import Module
from ppybuild.graph.syntax import children, walk

BUILTINS = frozenset(dir(builtins)) | {
    "__file__",
    "__path__",
    "__annotations__",
    "__builtins__",
    "__cached__",
    "__class__",
    "__module__",
    "__qualname__",
    "WindowsError",
    "_",
}
"""Names that are there without being bound; `_` may be installed by `gettext`."""
DYNAMIC = (
    "globals()",
    "exec(",
    "locals()",
    "vars()",
    "builtins.",
    "__builtins__",
    "eval(",
    "global_enum",
    "_convert_(",
    "sys.modules[__name__]",
)
"""Text by which a module may bind names that no statement shows."""
_STAR = re.compile(r"import[\s\\]*\*")


def check_names(context: Context, module: Module) -> Iterator[Diagnostic]:
    """Each name once per scope, at its first use."""
    if any(word in module.text for word in DYNAMIC):
        return
    known = module_names(context, module)
    if known is None:
        return
    try:
        table = symtable.symtable(module.text, str(module.path), "exec")
    except (SyntaxError, ValueError, RecursionError):
        return
    unbound = set(unbound_names(table, known)) - asked_for(module)
    if not unbound:
        return
    reported: set[tuple[str, int]] = set()
    for node in uses_of(context, module, unbound):
        key = (node.id, enclosing_line(context, module, node))
        context.broken.add(node)
        if key in reported:
            continue
        reported.add(key)
        close = nearest(node.id, known | names_in(table, node.lineno) | builtin_names())
        yield Diagnostic(
            "E1101",
            f"nothing binds the name `{node.id}`",
            locate(module, node),
            help=f"did you mean `{close}`?" if close else f"bind `{node.id}`, or import it",
        )


def builtin_names() -> frozenset[str]:
    return frozenset(name for name in dir(builtins) if not name.startswith("_"))


def module_names(context: Context, module: Module) -> frozenset[str] | None:
    """What the module binds; None where a star import brings names that are not known."""
    names = context.exports.names(module.name)
    if not _STAR.search(module.text):
        return names
    for node in walk(module.tree):
        if not isinstance(node, ast.ImportFrom) or node.names[0].name != "*":
            continue
        source = absolute_name(module, node)
        if source in context.facts.program.modules:
            if any(word in context.facts.program.modules[source].text for word in DYNAMIC):
                return None
            starred = {
                inner.module or "."
                for inner in walk(context.facts.program.modules[source].tree)
                if isinstance(inner, ast.ImportFrom) and inner.names[0].name == "*"
            }
            if starred:
                return None
            continue
        return None
    return names


def unbound_names(table: symtable.SymbolTable, known: frozenset[str]) -> Iterator[str]:
    """Names that some scope takes from the module, which does not bind them."""
    for symbol in table.get_symbols():
        name = symbol.get_name()
        is_module = table.get_type() == "module"
        if is_module:
            missing = symbol.is_referenced() and not (
                symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
            )
        else:
            missing = symbol.is_referenced() and symbol.is_global()
        if missing and name not in known and name not in BUILTINS:
            yield name
    for child in table.get_children():
        yield from unbound_names(child, known)


def asked_for(module: Module) -> frozenset[str]:
    """Names whose absence a `try` asks for: what comes after knows if they are there."""
    if "NameError" not in module.text:
        return frozenset()
    return frozenset(
        expression.value.id
        for node in walk(module.tree)
        if isinstance(node, ast.Try) and catches_names(node.handlers)
        for expression in node.body
        if isinstance(expression, ast.Expr) and isinstance(expression.value, ast.Name)
    )


def uses_of(context: Context, module: Module, names: set[str]) -> Iterator[ast.Name]:
    """Places that read one of the names where nothing provides for its absence."""
    yield from Uses(module, names, context.flags).visit(module.tree.body, frozenset())


class Uses:
    """Reads of names, with what each scope around them binds."""

    def __init__(self, module: Module, names: set[str], flags: frozenset[str]) -> None:
        self.names = names
        self.flags = flags
        self.annotations_run = "from __future__ import annotations" not in module.text

    def visit(self, body: list[ast.stmt], bound: frozenset[str]) -> Iterator[ast.Name]:
        for statement in body:
            yield from self.node(statement, bound)

    def node(self, node: ast.AST, bound: frozenset[str]) -> Iterator[ast.Name]:
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                if name in self.names and name not in bound:
                    yield node
                return
            case (
                ast.Try(body=body, handlers=handlers)
                | ast.TryStar(body=body, handlers=handlers)
            ) if catches_names(handlers):
                for child in children(node):
                    if not (isinstance(child, ast.stmt) and child in body):
                        yield from self.node(child, bound)
                return
            case ast.If(test=test) | ast.IfExp(test=test) if is_conditional(test, self.flags):
                return
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef():
                inner = bound | names_bound_in(node)
                for child in children(node):
                    yield from self.node(child, inner)
                return
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                inner = bound | names_bound_in(node)
                for child in children(node):
                    yield from self.node(child, inner)
                return
            case ast.arg(annotation=annotation):
                if annotation is not None and self.annotations_run:
                    yield from self.node(annotation, bound)
                return
            case ast.AnnAssign(target=target, annotation=annotation, value=value):
                yield from self.node(target, bound)
                if value is not None:
                    yield from self.node(value, bound)
                return
            case _:
                for name, value in ast.iter_fields(node):
                    if name == "returns" and not self.annotations_run:
                        continue
                    for child in value if isinstance(value, list) else [value]:
                        if isinstance(child, ast.AST):
                            yield from self.node(child, bound)


def names_bound_in(node: ast.AST) -> frozenset[str]:
    """What a function, class or comprehension binds, without what scopes inside it do."""
    found: set[str] = set()
    for inner in own_nodes(node):
        match inner:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.ClassDef(name=name):
                found.add(name)
            case ast.alias(name=name, asname=other):
                found.add(other or name.partition(".")[0])
            case ast.ExceptHandler(name=str(name)):
                found.add(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                found.add(name)
            case ast.MatchMapping(rest=str(name)):
                found.add(name)
            case _:
                pass
    return frozenset(found)


def own_nodes(root: ast.AST) -> Iterator[ast.AST]:
    """The nodes below one, without those inside functions and classes among them."""
    pending = list(children(root))
    while pending:
        node = pending.pop()
        yield node
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                pending += [*node.decorator_list, *node.args.defaults]
                pending += [each for each in node.args.kw_defaults if each is not None]
            case ast.Lambda():
                pending += node.args.defaults
            case ast.ClassDef():
                pending += [*node.decorator_list, *node.bases]
            case _:
                pending += children(node)


def catches_names(handlers: list[ast.ExceptHandler]) -> bool:
    for handler in handlers:
        if handler.type is None:
            return True
        for node in walk(handler.type):
            if isinstance(node, ast.Name) and node.id in (
                "NameError",
                "Exception",
                "BaseException",
            ):
                return True
    return False


def names_in(table: symtable.SymbolTable, line: int) -> frozenset[str]:
    """The names of the innermost function that starts before the line, for suggestions."""
    chosen: symtable.SymbolTable | None = None
    pending = list(table.get_children())
    while pending:
        child = pending.pop()
        if child.get_lineno() <= line and (
            chosen is None or child.get_lineno() >= chosen.get_lineno()
        ):
            chosen = child
        pending.extend(child.get_children())
    if chosen is None:
        return frozenset()
    return frozenset(symbol.get_name() for symbol in chosen.get_symbols() if symbol.is_local())


def enclosing_line(context: Context, module: Module, node: ast.Name) -> int:
    """The first line of the function around a use, by which uses are grouped."""
    best = 0
    for function in context.functions_of(module):
        last = function.node.end_lineno or function.node.lineno
        if function.node.lineno <= node.lineno <= last:
            best = max(best, function.node.lineno)
    return best
