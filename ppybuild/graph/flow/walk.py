"""Walks the program and joins the slots between which lists move."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ppybuild.graph.flow.body import Gathered
from ppybuild.graph.flow.expressions import Expressions, names_in
from ppybuild.graph.flow.outside import imports_of, open_to_others, related_classes
from ppybuild.graph.flow.records import Flow, Slot
from ppybuild.graph.program import Facts
from ppybuild.graph.scopes import parameters_of


def trace(facts: Facts) -> Flow:
    """The flow of lists and tuples through every function and module of the program."""
    gathered = Gathered(facts)
    related_classes(gathered)
    for module in facts.program.modules.values():
        imports_of(gathered, module)
        _Walk(gathered, module, None).block(module.tree.body)
    for function in facts.program.functions.values():
        module = facts.program.modules[function.module]
        _Walk(gathered, module, function).function_body()
    open_to_others(gathered)
    return gathered.result()


class _Walk(Expressions):
    """Statements."""

    def function_body(self) -> None:
        assert self.function is not None
        node = self.function.node
        for parameter in parameters_of(node):
            self.annotated(self.variable(parameter.arg), parameter.annotation)
        for packed in filter(None, (node.args.vararg, node.args.kwarg)):
            self.use(self.variable(packed.arg), "source", packed, packed.arg)
        self.annotated(Slot("result", self.function.name), node.returns)
        self.block(node.body)

    def block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign():
                slot = self.value(node.value)
                for target in node.targets:
                    self.assign(target, slot, node.value)
            case ast.AnnAssign():
                self.annotated_assignment(node)
            case ast.AugAssign():
                self.augment(node)
            case ast.Return():
                if node.value is not None and self.function is not None:
                    result = Slot("result", self.function.name)
                    self.enter(result, self.value(node.value), node.value)
            case ast.For() | ast.AsyncFor():
                self.iterate(node.target, node.iter)
                self.block([*node.body, *node.orelse])
            case ast.If() | ast.While():
                self.test(node.test)
                self.block([*node.body, *node.orelse])
            case ast.Expr():
                self.value(node.value)
            case ast.Delete():
                for target in node.targets:
                    self.delete(target)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.definition(node)
            case ast.ClassDef():
                self.class_body(node)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    self.escape(self.value(item.context_expr), item.context_expr, "with")
                    if item.optional_vars is not None:
                        self.assign(item.optional_vars, None, item.optional_vars)
                self.block(node.body)
            case ast.Match():
                self.match(node)
            case ast.Import() | ast.ImportFrom():
                pass  # seen by `imports_of`
            case _:
                self.nested(node)

    def annotated_assignment(self, node: ast.AnnAssign) -> None:
        target = node.target
        if isinstance(target, ast.Name):
            self.annotated(self.variable(target.id), node.annotation)
        elif isinstance(target, ast.Attribute):
            self.annotated(self.attribute(target), node.annotation)
        if node.value is not None:
            self.assign(target, self.value(node.value), node.value)

    def delete(self, target: ast.expr) -> None:
        if isinstance(target, ast.Subscript):
            self.use(self.value(target.value), "delete", target)
            if isinstance(target.slice, ast.Slice):
                self.other(target.slice)
            else:
                self.value(target.slice)
        elif isinstance(target, ast.Tuple | ast.List):
            for each in target.elts:
                self.delete(each)

    def definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """A `def` where it stands: its decorators and defaults are this body's."""
        for decorator in node.decorator_list:
            self.value(decorator)
        name = self.gathered.names.get(id(node))
        arguments = node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        named = positional[len(positional) - len(arguments.defaults) :]
        keyword = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        pairs = [
            *zip(named, arguments.defaults, strict=True),
            *((found, default) for found, default in keyword if default is not None),
        ]
        for parameter, default in pairs:
            slot = self.value(default)
            if name is not None:
                self.enter(Slot("variable", name, parameter.arg), slot, default)

    def class_body(self, node: ast.ClassDef) -> None:
        for part in (*node.bases, *(keyword.value for keyword in node.keywords)):
            if not isinstance(part, ast.Name | ast.Attribute):
                self.escape(self.value(part), part, "a class's bases")
        for decorator in node.decorator_list:
            self.value(decorator)
        around, self.inside = self.inside, self.gathered.class_names.get(id(node))
        self.block(node.body)
        self.inside = around

    def match(self, node: ast.Match) -> None:
        self.escape(self.value(node.subject), node.subject, "match")
        for case in node.cases:
            for name in names_in(case.pattern):
                self.use(self.variable(name), "source", case.pattern, "a pattern")
            if case.guard is not None:
                self.test(case.guard)
            self.block(case.body)

    def nested(self, node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                self.statement(child)
            elif isinstance(child, ast.expr):
                self.escape(self.value(child), child, type(node).__name__)
            else:
                self.nested(child)

    def assign(self, target: ast.expr, slot: Slot | None, value: ast.expr) -> None:
        match target:
            case ast.Name():
                self.enter(self.variable(target.id), slot, value)
            case ast.Attribute():
                field = self.attribute(target)
                if field is not None:
                    self.enter(field, slot, value)
                else:
                    self.escape(slot, value, "a field of something unknown")
            case ast.Subscript():
                self.store(target, slot, value)
            case ast.Tuple() | ast.List():
                self.unpack(target.elts, slot, value)
            case ast.Starred():
                self.escape(slot, target, "a starred target")
                for name in names_in(target):
                    self.use(self.variable(name), "source", target, "a starred target")

    def store(self, target: ast.Subscript, slot: Slot | None, value: ast.expr) -> None:
        base = self.value(target.value)
        if isinstance(target.slice, ast.Slice):
            self.other(target.slice)
            self.use(base, "method", target, "slice assignment")
            self.escape(slot, value, "a slice assignment")
            return
        self.escape(self.value(target.slice), target.slice, "an index")
        if base is not None:
            self.use(base, "store", target)
            self.put(base, slot, value)
        else:
            self.escape(slot, value, "an item of something unknown")

    def unpack(self, targets: Sequence[ast.expr], slot: Slot | None, value: ast.expr) -> None:
        self.use(slot, "iterate", value)
        starred = any(isinstance(target, ast.Starred) for target in targets)
        for position, target in enumerate(targets):
            place = "*" if starred else str(position)
            held = self.classes.item(slot, place) if slot is not None else None
            self.assign(target, held, target)

    def augment(self, node: ast.AugAssign) -> None:
        value = self.value(node.value)
        if isinstance(node.target, ast.Subscript):
            base = self.value(node.target.value)
            self.value(node.target.slice)
            if base is not None:
                self.use(base, "store", node.target)
                self.put(base, None, node)
                self.use(self.classes.item(base), "operand", node)
            self.escape(value, node.value, "an augmented assignment")
            return
        target = self.value(node.target)
        if self.is_list(node.value) and isinstance(node.op, ast.Add) and value is not None:
            self.use(target, "concatenate in place", node)
            self.join(target, value)
            return
        if isinstance(node.op, ast.Mult):
            self.use(target, "repeat in place", node)
        else:
            self.use(target, "operand", node)
        self.use(value, "operand", node.value)
        if target is not None:
            self.gathered.entered.setdefault(target, []).append(node.value)
