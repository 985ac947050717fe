"""Classes of libraries: their bases with type arguments, and their members.

Also the two directions between the type algebra and terms: `class_of` gives the class term
of a value's type, `realise` gives the type that a term stands for.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from ppybuild.graph.lattice import DATA_CLASSES, join_all
from ppybuild.graph.library.resolve import Definition, Resolver, decorator_names
from ppybuild.graph.library.source import live_statements
from ppybuild.graph.library.terms import (
    ANY,
    AnyTerm,
    CallableTerm,
    ClassTerm,
    KnownTerm,
    LiteralTerm,
    NoneTerm,
    SelfTerm,
    Term,
    TupleTerm,
    TypeTerm,
    UnionTerm,
    VariableTerm,
    collect_variables,
    read_term,
    substitute,
    union_term,
)
from ppybuild.graph.types import (
    BOOL,
    BYTES,
    COMPLEX,
    FLOAT,
    INT,
    NEVER,
    NONE,
    STR,
    UNKNOWN,
    Array,
    Buffer,
    Callable,
    Class,
    Collection,
    Dictionary,
    Function,
    Instance,
    Literal,
    Method,
    Scalar,
    Tensor,
    Tuple,
    Type,
)

SCALARS = {
    "builtins.int": INT,
    "builtins.float": FLOAT,
    "builtins.bool": BOOL,
    "builtins.complex": COMPLEX,
    "builtins.str": STR,
    "builtins.bytes": BYTES,
    "types.NoneType": NONE,
}
COLLECTIONS = {
    "builtins.list": "list",
    "builtins.tuple": "tuple",
    "builtins.set": "set",
    "builtins.frozenset": "frozenset",
    "typing.Sequence": "Sequence",
    "typing.MutableSequence": "Sequence",
    "typing.Iterable": "Iterable",
    "typing.Collection": "Iterable",
    "typing.AbstractSet": "Iterable",
    "typing.KeysView": "Iterable",
    "typing.ValuesView": "Iterable",
    "_collections_abc.dict_keys": "Iterable",
    "_collections_abc.dict_values": "Iterable",
    "typing.Iterator": "Iterator",
    "typing.Generator": "Iterator",
    "builtins.zip": "Iterator",
    "builtins.map": "Iterator",
    "builtins.filter": "Iterator",
    "builtins.reversed": "Iterator",
}
"""Classes of one item type, and the kind of collection that they are here. What is called
Iterable or Sequence may be able to do more than its kind tells."""
KIND_CLASSES = {
    "list": "builtins.list",
    "tuple": "builtins.tuple",
    "set": "builtins.set",
    "frozenset": "builtins.frozenset",
    "range": "builtins.range",
    "Sequence": "typing.Sequence",
    "Iterable": "typing.Iterable",
    "Iterator": "typing.Iterator",
    **{kind: name for name, kind in DATA_CLASSES.items()},
}
ABSTRACT_KINDS = frozenset({"Sequence", "Iterable", "Iterator", "Mapping"})
DICTIONARIES = {"builtins.dict": "dict", "typing.Mapping": "Mapping"}
ITEM_VIEWS = frozenset({"typing.ItemsView", "_collections_abc.dict_items"})
CLOSED_CLASSES = frozenset({"torch.Tensor", "torch.TensorBase", "torch.nn.Parameter"})
"""Classes written in Python that have no other attributes than those that are written, which
the tests hold against the running class."""
TENSORS = {"torch.Tensor": Tensor(), "torch.nn.Parameter": Tensor(parameter=True)}
BUFFERS: dict[Type, Type] = {FLOAT: Buffer("f64"), INT: Buffer("i64")}
"""What `ppy.Buffer[T]` is, by its elements."""
ARRAY_ITEMS = dict.fromkeys("bBhHiIlLqQ", INT) | dict.fromkeys("fd", FLOAT) | {"u": STR}
TRANSPARENT_DECORATORS = frozenset(
    {
        "overload",
        "staticmethod",
        "classmethod",
        "property",
        "abstractmethod",
        "final",
        "deprecated",
        "override",
        "setter",
        "getter",
        "deleter",
        "cached_property",
        "type_check_only",
        "disjoint_base",
        "no_type_check",
        "lru_cache",
        "cache",
        "wraps",
        "_disable_dynamo",
        "abstractproperty",
        "dataclass_transform",
        "_copy_to_script_wrapper",
        "_handle_torch_function_and_wrap_type_error_to_not_implemented",
        "runtime_checkable",
        "set_module",
        "inherit_doc",
    }
)
"""Decorators after which the written signature still holds."""


@dataclass(frozen=True, slots=True)
class ClassInfo:
    """A class as written. `bases` holds the terms of its bases; `open` where it may have
    attributes that are not written in it."""

    name: str
    definition: Definition
    parameters: tuple[str, ...]
    bases: tuple[Term, ...]
    members: Mapping[str, tuple[ast.stmt, ...]]
    fields: Mapping[str, ast.expr | None]
    """Annotations, where there is one, of the attributes that its methods set."""
    open: bool


@dataclass(frozen=True, slots=True)
class Member:
    """A member found in a class, and what the type variables of that class are there."""

    owner: ClassInfo
    statements: tuple[ast.stmt, ...]
    values: dict[str, Term]


class Stubs:
    """Everything read so far."""

    def __init__(self) -> None:
        self.resolver = Resolver()
        self._classes: dict[str, ClassInfo | None] = {}
        self._orders: dict[str, tuple[ClassInfo, ...] | None] = {}
        self._terms: dict[tuple[str, ast.expr], Term] = {}

    def term(self, module: str, node: ast.expr | None) -> Term:
        if node is None:
            return ANY
        key = (module, node)
        if key not in self._terms:
            self._terms[key] = read_term(self.resolver, module, node)
        return self._terms[key]

    def variable_term(self, found: Definition) -> Term:
        """What the annotation of a module's variable says, or its literal value."""
        for statement in reversed(found.nodes):
            match statement:
                case ast.AnnAssign(annotation=annotation):
                    return self.term(found.module, annotation)
                case ast.Assign(value=ast.Constant(value=value)) if len(found.nodes) == 1:
                    return constant_term(value)
                case _:
                    pass
        return ANY

    def class_info(self, name: str) -> ClassInfo | None:
        if name not in self._classes:
            definition = self.resolver.find(name)
            self._classes[name] = None
            if definition is not None and definition.kind == "class":
                self._classes[name] = self._read_class(definition)
        return self._classes[name]

    def _read_class(self, definition: Definition) -> ClassInfo:
        node = definition.nodes[0]
        assert isinstance(node, ast.ClassDef)
        module = definition.module
        bases = tuple(self.term(module, base) for base in node.bases)
        members: dict[str, list[ast.stmt]] = {}
        for statement in live_statements(node.body):
            for name in member_names(statement):
                members.setdefault(name, []).append(statement)
        fields = {} if definition.stub else self_fields(node)
        is_object = (module, definition.name) == ("builtins", "object")
        dynamic = "__getattr__" in members or ("__getattribute__" in members and not is_object)
        return ClassInfo(
            self.resolver.public_name(definition),
            definition,
            class_parameters(bases),
            tuple(plain_base(base) for base in bases),
            {name: tuple(statements) for name, statements in members.items()},
            fields,
            dynamic or (not definition.stub and sets_attributes(node)),
        )

    def order(self, name: str) -> tuple[ClassInfo, ...] | None:
        """The class and its bases in the order of resolution; None where one is unknown."""
        if name not in self._orders:
            self._orders[name] = None
            self._orders[name] = self._linearise(name)
        return self._orders[name]

    def _linearise(self, name: str) -> tuple[ClassInfo, ...] | None:
        info = self.class_info(name)
        if info is None:
            return None
        bases = [base for base in info.bases if not is_generic_marker(base)]
        orders: list[list[ClassInfo]] = []
        for base in bases:
            if not isinstance(base, ClassTerm):
                return None
            order = self.order(base.name)
            if order is None:
                return None
            orders.append(list(order))
        if not orders and info.name != "builtins.object":
            root = self.class_info("builtins.object")
            orders = [[root]] if root else []
        return (info, *merge(orders))

    def member(self, term: ClassTerm, attribute: str) -> Member | bool | None:
        """A member of the class; None where it has none, False where that is unknown."""
        order = self.order(term.name)
        if order is None:
            return False
        environments = self.environments(term, order)
        is_open = False
        for info in order:
            statements = info.members.get(attribute)
            if statements:
                return Member(info, statements, environments.get(info.name, {}))
            if attribute in info.fields:
                return Member(info, (), {})
            is_open = is_open or (info.open and info.name not in CLOSED_CLASSES)
        return False if is_open else None

    def environments(
        self, term: ClassTerm, order: tuple[ClassInfo, ...]
    ) -> dict[str, dict[str, Term]]:
        """What the type variables of each base are, given the arguments of the class."""
        found: dict[str, dict[str, Term]] = {}
        arguments = term.arguments or (ANY,) * len(order[0].parameters)
        found[order[0].name] = dict(zip(order[0].parameters, arguments, strict=False))
        for info in order:
            values = found.get(info.name, {})
            for base in info.bases:
                if isinstance(base, ClassTerm) and base.name not in found:
                    bound = substitute(base, values)
                    base_info = self.class_info(base.name)
                    if isinstance(bound, ClassTerm) and base_info is not None:
                        names = base_info.parameters
                        parts = bound.arguments or (ANY,) * len(names)
                        found[base_info.name] = dict(zip(names, parts, strict=False))
        return found

    def as_base(self, term: ClassTerm, base: str) -> ClassTerm | bool | None:
        """The class seen as its base; None where it is no such thing, False where unknown."""
        if term.name == base:
            return term
        order = self.order(term.name)
        if order is None:
            return False
        for info in order:
            if info.name == base:
                values = self.environments(term, order).get(base, {})
                return ClassTerm(base, tuple(values.get(n, ANY) for n in info.parameters))
        return None

    def is_protocol(self, name: str) -> bool:
        info = self.class_info(name)
        return info is not None and any(
            isinstance(base, ClassTerm) and base.name == "typing.Protocol"
            for base in info.bases
        )


