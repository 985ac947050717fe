"""The body of a function, or of a module, while it becomes C."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ppybuild.emit.loops.c_names import c_names
from ppybuild.emit.standalone.around import Around, FlagLine, Loop
from ppybuild.emit.standalone.kinds import (
    BOOL,
    ERROR,
    NONE,
    TEXT,
    ArrayOf,
    DictOf,
    Kind,
    ListOf,
    ObjectOf,
    Reference,
    SetOf,
    TupleOf,
    c_type,
    has_text,
    is_flat,
    kind_of,
    may_be_item,
    number_help,
    show,
)
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.values import Value, as_struct, c_string
from ppybuild.emit.standalone.whole import Variable, Whole
from ppybuild.graph.program import Module
from ppybuild.graph.syntax import walk
from ppybuild.graph.types import Type

FRAME = "ppy_here"


@dataclass(slots=True)
class Body:
    """Lines of C, and what is known where the next one goes."""

    whole: Whole
    module: Module
    function: str | None
    """The dotted name of the function; None for module-level code."""
    locals: dict[str, Kind | None]
    """None of a variable whose kind its first assignment tells."""
    lower: Callable[[Body, ast.expr], Value]
    """Lowers an expression: `expressions.lower_expression`."""
    call_named: Callable[[Body, ast.Call, Type | None], Value]
    """Lowers a call of a function as a value, by its type: `calls.lower_named`."""
    bind: Callable[[Body, ast.Call, str, bool], dict[str, Value]]
    """The values of the arguments of a call: `calls.bind_arguments`."""
    result: Kind = NONE
    own: str | None = None
    """The first parameter of a method, where nothing assigns to it: it is no None."""
    lines: list[str | FlagLine] = field(default_factory=list)
    depth: int = 1
    bound: set[str] | None = field(default_factory=set)
    """Names that are certainly bound here; None where no run gets."""
    flagged: set[str] = field(default_factory=set)
    inner: dict[str, Value] = field(default_factory=dict)
    """Variables of the comprehensions around, and caught exceptions."""
    loops: list[Loop] = field(default_factory=list)
    around: list[Around] = field(default_factory=list)
    """What has to be ended on the way out, the innermost last."""
    needs_entry: bool = False
    """Whether the arena has to be as it was when the function was entered."""
    has_try: bool = False
    uses_arena: bool = False
    roots: int = 0
    hints: dict[ast.expr, Kind] = field(default_factory=dict)
    """Of displays without items, by where they go."""
    slots: int = 0
    places: dict[str, Value] = field(default_factory=dict)
    """Of local variables."""
    declared: list[tuple[str, Kind]] = field(default_factory=list)
    """The C variables of local variables."""
    count: int = 0
    said_line: int = 0
    c_names: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.c_names = c_names(self.locals)
        for name, kind in self.locals.items():
            if kind is not None:
                self.declare(name, kind)

    def declare(self, name: str, kind: Kind) -> None:
        """The place of a local variable."""
        self.locals[name] = kind
        self.places[name] = self._place(self.c_names[name], kind)

    def _place(self, c: str, kind: Kind) -> Value:
        if kind == TEXT:
            self.slots += 1
            return Value(kind, f"ppy_kept[{self.slots - 1}]")
        if isinstance(kind, Reference):
            self.roots += 1
            return Value(kind, f"ppy_lists[{self.roots - 1}]")
        if isinstance(kind, TupleOf) and not is_flat(kind):
            parts = tuple(
                self._place(f"ppy_part{at}_{c}", each) for at, each in enumerate(kind.items)
            )
            return Value(kind, "", parts=parts)
        self.declared.append((c, kind))
        return Value(kind, c)

    # Lines

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def raw(self, text: str) -> None:
        self.lines.append(text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """`head {` … `}`"""
        self.line(f"{head} {{".lstrip())
        self.depth += 1
        self.said_line = 0
        yield
        self.depth -= 1
        self.line("}")
        self.said_line = 0

    def fresh(self) -> str:
        self.count += 1
        return f"ppy_{self.count}"

    def at(self, node: ast.AST) -> None:
        """What follows may raise, or may call what does."""
        line = getattr(node, "lineno", 0)
        if line != self.said_line:
            self.line(f"{FRAME}.line = {line};")
            self.said_line = line

    def fail(self, node: ast.AST, condition: str, why: str) -> None:
        """Where the condition holds, `why` raises."""
        line = getattr(node, "lineno", 0)
        self.line(f"if (PPY_UNLIKELY({condition})) {{ {FRAME}.line = {line}; {why}; }}")

    # Values

    def value(self, node: ast.expr) -> Value:
        return self.lower(self, node)

    def value_for(self, node: ast.expr, kind: Kind | None) -> Value:
        """The value of what goes where this kind belongs: it tells what `[]` is a list of."""
        self.hint(node, kind)
        return self.value(node)

    def arguments(self, node: ast.Call, name: str, *, skip_first: bool) -> dict[str, Value]:
        """By parameter, in the order in which Python evaluates them."""
        return self.bind(self, node, name, skip_first)

    def suit(self, value: Value, kind: Kind) -> Value:
        """None as an object that is none."""
        if value.kind == NONE and isinstance(kind, ObjectOf):
            return Value(kind, "((ppy_list *)NULL)", fixed=True)
        return value

    def hint(self, node: ast.expr, kind: Kind | None) -> None:
        match node, kind:
            case ast.IfExp(body=first, orelse=second), _:
                self.hint(first, kind)
                self.hint(second, kind)
            case ast.Tuple(elts=elements), TupleOf(items) if len(elements) == len(items):
                for each, item in zip(elements, items, strict=True):
                    self.hint(each, item)
            case ast.List(elts=elements), ListOf(item) if elements:
                self.hints[node] = kind
                for each in elements:
                    self.hint(each, item)
            case ast.Dict(values=elements), DictOf(_, item) if elements:
                self.hints[node] = kind
                for each in elements:
                    self.hint(each, item)
            case _, kind if isinstance(kind, Reference):
                self.hints[node] = kind

    def kind_at(self, node: ast.expr) -> Kind | None:
        """The kind of an expression as the types of the program, or its place, tell it."""
        return self.hints.get(node) or kind_of(self.whole.facts.types.get(node))

    def values(self, *nodes: ast.expr) -> list[Value]:
        """In order; a value that a later one's side effects could change is kept."""
        found: list[Value] = []
        for at, node in enumerate(nodes):
            value = self.value(node)
            if any(map(has_effects, nodes[at + 1 :])):
                value = self.keep(value)
            found.append(value)
        return found

    def temporary(self, kind: Kind, c: str) -> Value:
        """The value of a C expression, computed here."""
        if isinstance(kind, Reference):
            return self.root(kind, c)
        name = self.fresh()
        self.uses_arena = self.uses_arena or has_text(kind)
        if isinstance(kind, TupleOf):
            self.whole.tuples.add(kind)
        self.line(f"const {c_type(kind)} {name} = {c};")
        return self._rooted(Value(kind, name, fixed=True))

    def _rooted(self, value: Value) -> Value:
        """The references in a tuple stay while the function runs."""
        if isinstance(value.kind, Reference):
            return self.root(value.kind, value.c)
        if not isinstance(value.kind, TupleOf) or is_flat(value.kind):
            return value
        parts = tuple(map(self._rooted, value.items()))
        return Value(value.kind, "", parts=parts, fixed=True)

    def root(self, kind: Kind, c: str) -> Value:
        """A list that stays while the function runs."""
        place = f"ppy_lists[{self.roots}]"
        self.roots += 1
        self.line(f"{place} = {c};")
        return Value(kind, place, fixed=True)

    def keep(self, value: Value) -> Value:
        """The value as it is now."""
        if value.fixed or value.kind in (NONE, ERROR):
            return value
        if value.parts is not None or not (is_flat(value.kind) or value.kind == TEXT):
            if isinstance(value.kind, Reference):
                return self.root(value.kind, value.c)
            parts = tuple(self.keep(part) for part in value.items())
            return Value(value.kind, "", parts=parts, fixed=True)
        if value.kind == TEXT:
            return self.temporary(TEXT, f"ppy_arena_copy({value.c})")
        return self.temporary(value.kind, value.c)

    def variable(self, kind: Kind) -> Value:
        """A C variable that `set` assigns to in several places below, in this block."""
        if isinstance(kind, Reference):
            self.roots += 1
            return Value(kind, f"ppy_lists[{self.roots - 1}]", fixed=True)
        if isinstance(kind, TupleOf) and not is_flat(kind):
            parts = tuple(self.variable(each) for each in kind.items)
            return Value(kind, "", parts=parts, fixed=True)
        if isinstance(kind, TupleOf):
            self.whole.tuples.add(kind)
        if kind == TEXT:
            self.uses_arena = True
        name = self.fresh()
        start = "{0}" if kind == TEXT or isinstance(kind, TupleOf) else "0"
        volatile = "volatile " if self.has_try and kind != TEXT else ""
        self.line(f"{volatile}{c_type(kind)} {name} = {start};")
        return Value(kind, name, fixed=True)

    def set(self, place: Value, value: Value) -> None:
        """Assign to what `variable` gave."""
        if place.parts is None:
            if place.c:
                self.line(f"{place.c} = {as_struct(self.keep(value))};")
            return
        for part, each in zip(place.parts, self.keep(value).items(), strict=True):
            self.set(part, each)

    def counter(self, start: str, type_: str = "int64_t") -> str:
        """A C variable that a loop counts with; it outlives what its turns catch."""
        name = self.fresh()
        self.line(f"{'volatile ' if self.has_try else ''}{type_} {name} = {start};")
        return name

    # Names

    def read(self, node: ast.AST, name: str) -> Value:
        """The value of a variable."""
        if name in self.inner:
            return self.inner[name]
        if name in self.locals:
            if name not in self.places:
                raise Refused(node, f"`{name}`, whatever it is", "annotate it")
            if self.bound is not None and name not in self.bound:
                self.flagged.add(name)
                self.fail(
                    node, f"!{self.c_names[name]}_bound", f"ppy_why_unbound({c_string(name)})"
                )
            return self.places[name]
        variable = self.whole.variable(self.module.name, name, node)
        if not self.is_bound(name, variable):
            self.whole.flagged.add(variable.key)
            self.fail(node, f"!{variable.flag}", f"ppy_why_undefined({c_string(name)})")
        return variable.place

    def is_bound(self, name: str, variable: Variable) -> bool:
        """Whether a global variable certainly is bound here."""
        if variable.early:
            return True
        here = self.function is None and variable.key[0] == self.module.name
        return here and (self.bound is None or name in self.bound)

    def kind_of_name(self, node: ast.AST, name: str) -> Kind | None:
        """What a variable takes, where that is known."""
        if name in self.inner:
            return None
        if name in self.locals:
            return self.locals[name]
        try:
            return self.whole.variable(self.module.name, name, node).place.kind
        except Refused:
            return None

    def assign(self, node: ast.AST, name: str, value: Value) -> None:
        """`name = value`"""
        if name in self.inner:
            raise Refused(node, f"`{name}` is a caught exception here", "use another name")
        flag = ""
        if name in self.locals:
            if name not in self.places:
                if not may_be_item(value.kind):
                    raise Refused(node, f"`{name}` is {show(value.kind)}")
                self.declare(name, value.kind)
            place = self.places[name]
        else:
            variable = self.whole.variable(self.module.name, name, node, value.kind)
            place, flag = variable.place, variable.flag
        value = self.suit(value, place.kind)
        if place.kind != value.kind:
            raise Refused(
                node,
                f"`{name}` is {show(place.kind)}, and what is assigned is {show(value.kind)}",
                number_help(place.kind),
            )
        self.store(place, value)
        if flag:
            self.line(f"{flag} = true;")
        else:
            self.lines.append(FlagLine(name, self.depth))
        if self.bound is not None:
            self.bound.add(name)

    def store(self, place: Value, value: Value) -> None:
        """C for an assignment to a variable, an item or a field."""
        if value.kind == NONE:
            return
        if value.kind == TEXT:
            self.line(f"ppy_keep(&{place.c}, {value.c});")
        elif isinstance(value.kind, TupleOf) and not is_flat(value.kind):
            for part, each in zip(place.items(), self.keep(value).items(), strict=True):
                self.store(part, each)
        else:
            if isinstance(value.kind, TupleOf):
                self.whole.tuples.add(value.kind)
            self.line(f"{place.c} = {as_struct(value)};")

    # Statements

    @contextmanager
    def statement(self) -> Iterator[None]:
        """Around a statement: temporaries are its own, and so is what it makes in the arena."""
        start, before = len(self.lines), self.uses_arena
        self.uses_arena = False
        self.depth += 1
        yield
        self.depth -= 1
        added = self.lines[start:]
        del self.lines[start:]
        if self.uses_arena and self.bound is not None:
            self.line("{")
            self.line("    const ppy_mark ppy_mark_here = ppy_arena_mark();")
            self.lines += added
            self.line("    ppy_arena_release(ppy_mark_here);")
            self.line("}")
        elif len(added) == 1 and isinstance(added[0], str) and "const " not in added[0]:
            self.lines.append(added[0][4:])
        elif added:
            self.line("{")
            self.lines += added
            self.line("}")
        self.said_line = 0
        self.uses_arena = before or self.uses_arena

    def condition(self, node: ast.expr) -> str:
        """The truth of an expression, as C that stands in a statement of its own; what it
        makes in the arena is released."""
        start, before, outer = len(self.lines), self.uses_arena, self.depth
        self.uses_arena = False
        self.depth += 1
        test = self.test(node)
        self.depth = outer
        added = self.lines[start:]
        del self.lines[start:]
        if not added:
            self.uses_arena = before
            return test
        name = self.fresh()
        self.line(f"bool {name};")
        self.line("{")
        if self.uses_arena:
            self.line("    const ppy_mark ppy_mark_here = ppy_arena_mark();")
        self.lines += added
        self.line(f"    {name} = {test};")
        if self.uses_arena:
            self.line("    ppy_arena_release(ppy_mark_here);")
        self.line("}")
        self.said_line = 0
        self.uses_arena = before or self.uses_arena
        return name

    def test(self, node: ast.expr) -> str:
        """`bool(node)`; what `and` and `or` join may be of several kinds."""
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return f"(!{self.test(operand)})"
            case ast.BoolOp(op=op, values=[first, *others]):
                name = self.fresh()
                self.line(f"bool {name} = {self.test(first)};")
                with self.perhaps():
                    for each in others:
                        with self.block(
                            f"if ({name})" if isinstance(op, ast.And) else f"if (!{name})"
                        ):
                            self.line(f"{name} = {self.test(each)};")
                return name
            case _:
                return self.truth(self.value(node))

    @contextmanager
    def perhaps(self) -> Iterator[None]:
        """Around what may be passed over: names that it binds may be unbound behind it."""
        before = set(self.bound or ())
        yield
        self.bound = before

    def truth(self, value: Value) -> str:
        """`bool(value)`"""
        match value.kind:
            case TupleOf(items):
                return "true" if items else "false"
            case ListOf() | ArrayOf():
                return f"({value.c}->length != 0)"
            case DictOf() | SetOf():
                return f"({value.c}->table->used != 0)"
            case ObjectOf(name):
                return self._truth_of_object(value, name)
            case kind if kind == BOOL:
                return value.c
            case kind if kind == TEXT:
                return f"({value.c}.bytes != 0)"
            case kind if kind == NONE:
                return "false"
            case kind if kind == ERROR:
                return "true"
            case _:
                return f"({value.c} != 0)"

    def _truth_of_object(self, value: Value, name: str) -> str:
        form = self.whole.classes.get(name)
        length = form.method("__len__") if form is not None else None
        if form is None or length is None:
            return f"({value.c} != NULL)"
        found, call = self.fresh(), self.whole.form(length, form.node).c
        self.line(f"const int64_t {found} = {value.c} ? {call}({value.c}) : 0;")
        self.fail(form.node, f"{found} < 0", "ppy_why_length()")
        return f"({found} != 0)"


def has_effects(node: ast.expr) -> bool:
    """Whether evaluating it may change a variable or a list; an attribute may be a property."""
    return any(
        isinstance(each, ast.Call | ast.NamedExpr | ast.Attribute) for each in walk(node)
    )
