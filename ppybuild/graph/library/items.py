"""What comes out of values: by index, by iteration, by entering a `with`."""

from __future__ import annotations

from ppybuild.graph.lattice import (
    ARRAY_ELEMENTS,
    BUFFER_ELEMENTS,
    iterated,
    join_all,
    members_of,
)
from ppybuild.graph.library.calls import call
from ppybuild.graph.library.classes import ABSTRACT_KINDS, Member, Stubs, class_of, realise
from ppybuild.graph.library.terms import ClassTerm
from ppybuild.graph.library.values import Argument
from ppybuild.graph.types import (
    BYTES,
    INT,
    NEVER,
    STR,
    UNKNOWN,
    Array,
    Buffer,
    Callable,
    Collection,
    Dictionary,
    Function,
    Instance,
    Literal,
    Method,
    Module,
    Scalar,
    Tensor,
    Tuple,
    Type,
    Union,
    Unknown,
)

SLICE = Instance("builtins.slice")


def infer_item(stubs: Stubs, owner: Type, index: Argument) -> Type | None:
    """`owner[index]`; None where Python raises TypeError."""
    if isinstance(owner, Union):
        found = [infer_item(stubs, member, index) for member in members_of(owner)]
        known = [kind for kind in found if kind is not None]
        return join_all(known) if known else None
    if isinstance(index.type, Union):
        found = [infer_item(stubs, owner, Argument(kind)) for kind in index.type.members]
        known = [kind for kind in found if kind is not None]
        return join_all(known) if known else None
    sliced = index.type == SLICE
    match owner:
        case Tuple(items=items):
            return tuple_item(items, index)
        case Collection(kind="range"):
            return owner if sliced else INT
        case Collection(kind="list" | "tuple" | "Sequence", item=item):
            return owner if sliced else item if is_index(index.type) else None
        case Collection(kind="set" | "frozenset"):
            return None
        case Collection(kind="TensorDataset" | "ConcatDataset" | "Subset", item=item):
            return item if is_index(index.type) else UNKNOWN
        case Dictionary(value=value):
            return value
        case Array(typecode=code):
            item = ARRAY_ELEMENTS.get(code, UNKNOWN)
            return owner if sliced else item if is_index(index.type) else None
        case Buffer(element=element):
            return owner if sliced else BUFFER_ELEMENTS[element]
        case Tensor():
            return tensor_item(owner, index)
        case Literal(base=base):
            return infer_item(stubs, base, index)
        case Scalar(name="str"):
            return STR if sliced or is_index(index.type) else None
        case Scalar(name="bytes"):
            return BYTES if sliced else INT if is_index(index.type) else None
        case Scalar() | Module() | Function() | Method():
            return None
        case Instance():
            return instance_item(stubs, owner, index)
        case _:
            return UNKNOWN


def is_index(kind: Type) -> bool:
    """True unless the type is one that surely is no index of a sequence."""
    base = kind.base if isinstance(kind, Literal) else kind
    if isinstance(base, Scalar):
        return base.name in ("int", "bool")
    return not isinstance(base, Tuple | Collection | Dictionary | Array)


def tuple_item(items: tuple[Type, ...], index: Argument) -> Type | None:
    if index.type == SLICE:
        return Collection("tuple", join_all(items) if items else NEVER)
    value = index.value
    if isinstance(value, int) and -len(items) <= value < len(items):
        return items[value]
    if not is_index(index.type):
        return None
    return join_all(items) if items else UNKNOWN


def tensor_item(owner: Tensor, index: Argument) -> Type:
    """A number drops the first dimension; a slice keeps the number of dimensions only."""
    base = index.type.base if isinstance(index.type, Literal) else index.type
    if base == INT and owner.shape:
        return Tensor(owner.dtype, owner.shape[1:])
    return Tensor(owner.dtype)


def instance_item(stubs: Stubs, owner: Instance, index: Argument) -> Type | None:
    found = stubs.member(ClassTerm(owner.name), "__getitem__")
    if isinstance(found, Member):
        return call(stubs, Method(owner, "__getitem__"), [index], {}, False).type
    return UNKNOWN


def infer_iteration(stubs: Stubs, owner: Type) -> Type | None:
    """What iterating gives one by one; None where Python raises TypeError."""
    match owner:
        case Union(members=parts):
            found = [infer_iteration(stubs, member) for member in parts]
            known = [kind for kind in found if kind is not None]
            return join_all(known) if known else None
        case Tuple(items=items):
            return join_all(items)
        case Collection():
            return iterated(owner)
        case Dictionary(key=key):
            return key
        case Array(typecode=code):
            return ARRAY_ELEMENTS.get(code, UNKNOWN)
        case Buffer(element=element):
            return BUFFER_ELEMENTS[element]
        case Tensor(dtype=dtype, shape=shape):
            return Tensor(dtype, shape[1:] if shape else None)
        case Literal(base=base):
            return infer_iteration(stubs, base)
        case Scalar(name="str"):
            return STR
        case Scalar(name="bytes"):
            return INT
        case Scalar() | Module() | Function() | Method() | Callable():
            return None
        case Instance():
            return instance_iteration(stubs, owner)
        case _:
            return UNKNOWN


def instance_iteration(stubs: Stubs, owner: Instance) -> Type:
    seen = stubs.as_base(ClassTerm(owner.name), "typing.Iterable")
    if isinstance(seen, ClassTerm) and seen.arguments:
        item = realise(seen.arguments[0], {})
        if not isinstance(item, Unknown):
            return item
    iterator = call(stubs, Method(owner, "__iter__"), [], {}, False).type
    if isinstance(iterator, Collection):
        return iterator.item
    if isinstance(iterator, Instance):
        return call(stubs, Method(iterator, "__next__"), [], {}, False).type
    return UNKNOWN


def infer_entry(stubs: Stubs, owner: Type) -> Type | None:
    """What `with owner as x` binds."""
    term = class_of(owner)
    if term is None:
        return None if isinstance(owner, Module | Function | Method) else UNKNOWN
    found = stubs.member(term, "__enter__")
    if isinstance(found, Member):
        return call(stubs, Method(owner, "__enter__"), [], {}, False).type
    if found is None and isinstance(owner, Collection | Dictionary):
        return UNKNOWN if owner.kind in ABSTRACT_KINDS else None
    return None if found is None and not isinstance(owner, Instance) else UNKNOWN