def constant_term(value: object) -> Term:
    """The class of a constant; `None` may only be a place kept for something else."""
    name = type(value).__name__
    return ClassTerm(f"builtins.{name}") if f"builtins.{name}" in SCALARS else ANY


def merge(orders: list[list[ClassInfo]]) -> list[ClassInfo]:
    """The merge step of C3; where there is no consistent order, first come first."""
    merged: list[ClassInfo] = []
    remaining = [list(order) for order in orders if order]
    while remaining:
        heads = [order[0] for order in remaining]
        chosen = next(
            (h for h in heads if not any(h in order[1:] for order in remaining)), heads[0]
        )
        merged.append(chosen)
        remaining = [[info for info in order if info is not chosen] for order in remaining]
        remaining = [order for order in remaining if order]
    return merged


def is_generic_marker(term: Term) -> bool:
    return isinstance(term, ClassTerm) and term.name in ("typing.Generic", "typing.Protocol")


def plain_base(term: Term) -> Term:
    if isinstance(term, TupleTerm):
        return ClassTerm("builtins.tuple", (union_term(*term.items) if term.items else ANY,))
    return term


def class_parameters(bases: tuple[Term, ...]) -> tuple[str, ...]:
    """The type variables of a class: those of `Generic[...]`, else in order of appearance."""
    names: list[str] = []
    for base in bases:
        if is_generic_marker(base) and isinstance(base, ClassTerm) and base.arguments:
            names.clear()
            collect_variables(base, names)
            return tuple(names)
        collect_variables(base, names)
    return tuple(names)


