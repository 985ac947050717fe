"""Classes of the program: which have a form in C, and that form."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ppybuild.emit.loops.c_names import c_names
from ppybuild.emit.names import mangle
from ppybuild.emit.standalone.kinds import (
    BOOL,
    Kind,
    ObjectOf,
    TupleOf,
    c_type,
    is_flat,
    kind_of,
    layout,
    may_be_item,
)
from ppybuild.emit.standalone.refuse import Refused
from ppybuild.emit.standalone.values import c_string
from ppybuild.graph.lattice import show
from ppybuild.graph.program import Class
from ppybuild.graph.syntax import walk

if TYPE_CHECKING:
    from ppybuild.emit.standalone.whole import Whole

_SPECIAL = frozenset({"__init__", "__post_init__", "__repr__", "__str__", "__eq__", "__len__"})
"""Methods that Python calls by itself, beside those of operators."""
OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "__add__",
    ast.Sub: "__sub__",
    ast.Mult: "__mul__",
    ast.Div: "__truediv__",
    ast.FloorDiv: "__floordiv__",
    ast.Mod: "__mod__",
    ast.MatMult: "__matmul__",
}
COMPARISONS = {"eq": "__eq__", "lt": "__lt__", "le": "__le__", "gt": "__gt__", "ge": "__ge__"}
_KNOWN = _SPECIAL | set(OPERATORS.values()) | set(COMPARISONS.values())
_NAMED_TUPLE = ("NamedTuple", "typing.NamedTuple")
_DATACLASS = ("dataclass", "dataclasses.dataclass")


@dataclass(frozen=True, slots=True)
class ClassForm:
    """What those who use objects have to know of their class."""

    name: str
    node: ast.ClassDef
    is_dataclass: bool
    frozen: bool
    is_tuple: bool
    """A `NamedTuple`: a frozen dataclass that can be unpacked."""
    fields: Mapping[str, Kind]
    """In order of the generated `__init__` where it is a dataclass."""
    methods: Mapping[str, ast.FunctionDef]
    constants: Mapping[str, ast.expr]
    """What the class holds for all objects."""
    c_fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def struct(self) -> str:
        return f"ppy_C_{mangle(self.name)}"

    @property
    def table(self) -> str:
        """The C name of its `ppy_class`."""
        return f"ppy_K_{mangle(self.name)}"

    @property
    def simple(self) -> str:
        return self.name.rpartition(".")[2]

    def method(self, name: str) -> str | None:
        """The dotted name of a method, where there is one."""
        return f"{self.name}.{name}" if name in self.methods else None

    def kind_of_method(self, name: str) -> str:
        """`property`, `staticmethod`, or nothing."""
        return "".join(ast.unparse(each) for each in self.methods[name].decorator_list)


def class_form(whole: Whole, name: str, node: ast.AST) -> ClassForm:
    """The form of a class; what has none is refused where it is used."""
    if name not in whole.classes:
        found = whole.facts.program.classes.get(name)
        if found is None:
            raise Refused(node, f"an object of the class `{name}`")
        form = _form(whole, found)
        whole.classes[name] = form
        for kind in form.fields.values():
            if isinstance(kind, TupleOf):
                whole.tuples.add(kind)
        _write_equal(whole, form)
    return whole.classes[name]


def _write_equal(whole: Whole, form: ClassForm) -> None:
    """What compares lists of the objects calls `__eq__` too."""
    name = form.method("__eq__")
    if name is None:
        return
    node, simple, written = form.methods["__eq__"], form.node.name, whole.facts.signatures[name]
    kinds = [kind_of(each.type) for each in written.parameters]
    if kind_of(written.result) != BOOL or kinds != [ObjectOf(form.name)] * 2:
        raise Refused(
            node,
            f"an `__eq__` of other than two of `{simple}`",
            f"declare `other: {simple}`, and `-> bool`",
        )
    whole.form(name, node)


def _form(whole: Whole, found: Class) -> ClassForm:
    node = found.node
    if found.name != f"{found.module}.{node.name}":
        raise Refused(node, "a class in a function or a class", "move it out")
    is_tuple = len(found.bases) == 1 and found.bases[0] in _NAMED_TUPLE
    if (node.bases and not is_tuple) or node.keywords:
        raise Refused(node, f"`{node.name}`, a class with bases")
    ends = {base.rpartition(".")[2] for other in _all(whole) for base in other.bases}
    if node.name in ends:
        raise Refused(node, f"`{node.name}`, from which classes derive")
    is_dataclass, frozen = _decorated(node)
    if is_tuple:
        is_dataclass = frozen = True
    methods, constants, declared = _parts(whole, node, is_dataclass)
    types = whole.facts.fields.get(found.name, {})
    names = declared if is_dataclass else [each for each in types if each not in constants]
    fields = {}
    for name in names:
        kind = kind_of(types.get(name))
        if name in methods:
            continue
        if kind is None or not may_be_item(kind):
            said = show(types[name]) if name in types else "unknown"
            raise Refused(node, f"`{name}` of `{node.name}` is {said}", "annotate it")
        fields[name] = kind
    told = (is_dataclass, frozen, is_tuple)
    return ClassForm(found.name, node, *told, fields, methods, constants, c_names(fields))


def _all(whole: Whole) -> Iterator[Class]:
    yield from whole.facts.program.classes.values()


def _decorated(node: ast.ClassDef) -> tuple[bool, bool]:
    """Whether it is a dataclass, and a frozen one."""
    if not node.decorator_list:
        return False, False
    (decorator, *others) = node.decorator_list
    call = decorator if isinstance(decorator, ast.Call) else None
    if others or ast.unparse(call.func if call else decorator) not in _DATACLASS:
        raise Refused(decorator, f"the decorator `{ast.unparse(decorator)}` of a class")
    frozen = False
    for each in call.keywords if call else ():
        said = isinstance(each.value, ast.Constant) and each.value.value is True
        if each.arg == "frozen":
            frozen = said
        elif each.arg != "slots":
            raise Refused(each.value, f"`{each.arg}` of a dataclass")
    return True, frozen


def _parts(
    whole: Whole, node: ast.ClassDef, is_dataclass: bool
) -> tuple[dict[str, ast.FunctionDef], dict[str, ast.expr], list[str]]:
    """Methods, constants, and the fields that annotations declare."""
    methods: dict[str, ast.FunctionDef] = {}
    constants: dict[str, ast.expr] = {}
    declared: list[str] = []
    defaults: list[bool] = []
    for each in node.body:
        match each:
            case ast.FunctionDef(name=name):
                if name.startswith("__") and name.endswith("__") and name not in _KNOWN:
                    raise Refused(each, f"the method `{name}`")
                if name in methods:
                    raise Refused(each, f"`{name}`, which is defined twice")
                methods[name] = each
            case ast.AnnAssign(target=ast.Name(id=name)) if is_dataclass or each.value is None:
                _check_field(each)
                if each.value is None and any(defaults):
                    raise Refused(each, "a field without a default behind one that has one")
                defaults.append(each.value is not None)
                declared.append(name)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant() as value):
                constants[name] = value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant() as value):
                constants[name] = value
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case _:
                raise Refused(each, "this statement in a class")
    for name in constants:
        if name in _stored_attributes(whole):
            raise Refused(node, f"`{name}` of `{node.name}`, which objects change")
    return methods, constants, declared


def is_plain(node: ast.expr) -> bool:
    """Whether it is a constant, which may be made anew wherever it is asked for."""
    match node:
        case ast.Tuple(elts=elements):
            return all(map(is_plain, elements))
        case ast.UnaryOp(operand=operand):
            return is_plain(operand)
    return isinstance(node, ast.Constant)


def _check_field(node: ast.AnnAssign) -> None:
    if "ClassVar" in ast.unparse(node.annotation) or "InitVar" in ast.unparse(node.annotation):
        raise Refused(node, "this field")
    match node.value:
        case value if value is None or is_plain(value):
            pass
        case ast.Call(args=[], keywords=[ast.keyword("default" | "default_factory")]):
            pass
        case _:
            help = "write `field(default_factory=list)`"
            raise Refused(node.value, "this default of a field", help)


def _stored_attributes(whole: Whole) -> frozenset[str]:
    """Every attribute that anything in the program is assigned to."""
    if whole.stored is None:
        whole.stored = frozenset(
            each.attr
            for module in whole.facts.program.modules.values()
            for each in walk(module.tree)
            if isinstance(each, ast.Attribute) and not isinstance(each.ctx, ast.Load)
        )
    return whole.stored


# C


def class_declarations(whole: Whole) -> Iterator[str]:
    """The structure of each class, and its tables; behind the structures of tuples."""
    for form in whole.classes.values():
        rows = [(key, form.c_fields[key], kind) for key, kind in form.fields.items()]
        fields = [f"{c_type(kind)} f_{c};" for _, c, kind in rows]
        if not form.is_dataclass:
            fields += [f"bool h_{c};" for _, c, _ in rows]  # whether it has been assigned
        yield f"typedef struct {{ {' '.join(fields) or 'char none;'} }} {form.struct};"
        parts = ", ".join(
            f"{{offsetof({form.struct}, f_{c}), {layout(kind)}, {c_string(key)}}}"
            for key, c, kind in rows
        )
        c = mangle(form.name)
        if parts:
            yield f"static const ppy_part ppy_CP_{c}[] = {{{parts}}};"
        plain = "true" if all(map(is_flat, form.fields.values())) else "false"
        yield (
            f"static const ppy_layout ppy_CL_{c} = {{PPY_SHAPE_TUPLE, sizeof({form.struct}), "
            f"{plain}, {len(form.fields)}, {f'ppy_CP_{c}' if parts else 'NULL'}}};"
        )
        yield from _special(whole, form)
        equal = "ppy_dataclass_equal" if form.is_dataclass else "NULL"
        shown = "ppy_dataclass_repr" if form.is_dataclass else "NULL"
        equal = f"ppy_CE_{c}" if form.method("__eq__") in whole.forms else equal
        shown = f"ppy_CR_{c}" if form.method("__repr__") in whole.forms else shown
        yield (
            f"static const ppy_class {form.table} = {{{c_string(form.simple)}, &ppy_CL_{c}, "
            f"{equal}, {shown}}};"
        )


def _special(whole: Whole, form: ClassForm) -> Iterator[str]:
    """Methods that the runtime calls."""
    c = mangle(form.name)
    equal, shown = form.method("__eq__"), form.method("__repr__")
    if equal in whole.forms and equal is not None:
        name = whole.forms[equal].c
        yield f"static bool {name}(ppy_list *, ppy_list *);"
        yield f"static bool ppy_CE_{c}(const ppy_list *a, const ppy_list *b) {{"
        yield f"    return {name}((ppy_list *)(uintptr_t)a, (ppy_list *)(uintptr_t)b);\n}}"
    if shown in whole.forms and shown is not None:
        name = whole.forms[shown].c
        yield f"static ppy_text {name}(ppy_list *);"
        yield f"static ppy_text ppy_CR_{c}(const ppy_list *object) {{"
        yield f"    return {name}((ppy_list *)(uintptr_t)object);\n}}"
