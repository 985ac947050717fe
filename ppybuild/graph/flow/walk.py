"""Walks the program and joins the slots between which lists move."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import count

from ppybuild.graph.flow.calls import (
    ARGUMENTS,
    INSPECTORS,
    MAKERS,
    METHODS,
    PASS_THROUGH,
    PRODUCERS,
)
from ppybuild.graph.flow.records import Classes, Element, Flow, Slot, Use
from ppybuild.graph.program import Callee, Facts, Function, Module
from ppybuild.graph.scopes import parameters_of, scope_of
from ppybuild.graph.types import Collection, Instance, Literal, Scalar
from ppybuild.graph.types import Function as FunctionType
from ppybuild.graph.types import Module as ModuleType


def trace(facts: Facts) -> Flow:
    """The flow of lists and tuples through every function and module of the program."""
    tracer = _Tracer(facts)
    for module in facts.program.modules.values():
        _Body(tracer, module, None).block(module.tree.body)
    for function in facts.program.functions.values():
        module = facts.program.modules[function.module]
        _Body(tracer, module, function).function_body()
    return tracer.result()


class _Tracer:
    """What accumulates over the whole program."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.classes = Classes()
        self.uses: dict[Slot, list[Use]] = {}
        self.elements: dict[Slot, list[Element]] = {}
        self.producers: dict[Slot, list[Element]] = {}
        self.passes: dict[Slot, list[Slot]] = {}
        self._numbers = count()
        functions = facts.program.functions
        self.names = {id(found.node): name for name, found in functions.items()}
        self.bound = {name: _bound(found) for name, found in functions.items()}

    def temporary(self) -> Slot:
        return Slot("temporary", name=str(next(self._numbers)))

    def result(self) -> Flow:
        return Flow(
            self.classes,
            {slot: tuple(found) for slot, found in self.uses.items()},
            {slot: tuple(found) for slot, found in self.elements.items()},
            {slot: tuple(found) for slot, found in self.producers.items()},
            {slot: tuple(found) for slot, found in self.passes.items()},
        )


def _bound(function: Function) -> frozenset[str]:
    scope = scope_of(function.node.body, expressions=True)
    return frozenset(scope.bound | {found.arg for found in parameters_of(function.node)})