def member_names(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return [name]
        case ast.ClassDef(name=name):
            return [name]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case ast.Assign(targets=targets):
            return [
                node.id
                for target in targets
                for node in ast.walk(target)
                if isinstance(node, ast.Name)
            ]
        case ast.ImportFrom(names=names) | ast.Import(names=names):
            return [alias.asname or alias.name for alias in names]
        case _:
            return []


def self_fields(node: ast.ClassDef) -> dict[str, ast.expr | None]:
    """The attributes that the methods of a class set on their first parameter."""
    fields: dict[str, ast.expr | None] = {}
    for method in node.body:
        if not isinstance(method, ast.FunctionDef) or not method.args.args:
            continue
        receiver = method.args.args[0].arg
        for part in ast.walk(method):
            match part:
                case ast.AnnAssign(
                    target=ast.Attribute(value=ast.Name(id=name), attr=attribute),
                    annotation=annotation,
                ) if name == receiver:
                    fields[attribute] = annotation
                case ast.Attribute(
                    value=ast.Name(id=name), attr=attribute, ctx=ast.Store()
                ) if name == receiver:
                    fields.setdefault(attribute, None)
                case _:
                    pass
    return fields


def sets_attributes(node: ast.ClassDef) -> bool:
    """True where a class written in Python may give itself attributes by other means."""
    return bool(node.decorator_list) or any(
        (isinstance(part, ast.Name) and part.id in ("setattr", "vars"))
        or (isinstance(part, ast.Attribute) and part.attr in ("__dict__", "__setattr__"))
        for part in ast.walk(node)
    )


def class_of(kind: Type) -> ClassTerm | None:
    """The class of a value of this type; None where it is not one known class."""
    match kind:
        case Scalar(name="None"):
            return ClassTerm("types.NoneType")
        case Scalar(name=name):
            return ClassTerm(f"builtins.{name}")
        case Literal(base=base):
            return class_of(base)
        case Tuple(items=items):
            return ClassTerm("builtins.tuple", (KnownTerm(join_all(items)),))
        case Collection(kind="range"):
            return ClassTerm("builtins.range")
        case Collection(kind=name, item=item):
            return ClassTerm(KIND_CLASSES[name], (KnownTerm(item),))
        case Dictionary(kind=name, key=key, value=value):
            owner = "builtins.dict" if name == "dict" else "typing.Mapping"
            return ClassTerm(owner, (KnownTerm(key), KnownTerm(value)))
        case Array(typecode=code):
            return ClassTerm("array.array", (KnownTerm(ARRAY_ITEMS.get(code, UNKNOWN)),))
        case Tensor(parameter=parameter):
            return ClassTerm("torch.nn.Parameter" if parameter else "torch.Tensor")
        case Instance(name=name):
            return ClassTerm(name)
        case _:
            return None


def realise(term: Term, solved: Mapping[str, Type], receiver: Type = UNKNOWN) -> Type:
    """The type that a term stands for, with type variables as solved."""

    def deep(part: Term) -> Type:
        return realise(part, solved, receiver)

    match term:
        case AnyTerm():
            return UNKNOWN
        case NoneTerm():
            return NONE
        case KnownTerm(type=kind):
            return kind
        case VariableTerm(name=name):
            return solved.get(name, UNKNOWN)
        case SelfTerm():
            return receiver
        case TupleTerm(items=items):
            return Tuple(tuple(map(deep, items)))
        case UnionTerm(members=parts):
            return join_all(map(deep, parts)) if parts else NEVER
        case LiteralTerm(values=values):
            return join_all(literal_type(value) for value in values)
        case CallableTerm(parameters=parameters, result=result):
            kinds = None if parameters is None else tuple(map(deep, parameters))
            return Callable(kinds, deep(result))
        case TypeTerm():
            return UNKNOWN  # the class or any that derives from it: a namedtuple's, say
        case ClassTerm(name=name, arguments=arguments):
            return realise_class(name, tuple(map(deep, arguments)))


def realise_class(name: str, arguments: tuple[Type, ...]) -> Type:
    first = arguments[0] if arguments else UNKNOWN
    if name in SCALARS:
        return SCALARS[name]
    if name in COLLECTIONS:
        return Collection(COLLECTIONS[name], first)
    if name in ITEM_VIEWS:
        pair = arguments if len(arguments) == 2 else (UNKNOWN, UNKNOWN)
        return Collection("Iterable", Tuple(pair))
    if name == "builtins.enumerate":
        return Collection("Iterator", Tuple((INT, first)))
    if name == "builtins.range":
        return Collection("range", INT)
    if name in DICTIONARIES:
        second = arguments[1] if len(arguments) > 1 else UNKNOWN
        return Dictionary(DICTIONARIES[name], first, second)
    if name in TENSORS:
        return TENSORS[name]
    if name == "ppy.Buffer" and first in BUFFERS:
        return BUFFERS[first]
    if name in ("builtins.object", "builtins.type", "builtins.function"):
        return UNKNOWN
    return Instance(name)


def literal_type(value: int | str | bool | bytes | None) -> Type:
    match value:
        case None:
            return NONE
        case bool():
            return Literal(BOOL, (value,))
        case int():
            return Literal(INT, (value,))
        case str():
            return Literal(STR, (value,))
        case bytes():
            return Literal(BYTES, (value,))


def member_type(stubs: Stubs, member: Member, receiver: Type, attribute: str) -> Type:
    """The type of a member read off an instance."""
    if not member.statements:
        return stubs_field(stubs, member, attribute)
    module = member.owner.definition.module
    statement = member.statements[-1]
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            decorators = decorator_names(statement)
            if decorators & {"property", "cached_property", "setter", "abstractproperty"}:
                return property_type(stubs, member, receiver)
            if not decorators <= TRANSPARENT_DECORATORS:
                return UNKNOWN
            return Method(receiver, attribute)
        case ast.AnnAssign(annotation=annotation):
            term = substitute(stubs.term(module, annotation), member.values)
            return realise(term, {}, receiver)
        case ast.Assign(value=ast.Name(id=alias)):
            statements = member.owner.members.get(alias, ())
            if statements and statements != member.statements:
                return member_type(
                    stubs, Member(member.owner, statements, member.values), receiver, attribute
                )
            return UNKNOWN
        case ast.ClassDef(name=name):
            return Class(f"{member.owner.name}.{name}")
        case _:
            return UNKNOWN


def stubs_field(stubs: Stubs, member: Member, attribute: str) -> Type:
    annotation = member.owner.fields.get(attribute)
    if annotation is None:
        return UNKNOWN
    return realise(stubs.term(member.owner.definition.module, annotation), {})


def property_type(stubs: Stubs, member: Member, receiver: Type) -> Type:
    for statement in member.statements:
        if isinstance(statement, ast.FunctionDef) and not (
            decorator_names(statement) & {"setter", "deleter"}
        ):
            term = stubs.term(member.owner.definition.module, statement.returns)
            return realise(substitute(term, member.values), {}, receiver)
    return UNKNOWN


def attribute_type(stubs: Stubs, owner: Type, attribute: str) -> Type | None:
    """The type of an attribute of a value; None where its class has none such."""
    term = class_of(owner)
    if term is None:
        return UNKNOWN
    found = stubs.member(term, attribute)
    if isinstance(found, Member):
        return member_type(stubs, found, owner, attribute)
    abstract = isinstance(owner, Collection | Dictionary) and owner.kind in ABSTRACT_KINDS
    special = attribute.startswith("__")  # Python gives some that no stub names
    return UNKNOWN if found is False or abstract or special else None


def class_attribute_type(stubs: Stubs, name: str, attribute: str) -> Type | None:
    """The type of an attribute read off a class."""
    found = stubs.member(ClassTerm(name), attribute)
    if not isinstance(found, Member):
        of_type = stubs.member(ClassTerm("builtins.type"), attribute)
        if isinstance(of_type, Member):
            return member_type(stubs, of_type, Class(name), attribute)
        info = stubs.class_info(name)
        plain = info is not None and info.definition.stub and not has_metaclass(stubs, name)
        special = attribute.startswith("__")
        return None if found is None and plain and not special else UNKNOWN
    if not found.statements:
        return UNKNOWN
    statement = found.statements[-1]
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        decorators = decorator_names(statement)
        if decorators & {"property", "cached_property"}:
            return UNKNOWN
        if "classmethod" in decorators:
            return Method(Class(name), attribute)
        return Function(f"{found.owner.name}.{attribute}")
    order = stubs.order(name) or ()
    is_enum = any(info.name == "enum.Enum" for info in order)
    if is_enum and isinstance(statement, ast.Assign | ast.AnnAssign):
        return Instance(name)
    return member_type(stubs, found, UNKNOWN, attribute)


def has_metaclass(stubs: Stubs, name: str) -> bool:
    for info in stubs.order(name) or ():
        node = info.definition.nodes[0]
        if isinstance(node, ast.ClassDef):
            for keyword in node.keywords:
                if keyword.arg == "metaclass" and not (
                    isinstance(keyword.value, ast.Name) and keyword.value.id == "ABCMeta"
                ):
                    return True
    return False
