"""Calls: where arguments go, and where results come from."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Sequence

from ppybuild.graph.flow.body import Body, may_be_list
from ppybuild.graph.flow.calls import (
    ARGUMENTS,
    INSPECTORS,
    KEEPS_ITEMS,
    MAKERS,
    MAPPING_READS,
    METHODS,
    NAMING,
    OPENING,
    PASS_THROUGH,
    PRODUCERS,
)
from ppybuild.graph.flow.records import Slot
from ppybuild.graph.program import Callee, Function
from ppybuild.graph.types import Class, Dictionary
from ppybuild.graph.types import Function as FunctionType

Arguments = Sequence[tuple[ast.expr, Slot | None]]


class Calls(Body):
    """What calls do with the slots of their arguments."""

    @abstractmethod
    def assign(self, target: ast.expr, slot: Slot | None, value: ast.expr) -> None:
        """`slot`, the value of `value`, is bound to `target`."""

    @abstractmethod
    def opens(self, node: ast.AST) -> None:
        """Any variable or field of the program can be reached from here."""

    def call(self, node: ast.Call) -> Slot | None:
        callee = self.facts.callees.get(node)
        if callee is None or callee.kind == "method":
            return self.method_call(node, callee)
        receiver = None
        if isinstance(node.func, ast.Attribute):
            if not self.names_class(node.func):
                receiver = self.value(node.func.value)
            self.use(receiver, "method", node.func, node.func.attr)
        if callee.kind == "project":
            return self.project_call(node, callee.name)
        if callee.kind == "class":
            constructor = self.gathered.method(callee.name, "__init__")
            if constructor is not None:
                self.project_call(node, constructor)
            else:
                self.fields_call(node, callee.name)
            return None
        return self.external_call(node, callee.name)

    def arguments(self, node: ast.Call) -> list[tuple[ast.expr, Slot | None]]:
        """Each argument and its slot; what stands behind a star is read to its end."""
        found: list[tuple[ast.expr, Slot | None]] = []
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            if isinstance(argument, ast.Starred):
                self.starred(argument)
                found.append((argument, None))
            else:
                found.append((argument, self.value(argument)))
        return found

    def starred(self, argument: ast.Starred) -> None:
        slot = self.value(argument.value)
        if slot is not None:
            self.use(slot, "iterate", argument)
            self.escape(self.classes.item(slot), argument, "a starred argument")

    def method_call(self, node: ast.Call, callee: Callee | None) -> Slot | None:
        if not isinstance(node.func, ast.Attribute):
            self.value(node.func)
            self.escaping(node, callee)
            return None
        method = node.func
        if callee and callee.name in MAKERS:
            self.value(method.value)
            self.arguments(node)
            return self.produce_all(node)
        if self.is_list(method.value):
            return self.list_method(node, method, self.arguments(node))
        if isinstance(self.type_of(method.value), Dictionary) and method.attr in MAPPING_READS:
            return self.mapping_read(node, method)
        self.value(method)
        if callee and callee.name in ARGUMENTS:
            return self.external_call(node, callee.name)
        self.escaping(node, callee)
        return None

    def mapping_read(self, node: ast.Call, method: ast.Attribute) -> Slot | None:
        """`get` gives what is held, `values` and `items` what iterates over it."""
        base = self.value(method.value)
        arguments = self.arguments(node)
        if base is None:
            for argument, slot in arguments:
                self.escape(slot, argument, f"`{method.attr}`")
            return None
        self.use(base, "mapping read", node, method.attr)
        held = self.classes.item(base)
        if method.attr == "get":
            for argument, slot in arguments[1:]:
                self.enter(held, slot, argument)
            return held
        found = self.gathered.temporary()
        self.use(found, "made elsewhere", node)
        if method.attr == "values":
            self.join(self.classes.item(found), held)
        elif method.attr == "items":
            self.join(self.classes.item(self.classes.item(found), "1"), held)
        return found

    def escaping(self, node: ast.Call, callee: Callee | None) -> None:
        detail = callee.name if callee else ast.unparse(node.func)
        for argument, slot in self.arguments(node):
            self.escape(slot, argument, f"`{detail}`")

    def list_method(
        self, node: ast.Call, method: ast.Attribute, arguments: Arguments
    ) -> Slot | None:
        receiver = self.value(method.value)
        if receiver is None:
            for argument, slot in arguments:
                self.escape(slot, argument, f"`{method.attr}` of a list made elsewhere")
            return None
        what = METHODS.get(method.attr, "method")
        if any(isinstance(argument, ast.Starred) for argument, _ in arguments):
            what = "method"
        if what.startswith("search"):
            self.search(receiver, arguments[0][0] if arguments else node, node)
            if what != "search":
                self.use(receiver, "remove", node, method.attr)
            return None
        self.use(receiver, what, node, method.attr)
        if what == "append" and arguments:
            argument, slot = arguments[-1]
            self.put(receiver, slot, argument)
        elif what == "extend" and arguments:
            argument, slot = arguments[0]
            self.use(slot, "iterate", argument)
            source = self.classes.item(slot) if slot else None
            self.put(receiver, source, argument, spread=True)
        elif what == "method":
            for argument, slot in arguments:
                self.escape(slot, argument, f"`{method.attr}`")
        return self.classes.item(receiver) if what == "remove" else None

    def search(self, holder: Slot | None, wanted: ast.expr, node: ast.AST) -> None:
        """A list finds a NaN that is the same object; an array makes objects anew."""
        certain = isinstance(wanted, ast.Constant) and isinstance(wanted.value, int | float)
        type = self.type_of(wanted)
        whole = type is not None and not may_be_list(type) and "int" in str(type)
        self.use(holder, "search" if certain or whole else "search of anything", node)

    def project_call(self, node: ast.Call, name: str) -> Slot:
        self.gathered.called.add(name)
        function = self.facts.program.functions[name]
        arguments = function.node.args
        names = [found.arg for found in (*arguments.posonlyargs, *arguments.args)]
        if self.binds_receiver(node, function):
            names = names[1:]
        spread = any(isinstance(argument, ast.Starred) for argument in node.args)
        loose = spread or any(keyword.arg is None for keyword in node.keywords)
        for position, argument in enumerate(node.args):
            if isinstance(argument, ast.Starred):
                self.starred(argument)
                continue
            slot = self.value(argument)
            if spread or position >= len(names):
                self.escape(slot, argument, "a starred argument")
            else:
                self.hand(slot, argument, Slot("variable", name, names[position]))
        known = {*names, *(found.arg for found in arguments.kwonlyargs)}
        for keyword in node.keywords:
            slot = self.value(keyword.value)
            if keyword.arg in known:
                self.hand(slot, keyword.value, Slot("variable", name, str(keyword.arg)))
            else:
                self.escape(slot, keyword.value, "a keyword dictionary")
        if loose:
            self.anything_enters(node, name)
        return Slot("result", name)

    def anything_enters(self, node: ast.Call, name: str) -> None:
        """What stands behind a star may become any parameter that is not a number."""
        for parameter in self.facts.signatures[name].parameters:
            if may_be_list(parameter.type):
                self.use(
                    Slot("variable", name, parameter.name), "source", node, "a starred argument"
                )

    def binds_receiver(self, node: ast.Call, function: Function) -> bool:
        """Whether the first parameter is what the method is called on."""
        if function.owner is None:
            return False
        marks = {ast.unparse(found) for found in function.node.decorator_list}
        if "staticmethod" in marks:
            return False
        if "classmethod" in marks or function.node.name == "__init__":
            explicit = isinstance(node.func, ast.Attribute) and node.func.attr == "__init__"
            return not (explicit and self.names_class(node.func))
        return not self.names_class(node.func)

    def names_class(self, func: ast.expr) -> bool:
        """`Class.method`, which is given its receiver as an argument."""
        return isinstance(func, ast.Attribute) and isinstance(self.type_of(func.value), Class)

    def hand(self, slot: Slot | None, node: ast.expr, parameter: Slot) -> None:
        if slot is not None:
            self.gathered.passes.setdefault(slot, []).append(parameter)
        self.enter(parameter, slot, node)

    def fields_call(self, node: ast.Call, name: str) -> None:
        """A class without a constructor of its own: a dataclass, or a library's base."""
        for argument, slot in self.arguments(node):
            self.escape(slot, argument, f"`{name}`")

    def external_call(self, node: ast.Call, name: str) -> Slot | None:
        if name in OPENING:
            self.opens(node)
        if name in NAMING:
            self.named_attribute(node, name)
        what = ARGUMENTS.get(name, "escape")
        if name in INSPECTORS and node.args:
            if not self.is_function(node.args[0]):
                self.use(self.value(node.args[0]), what, node.args[0], f"`{name}`")
            return None
        arguments = self.arguments(node)
        for argument, slot in arguments:
            self.use(slot, what, argument, f"`{name}`")
            if what == "iterate" and slot is not None and name not in KEEPS_ITEMS:
                self.escape(self.classes.item(slot), argument, f"`{name}`")
            if name == "ppy.grid" and slot is not None:
                self.use(self.classes.item(slot), what, argument, f"`{name}`")
        if name in PRODUCERS:
            return self.copy(node, name, arguments)
        if name in PASS_THROUGH:
            return self.rows(name, arguments)
        if name == "builtins.reversed" and arguments:
            return arguments[0][1]
        return None

    def named_attribute(self, node: ast.Call, name: str) -> None:
        place = 0 if name.startswith("operator.") else 1
        named = node.args[place] if place < len(node.args) else None
        if isinstance(named, ast.Constant) and isinstance(named.value, str):
            self.loosely(named.value, node)
        else:
            self.opens(node)

    def copy(self, node: ast.Call, name: str, arguments: Arguments) -> Slot:
        slot = self.produce(node)
        if arguments:
            argument, source = arguments[0]
            held = self.classes.item(source) if source is not None else None
            self.put(slot, held, argument, spread=True)
            if name == "builtins.sorted":
                self.use(self.classes.item(slot), "compare", node)
        for argument, extra in arguments[1:]:
            self.escape(extra, argument, f"`{name}`")
        return slot

    def rows(self, name: str, arguments: Arguments) -> Slot:
        """What iterating over `enumerate(x)` or `zip(x, y)` gives: a list of tuples."""
        slot = self.gathered.temporary()
        self.use(slot, "made elsewhere", arguments[0][0] if arguments else ast.Pass())
        row = self.classes.item(slot)
        shift = 1 if name == "builtins.enumerate" else 0
        starred = any(isinstance(argument, ast.Starred) for argument, _ in arguments)
        for position, (argument, source) in enumerate(arguments):
            held = self.classes.item(row, "*" if starred else str(position + shift))
            if source is not None:
                self.join(held, self.classes.item(source))
            else:
                self.use(held, "source", argument, ast.unparse(argument))
        return slot

    def is_function(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and isinstance(self.type_of(node), FunctionType)