class _Body:
    """One function's body, or a module's top level."""

    def __init__(self, tracer: _Tracer, module: Module, function: Function | None) -> None:
        self.tracer = tracer
        self.classes = tracer.classes
        self.facts = tracer.facts
        self.module = module
        self.function = function

    def function_body(self) -> None:
        assert self.function is not None
        arguments = self.function.node.args
        defaults = [*arguments.defaults, *filter(None, arguments.kw_defaults)]
        positional = [*arguments.posonlyargs, *arguments.args]
        named = positional[len(positional) - len(arguments.defaults) :]
        keyword = [
            found
            for found, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            if default is not None
        ]
        for parameter, default in zip([*named, *keyword], defaults, strict=True):
            self.enter(self.variable(parameter.arg), self.value(default), default)
        for parameter in parameters_of(self.function.node):
            self.annotated(self.variable(parameter.arg), parameter.annotation)
        self.annotated(Slot("result", self.function.name), self.function.node.returns)
        self.block(self.function.node.body)

    def annotated(self, slot: Slot | None, annotation: ast.expr | None) -> None:
        if annotation is not None:
            self.use(slot, "annotated", annotation, ast.unparse(annotation))

    # Slots

    def variable(self, name: str) -> Slot:
        """The slot of a name as this body sees it."""
        owner = self.function.name if self.function else ""
        while owner:
            if name in self.tracer.bound.get(owner, ()):
                return Slot("variable", owner, name)
            owner = owner.rpartition(".<locals>.")[0]
        return Slot("variable", self.module.name, name)

    def use(self, slot: Slot | None, what: str, node: ast.AST, detail: str = "") -> None:
        if slot is not None:
            self.classes.find(slot)
            found = self.tracer.uses.setdefault(slot, [])
            found.append(Use(what, node, self.module.name, detail))

    def join(self, left: Slot | None, right: Slot | None) -> None:
        if left is not None and right is not None:
            self.classes.join(left, right)

    def enter(self, target: Slot, slot: Slot | None, node: ast.expr) -> None:
        """`node`, whose slot is `slot`, becomes the value of `target`."""
        self.classes.find(target)
        if slot is not None:
            self.join(target, slot)
        elif not isinstance(self.facts.types.get(node), Scalar | Literal):
            self.use(target, "source", node, ast.unparse(node))

    def put(self, holder: Slot, value: Slot | None, node: ast.expr | ast.AugAssign) -> None:
        """`node`, whose slot is `value`, becomes an element of `holder`."""
        self.classes.find(holder)
        found = self.tracer.elements.setdefault(holder, [])
        found.append(Element(node, self.module.name))
        self.join(self.classes.item(holder), value)

    def produce(self, node: ast.expr) -> Slot:
        """A new list, made by `node`."""
        slot = self.tracer.temporary()
        self.classes.find(slot)
        self.tracer.producers[slot] = [Element(node, self.module.name)]
        return slot

    # Expressions: each gives the slot of its value, or None where it is not followed

    def value(self, node: ast.expr) -> Slot | None:
        match node:
            case ast.Name():
                return self.name(node)
            case ast.Attribute():
                return self.attribute(node)
            case ast.Subscript():
                return self.subscript(node)
            case ast.Call():
                return self.call(node)
            case ast.List():
                return self.display(node, node.elts)
            case ast.Tuple():
                return self.pack(node)
            case ast.ListComp():
                self.generators(node.generators)
                slot = self.produce(node)
                self.put(slot, self.value(node.elt), node.elt)
                return slot
            case ast.BinOp():
                return self.arithmetic(node)
            case ast.IfExp():
                self.test(node.test)
                return self.merge([node.body, node.orelse])
            case ast.BoolOp():
                merged = self.merge(node.values)
                self.use(merged, "truth", node)
                return merged
            case ast.NamedExpr():
                named = self.value(node.value)
                self.enter(self.variable(node.target.id), named, node.value)
                return named
            case _:
                self.other(node)
                return None

    def name(self, node: ast.Name) -> Slot | None:
        type = self.facts.types.get(node)
        if isinstance(type, FunctionType) and type.name in self.facts.program.functions:
            self.leak(type.name, node)
        return self.variable(node.id)

    def leak(self, function: str, node: ast.AST) -> None:
        """A function used as a value may be called with anything."""
        for parameter in parameters_of(self.facts.program.functions[function].node):
            self.use(Slot("variable", function, parameter.arg), "escape", node, "a callback")
        self.use(Slot("result", function), "escape", node, "a callback")

    def attribute(self, node: ast.Attribute) -> Slot | None:
        type = self.facts.types.get(node.value)
        if isinstance(type, ModuleType) and type.name in self.facts.program.modules:
            return Slot("variable", type.name, node.attr)
        base = self.value(node.value)
        if isinstance(type, Instance) and type.name in self.facts.program.classes:
            return Slot("field", self.field_owner(type.name, node.attr), node.attr)
        self.use(base, "method", node, node.attr)
        return None

    def field_owner(self, name: str, attribute: str) -> str:
        """The class, of this one and its bases in the project, that has the field."""
        pending, owner = [name], name
        while pending:
            found = pending.pop()
            if attribute in self.facts.fields.get(found, {}):
                owner = found
            if found in self.facts.program.classes:
                pending.extend(self.facts.program.classes[found].bases)
        return owner

    def subscript(self, node: ast.Subscript) -> Slot | None:
        base = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            self.other(node.slice)
            self.use(base, "slice", node)
            return base
        self.value(node.slice)
        if base is None:
            return None
        self.use(base, "index", node)
        return self.classes.item(base, _position(node.slice))

    def display(self, node: ast.expr, items: Sequence[ast.expr]) -> Slot:
        slot = self.produce(node)
        for item in items:
            if isinstance(item, ast.Starred):
                source = self.value(item.value)
                self.use(source, "iterate", item)
                if source is not None:
                    self.put(slot, self.classes.item(source), item)
            else:
                self.put(slot, self.value(item), item)
        return slot

    def pack(self, node: ast.Tuple) -> Slot | None:
        slot = self.tracer.temporary()
        self.use(slot, "tuple", node)
        starred = any(isinstance(item, ast.Starred) for item in node.elts)
        for position, item in enumerate(node.elts):
            value = self.value(item.value if isinstance(item, ast.Starred) else item)
            if isinstance(item, ast.Starred):
                self.use(value, "iterate", item)
                value = self.classes.item(value) if value else None
            self.join(self.classes.item(slot, "*" if starred else str(position)), value)
        return slot

    def arithmetic(self, node: ast.BinOp) -> Slot | None:
        if isinstance(node.op, ast.Mult) and isinstance(node.left, ast.List):
            self.value(node.right)
            return self.display(node, node.left.elts)
        left, right = self.value(node.left), self.value(node.right)
        listed = [self.is_list(side) for side in (node.left, node.right)]
        if isinstance(node.op, ast.Add) and all(listed):
            self.use(left, "concatenate", node)
            self.join(left, right)
            return left
        if isinstance(node.op, ast.Mult) and any(listed):
            slot = left if listed[0] else right
            self.use(slot, "repeat", node)
            return slot
        for slot, side in ((left, node.left), (right, node.right)):
            self.use(slot, "operand", side)
        return None

    def is_function(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and isinstance(
            self.facts.types.get(node), FunctionType
        )

    def is_list(self, node: ast.expr) -> bool:
        return isinstance(self.facts.types.get(node), Collection)

    def merge(self, nodes: Sequence[ast.expr]) -> Slot:
        slot = self.tracer.temporary()
        for node in nodes:
            self.enter(slot, self.value(node), node)
        return slot

    def test(self, node: ast.expr) -> None:
        self.use(self.value(node), "truth", node)

    def generators(self, generators: Sequence[ast.comprehension]) -> None:
        for generator in generators:
            self.iterate(generator.target, generator.iter)
            for condition in generator.ifs:
                self.test(condition)

    def other(self, node: ast.AST) -> None:
        """An expression that gives no list of the program's: what it does to its parts."""
        match node:
            case ast.Compare():
                self.comparison(node)
            case ast.FormattedValue():
                self.use(self.value(node.value), "text", node)
                if node.format_spec:
                    self.other(node.format_spec)
            case ast.GeneratorExp() | ast.SetComp():
                self.generators(node.generators)
                self.use(self.value(node.elt), "escape", node.elt, "a generator or set")
            case ast.DictComp():
                self.generators(node.generators)
                for part in (node.key, node.value):
                    self.use(self.value(part), "escape", part, "a dictionary")
            case ast.UnaryOp() if isinstance(node.op, ast.Not):
                self.test(node.operand)
            case ast.Lambda():
                self.use(self.value(node.body), "escape", node.body, "a lambda")
            case ast.Slice():
                for bound in (node.lower, node.upper, node.step):
                    if bound is not None:
                        self.value(bound)
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self.use(self.value(child), "escape", child, type(node).__name__)

    def comparison(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        slots = [self.value(operand) for operand in operands]
        for position, operator in enumerate(node.ops):
            left, right = slots[position], slots[position + 1]
            if isinstance(operator, ast.Is | ast.IsNot):
                continue
            if isinstance(operator, ast.In | ast.NotIn):
                self.use(left, "escape", operands[position], "a membership test")
                self.use(right, "search", node)
            else:
                self.use(left, "compare", node)
                self.use(right, "compare", node)

    # Calls

    def call(self, node: ast.Call) -> Slot | None:
        callee = self.facts.callees.get(node)
        if callee is None or callee.kind == "method":
            return self.method_call(node, callee)
        receiver = None
        if isinstance(node.func, ast.Attribute):
            receiver = self.value(node.func.value)
        if callee.kind == "project":
            return self.project_call(node, callee.name, receiver)
        if callee.kind == "class":
            constructor = f"{callee.name}.__init__"
            if constructor in self.facts.program.functions:
                self.project_call(node, constructor, self.tracer.temporary())
            else:
                self.fields_call(node, callee.name)
            return None
        return self.external_call(node, callee.name)

    def arguments(self, node: ast.Call) -> list[tuple[ast.expr, Slot | None]]:
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        found = []
        for argument in values:
            inner = argument.value if isinstance(argument, ast.Starred) else argument
            found.append((argument, self.value(inner)))
        return found

    def method_call(self, node: ast.Call, callee: Callee | None) -> Slot | None:
        arguments = self.arguments(node)
        if callee and callee.name in MAKERS and isinstance(node.func, ast.Attribute):
            self.value(node.func.value)
            return self.produce(node)
        if isinstance(node.func, ast.Attribute) and self.is_list(node.func.value):
            return self.list_method(node, node.func, arguments)
        self.value(node.func)
        detail = callee.name if callee else ast.unparse(node.func)
        for argument, slot in arguments:
            self.use(slot, "escape", argument, detail)
        return None

    def list_method(
        self,
        node: ast.Call,
        method: ast.Attribute,
        arguments: list[tuple[ast.expr, Slot | None]],
    ) -> Slot | None:
        receiver = self.value(method.value)
        if receiver is None:
            return None
        what = METHODS.get(method.attr, "method")
        self.use(receiver, what, node, method.attr)
        if what == "append":
            argument, slot = arguments[-1] if arguments else (node, None)
            self.put(receiver, slot, argument)
        elif what == "extend":
            for argument, slot in arguments:
                self.use(slot, "iterate", argument)
                source = self.classes.item(slot) if slot else None
                self.put(receiver, source, argument)
        elif what == "method":
            for argument, slot in arguments:
                self.use(slot, "escape", argument, method.attr)
        return self.classes.item(receiver) if what == "remove" else None

    def project_call(self, node: ast.Call, name: str, receiver: Slot | None) -> Slot:
        function = self.facts.program.functions[name]
        spread = any(isinstance(argument, ast.Starred) for argument in node.args)
        arguments = function.node.args
        names = [found.arg for found in (*arguments.posonlyargs, *arguments.args)]
        if function.owner and receiver is not None:
            names = names[1:]
        for position, argument in enumerate(node.args):
            inner = argument.value if isinstance(argument, ast.Starred) else argument
            slot = self.value(inner)
            if spread or position >= len(names):
                self.use(slot, "escape", argument, "a starred argument")
            else:
                self.hand(slot, argument, Slot("variable", name, names[position]))
        known = {*names, *(found.arg for found in arguments.kwonlyargs)}
        for keyword in node.keywords:
            slot = self.value(keyword.value)
            if keyword.arg in known:
                self.hand(slot, keyword.value, Slot("variable", name, str(keyword.arg)))
            else:
                self.use(slot, "escape", keyword.value, "a keyword dictionary")
        return Slot("result", name)

    def hand(self, slot: Slot | None, node: ast.expr, parameter: Slot) -> None:
        if slot is not None:
            self.tracer.passes.setdefault(slot, []).append(parameter)
        self.enter(parameter, slot, node)

    def fields_call(self, node: ast.Call, name: str) -> None:
        """A class without a constructor of its own: a dataclass, or a library's base."""
        fields = list(self.facts.fields.get(name, {}))
        keywords = {id(found.value): found.arg for found in node.keywords}
        for position, (argument, slot) in enumerate(self.arguments(node)):
            field = keywords.get(id(argument))
            if field is None and position < len(node.args) <= len(fields):
                field = fields[position]
            if field is None:
                self.use(slot, "escape", argument, name)
            else:
                self.enter(Slot("field", self.field_owner(name, field), field), slot, argument)

    def external_call(self, node: ast.Call, name: str) -> Slot | None:
        what = ARGUMENTS.get(name, "escape")
        if name in INSPECTORS and node.args and self.is_function(node.args[0]):
            return None
        arguments = self.arguments(node)
        for argument, slot in arguments:
            self.use(slot, what, argument, name)
        if name in PRODUCERS:
            slot = self.produce(node)
            source = arguments[0][1] if arguments else None
            if source is not None:
                self.put(slot, self.classes.item(source), node)
            return slot
        if name in PASS_THROUGH:
            return self.rows(name, [slot for _, slot in arguments])
        if name in ("builtins.reversed", "builtins.iter") and arguments:
            return arguments[0][1]
        return None

    def rows(self, name: str, slots: Sequence[Slot | None]) -> Slot:
        """What iterating over `enumerate(x)` or `zip(x, y)` gives: a list of tuples."""
        slot = self.tracer.temporary()
        row = self.classes.item(slot)
        shift = 1 if name == "builtins.enumerate" else 0
        for position, source in enumerate(slots):
            if source is not None:
                held = self.classes.item(row, str(position + shift))
                self.join(held, self.classes.item(source))
        return slot

    # Statements

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
                target = node.target
                if isinstance(target, ast.Name):
                    self.annotated(self.variable(target.id), node.annotation)
                elif isinstance(target, ast.Attribute):
                    self.annotated(self.attribute(target), node.annotation)
                if node.value is not None:
                    self.assign(target, self.value(node.value), node.value)
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
                    if isinstance(target, ast.Subscript):
                        self.use(self.value(target.value), "delete", target)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                for decorator in node.decorator_list:
                    self.value(decorator)
            case ast.ClassDef():
                self.block(
                    [found for found in node.body if not isinstance(found, ast.FunctionDef)]
                )
            case _:
                self.nested(node)

    def nested(self, node: ast.stmt) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                self.statement(child)
            elif isinstance(child, ast.expr):
                self.use(self.value(child), "escape", child, type(node).__name__)
            else:
                self.nested_part(child)

    def nested_part(self, node: ast.AST) -> None:
        """A `with` item, an exception handler, a `case`."""
        for child in ast.walk(node):
            if isinstance(child, ast.withitem):
                self.use(self.value(child.context_expr), "escape", child, "with")
            elif isinstance(child, ast.match_case):
                self.block(child.body)
            elif isinstance(child, ast.ExceptHandler):
                self.block(child.body)
                return

    def assign(self, target: ast.expr, slot: Slot | None, value: ast.expr) -> None:
        match target:
            case ast.Name():
                self.enter(self.variable(target.id), slot, value)
            case ast.Attribute():
                field = self.attribute(target)
                if field is not None:
                    self.enter(field, slot, value)
                else:
                    self.use(slot, "escape", value, "a field of something unknown")
            case ast.Subscript():
                base = self.value(target.value)
                if isinstance(target.slice, ast.Slice):
                    self.use(base, "method", target, "slice assignment")
                    self.use(slot, "escape", value, "a slice assignment")
                elif base is not None:
                    self.value(target.slice)
                    self.use(base, "store", target)
                    self.put(base, slot, value)
                else:
                    self.use(slot, "escape", value, "an item of something unknown")
            case ast.Tuple() | ast.List():
                self.unpack(target.elts, slot)
            case ast.Starred():
                self.use(slot, "escape", target, "a starred target")

    def unpack(self, targets: Sequence[ast.expr], slot: Slot | None) -> None:
        self.use(slot, "iterate", targets[0] if targets else ast.Pass())
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
            self.use(value, "escape", node.value, "an augmented assignment")
            return
        target = self.value(node.target)
        if self.is_list(node.value) and isinstance(node.op, ast.Add):
            self.use(target, "concatenate in place", node)
            self.join(target, value)
        elif isinstance(node.op, ast.Mult):
            self.use(target, "repeat in place", node)
        else:
            self.use(target, "operand", node)
            self.use(value, "operand", node.value)

    def iterate(self, target: ast.expr, source: ast.expr) -> None:
        slot = self.value(source)
        self.use(slot, "iterate", source)
        self.assign(target, self.classes.item(slot) if slot is not None else None, target)


def _position(index: ast.expr) -> str:
    """The place in a tuple that a literal index means, `*` where it is not one."""
    if isinstance(index, ast.Constant) and isinstance(index.value, int) and index.value >= 0:
        return str(index.value)
    return "*"
