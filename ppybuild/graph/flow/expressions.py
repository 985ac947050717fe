"""The slots of expressions, and what expressions do with them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ppybuild.graph.flow.body import NO_PROJECT_FIELD
from ppybuild.graph.flow.invoke import Calls
from ppybuild.graph.flow.records import Slot, Use
from ppybuild.graph.lattice import members_of
from ppybuild.graph.types import (
    NONE,
    Class,
    Dictionary,
    Instance,
    Literal,
    Method,
    Scalar,
    Type,
)
from ppybuild.graph.types import Function as FunctionType
from ppybuild.graph.types import Module as ModuleType


class Expressions(Calls):
    """Walks expressions: each gives the slot of its value, or None where it is not followed."""

    def value(self, node: ast.expr) -> Slot | None:
        match node:
            case ast.Name():
                self.handed_out(node)
                return self.variable(node.id)
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
            case ast.Dict():
                return self.mapping(node)
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

    def handed_out(self, node: ast.expr) -> None:
        """A function or class that is used as a value may be called with anything."""
        for found in members_of(self.type_of(node) or NONE):
            use = Use("escape", node, self.module.name, "a callback")
            match found:
                case FunctionType() if found.name in self.facts.program.functions:
                    self.gathered.leak(found.name, use)
                case Method():
                    for receiver in members_of(found.receiver):
                        if isinstance(receiver, Instance | Class):
                            method = self.gathered.method(receiver.name, found.name)
                            if method is not None:
                                self.gathered.leak(method, use)
                case Class() if found.name in self.facts.program.classes:
                    constructor = self.gathered.method(found.name, "__init__")
                    if constructor is not None:
                        self.gathered.leak(constructor, use)

    def attribute(self, node: ast.Attribute) -> Slot | None:
        type = self.type_of(node.value)
        if isinstance(type, ModuleType) and type.name in self.facts.program.modules:
            self.value(node.value)
            self.handed_out(node)
            return Slot("variable", type.name, node.attr)
        if not (isinstance(node.value, ast.Name) and isinstance(type, Class)):
            base = self.value(node.value)
            self.use(base, "method", node, node.attr)
        if node.attr == "__dict__":
            self.opens(node)
        self.handed_out(node)
        return self.field_of(type, node)

    def field_of(self, type: Type | None, node: ast.Attribute) -> Slot | None:
        slots: list[Slot] = []
        for each in members_of(type) if type is not None else ():
            slot = self.field(each, node.attr)
            if slot is not None:
                slots.append(slot)
            elif not isinstance(each, NO_PROJECT_FIELD) and not self.is_ours(each):
                self.loosely(node.attr, node)
        if type is None:
            self.loosely(node.attr, node)
        for slot in slots:
            self.join(slots[0], slot)
        return slots[0] if slots else None

    def is_ours(self, type: Type) -> bool:
        return isinstance(type, Instance) and type.name in self.facts.program.classes

    def opens(self, node: ast.AST) -> None:
        if self.gathered.open is None:
            self.gathered.open = Use(
                "escape", node, self.module.name, "names held in a dictionary"
            )

    def subscript(self, node: ast.Subscript) -> Slot | None:
        base = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            self.other(node.slice)
            self.use(base, "slice", node)
            return base
        self.escape(self.value(node.slice), node.slice, "an index")
        if base is None:
            return None
        self.use(base, "index", node)
        return self.classes.item(base, position_of(node.slice))

    def display(self, node: ast.expr, items: Sequence[ast.expr]) -> Slot:
        slot = self.produce(node)
        for item in items:
            if isinstance(item, ast.Starred):
                source = self.value(item.value)
                self.use(source, "iterate", item)
                held = self.classes.item(source) if source is not None else None
                self.put(slot, held, item.value, spread=True)
            else:
                self.put(slot, self.value(item), item)
        return slot

    def pack(self, node: ast.Tuple) -> Slot | None:
        slot = self.gathered.temporary()
        self.use(slot, "tuple", node)
        starred = any(isinstance(item, ast.Starred) for item in node.elts)
        for position, item in enumerate(node.elts):
            value = self.value(item.value if isinstance(item, ast.Starred) else item)
            held = self.classes.item(slot, "*" if starred else str(position))
            if isinstance(item, ast.Starred):
                self.use(value, "iterate", item)
                value = self.classes.item(value) if value else None
                if value is None:
                    self.use(held, "source", item, ast.unparse(item))
                self.join(held, value)
            else:
                self.enter(held, value, item)
        return slot

    def mapping(self, node: ast.Dict) -> Slot:
        slot = self.gathered.temporary()
        self.use(slot, "made elsewhere", node)
        item = self.classes.item(slot)
        for key, part in zip(node.keys, node.values, strict=True):
            if key is None:
                self.join(slot, self.value(part) or slot)
                self.use(item, "source", part, ast.unparse(part))
            else:
                self.escape(self.value(key), key, "a key")
                self.enter(item, self.value(part), part)
        return slot

    def arithmetic(self, node: ast.BinOp) -> Slot | None:
        if isinstance(node.op, ast.Mult) and isinstance(node.left, ast.List):
            self.value(node.right)
            return self.display(node, node.left.elts)
        left, right = self.value(node.left), self.value(node.right)
        listed = [self.is_list(side) for side in (node.left, node.right)]
        if isinstance(node.op, ast.Add) and all(listed):
            self.use(left, "concatenate", node)
            self.use(right, "concatenate", node)
            for slot, other in ((left, node.right), (right, node.left)):
                if left is None or right is None:
                    self.use(slot, "source", other, ast.unparse(other))
            self.join(left, right)
            return left or right
        if isinstance(node.op, ast.Mult) and any(listed):
            slot = left if listed[0] else right
            self.use(slot, "repeat", node)
            return slot
        for slot, side in ((left, node.left), (right, node.right)):
            self.use(slot, "operand", side)
        return None

    def merge(self, nodes: Sequence[ast.expr]) -> Slot:
        slot = self.gathered.temporary()
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

    def iterate(self, target: ast.expr, source: ast.expr) -> None:
        slot = self.value(source)
        self.use(slot, "iterate", source)
        self.assign(target, self.classes.item(slot) if slot is not None else None, target)

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
                self.escape(self.value(node.elt), node.elt, "a generator or set")
            case ast.DictComp():
                self.generators(node.generators)
                for part in (node.key, node.value):
                    self.escape(self.value(part), part, "a dictionary")
            case ast.UnaryOp() if isinstance(node.op, ast.Not):
                self.test(node.operand)
            case ast.Lambda():
                for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
                    self.escape(self.value(default), default, "a default of a lambda")
                for argument in ast.walk(node.args):
                    if isinstance(argument, ast.arg):
                        self.use(self.variable(argument.arg), "source", argument, "a lambda's")
                self.escape(self.value(node.body), node.body, "a lambda")
            case ast.Slice():
                for bound in (node.lower, node.upper, node.step):
                    if bound is not None:
                        self.value(bound)
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self.escape(self.value(child), child, type(node).__name__)

    def comparison(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        slots = [self.value(operand) for operand in operands]
        for position, operator in enumerate(node.ops):
            left, right = slots[position], slots[position + 1]
            sides = operands[position], operands[position + 1]
            if isinstance(operator, ast.Is | ast.IsNot):
                if not any(isinstance(side, ast.Constant) for side in sides):
                    self.identity(node, [self.type_of(side) for side in sides])
            elif isinstance(operator, ast.In | ast.NotIn):
                self.escape(left, sides[0], "a membership test")
                self.search(right, sides[0], node)
            else:
                self.use(left, "compare", node)
                self.use(right, "compare", node)

    def identity(self, node: ast.Compare, types: Sequence[Type | None]) -> None:
        """An array gives another object each time it is asked for the same number."""
        if any(found is None or _may_be_number(found) for found in types):
            self.gathered.open = Use("escape", node, self.module.name, "`is` between numbers")


def _may_be_number(found: Type) -> bool:
    return any(
        (isinstance(each, Scalar) and each.name in ("int", "float"))
        or (isinstance(each, Literal) and each.base.name == "int")
        for each in members_of(found)
    )


def position_of(index: ast.expr) -> str:
    """The place in a tuple that a literal index means, `*` where it is not one."""
    if isinstance(index, ast.Constant) and type(index.value) is int and index.value >= 0:
        return str(index.value)
    return "*"


def is_mapping(found: Type | None) -> bool:
    return isinstance(found, Dictionary)


def names_in(node: ast.AST) -> Iterator[str]:
    """Names that a pattern or target binds."""
    for found in ast.walk(node):
        if isinstance(found, ast.Name):
            yield found.id
        elif isinstance(found, ast.MatchAs | ast.MatchStar) and found.name:
            yield found.name
        elif isinstance(found, ast.MatchMapping) and found.rest:
            yield found.rest
