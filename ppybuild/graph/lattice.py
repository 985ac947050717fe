"""What can be asked of types: their join, their parts, whether one fits another, their text."""

from __future__ import annotations

from collections.abc import Callable as Change
from collections.abc import Iterable, Iterator
from functools import lru_cache

from ppybuild.graph.types import (
    BOOL,
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
    Module,
    Never,
    Scalar,
    Tensor,
    Tuple,
    Type,
    Union,
    Unknown,
)

ANY_SIZE = "?"
"""The size of a dimension in `Tensor.shape` that is not known. It equals no size, not even
itself."""
MAX_LITERALS = 16
MAX_MEMBERS = 24
MAX_DEPTH = 6

MUTABLE_KINDS = frozenset({"list", "set", "dict"})
BUFFER_ELEMENTS = {"f64": FLOAT, "f32": FLOAT, "i64": INT, "i32": INT, "u8": INT, "i8": INT}
ARRAY_ELEMENTS = {"f": FLOAT, "d": FLOAT, "u": STR, **dict.fromkeys("bBhHiIlLqQ", INT)}


DATA_CLASSES = {
    f"torch.utils.data.{kind}": kind
    for kind in ("DataLoader", "TensorDataset", "ConcatDataset", "Subset")
}
"""PyTorch's classes of data whose items are known, and the kind of collection that each is."""
_DATA_KINDS = frozenset(DATA_CLASSES.values())


def join(left: Type, right: Type) -> Type:
    """The least type that holds both; `NEVER` is its identity, `UNKNOWN` absorbs all."""
    if left is right or right is NEVER or left == right:
        return left
    if left is NEVER:
        return right
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    return _join(left, right)


def join_all(types: Iterable[Type]) -> Type:
    """The join of any number of types; `NEVER` of none."""
    found: Type = NEVER
    for member in types:
        found = join(found, member)
    return found


_ALONE = (Instance, Function, Class, Module, Method, Array, Buffer)
"""Types that merge with nothing but themselves."""


@lru_cache(maxsize=65536)
def _join(left: Type, right: Type) -> Type:
    members = list(members_of(left))
    for new in members_of(right):
        if new not in members:
            _add(members, new)
    if len(members) > MAX_MEMBERS or UNKNOWN in members:
        return UNKNOWN
    if len(members) == 1:
        return members[0]
    return Union(tuple(sorted(members, key=_order)))


def _add(members: list[Type], new: Type) -> None:
    if not isinstance(new, _ALONE):
        for place, old in enumerate(members):
            merged = None if isinstance(old, _ALONE) else _merge(old, new)
            if merged is not None:
                members[place] = merged
                return
    members.append(new)


def members_of(found: Type) -> tuple[Type, ...]:
    """The members of a union; any other type is its own only member; `NEVER` has none."""
    if isinstance(found, Union):
        return found.members
    return () if isinstance(found, Never) else (found,)


def _order(member: Type) -> tuple[int, str]:
    return (1 if member == NONE else 0, show(member))


def _merge(old: Type, new: Type) -> Type | None:
    """One type for both where a union of the two would say no more; None otherwise."""
    if old == new:
        return old
    match old, new:
        case Literal(), Literal() if old.base == new.base:
            values = tuple(dict.fromkeys((*old.values, *new.values)))
            return Literal(old.base, values) if len(values) <= MAX_LITERALS else old.base
        case (Literal(), Scalar()) if old.base == new:
            return new
        case (Scalar(), Literal()) if new.base == old:
            return old
        case Tuple(), Tuple():
            return _merge_tuples(old, new)
        case (Tuple(), Collection("tuple")):
            return Collection("tuple", join(join_all(old.items), new.item))
        case (Collection("tuple"), Tuple()):
            return Collection("tuple", join(old.item, join_all(new.items)))
        case Collection(), Collection():
            return _merge_collections(old, new)
        case Dictionary(), Dictionary():
            return Dictionary(
                old.kind if old.kind == new.kind else "Mapping",
                join(old.key, new.key),
                join(old.value, new.value),
            )
        case Tensor(), Tensor():
            return _merge_tensors(old, new)
        case Callable(), Callable() if _arity(old) == _arity(new):
            return Callable(old.parameters, join(old.result, new.result))
    return None


def _arity(found: Callable) -> int | None:
    return None if found.parameters is None else len(found.parameters)


def _merge_tuples(old: Tuple, new: Tuple) -> Type:
    if len(old.items) == len(new.items):
        items = tuple(map(join, old.items, new.items))
        return bounded(Tuple(items))
    return bounded(Collection("tuple", join_all((*old.items, *new.items))))


def _merge_collections(old: Collection, new: Collection) -> Type | None:
    if old.kind == new.kind:
        return bounded(Collection(old.kind, join(old.item, new.item)))
    ordered = {"list", "tuple", "range", "Sequence"}
    if {old.kind, new.kind} <= ordered and "Sequence" in (old.kind, new.kind):
        return bounded(Collection("Sequence", join(old.item, new.item)))
    return None


def anonymous(found: Type) -> Type:
    """The type with sizes that only one question told apart made plainly unknown."""
    if isinstance(found, Tensor):
        if found.shape is None or not any(_is_told_apart(size) for size in found.shape):
            return found
        sizes = (ANY_SIZE if _is_told_apart(size) else size for size in found.shape)
        return Tensor(found.dtype, tuple(sizes), found.parameter)
    return (
        map_parts(found, anonymous) if isinstance(found, Union | Tuple | Collection) else found
    )


def _is_told_apart(size: int | str) -> bool:
    return isinstance(size, str) and size.startswith(ANY_SIZE) and size != ANY_SIZE


def _merge_tensors(old: Tensor, new: Tensor) -> Tensor:
    shape: tuple[int | str, ...] | None = None
    if old.shape is not None and new.shape is not None and len(old.shape) == len(new.shape):
        pairs = zip(old.shape, new.shape, strict=True)
        shape = tuple(a if a == b else ANY_SIZE for a, b in pairs)
    return Tensor(
        old.dtype if old.dtype == new.dtype else None,
        shape,
        old.parameter and new.parameter,
    )


def bounded(found: Type) -> Type:
    """The type, with what lies deeper than inference follows replaced by `UNKNOWN`."""
    return _cut(found, MAX_DEPTH) if _depth(found) > MAX_DEPTH else found


def _depth(found: Type) -> int:
    return 1 + max(map(_depth, parts_of(found)), default=0)


def _cut(found: Type, depth: int) -> Type:
    if depth == 0:
        return UNKNOWN
    return map_parts(found, lambda part: _cut(part, depth - 1))


def parts_of(found: Type) -> tuple[Type, ...]:
    """The types that a type is made of."""
    match found:
        case Tuple():
            return found.items
        case Collection():
            return (found.item,)
        case Dictionary():
            return (found.key, found.value)
        case Union():
            return found.members
        case Callable():
            return (*(found.parameters or ()), found.result)
        case Method():
            return (found.receiver,)
    return ()


def map_parts(found: Type, change: Change[[Type], Type]) -> Type:
    """The same type of changed parts."""
    match found:
        case Tuple():
            return Tuple(tuple(map(change, found.items)))
        case Collection():
            return Collection(found.kind, change(found.item))
        case Dictionary():
            return Dictionary(found.kind, change(found.key), change(found.value))
        case Union():
            return join_all(map(change, found.members))
        case Callable():
            parameters = found.parameters
            return Callable(
                None if parameters is None else tuple(map(change, parameters)),
                change(found.result),
            )
        case Method():
            return Method(change(found.receiver), found.name)
    return found


def widened(found: Type) -> Type:
    """The type with literals replaced by their base: what a variable of it is declared as."""
    if isinstance(found, Literal):
        return found.base
    if isinstance(found, Union | Tuple):
        return map_parts(found, widened)
    return found


def without(found: Type, *removed: Type) -> Type:
    """A union without some members."""
    return join_all(member for member in members_of(found) if member not in removed)


def is_optional(found: Type) -> bool:
    """True for a union that `None` is a member of."""
    return isinstance(found, Union) and NONE in found.members


def optional(found: Type) -> Type:
    """`found | None`"""
    return join(found, NONE)


def base_scalar(found: Type) -> Scalar | None:
    """The scalar that a scalar or literal type is of."""
    if isinstance(found, Scalar):
        return found
    return found.base if isinstance(found, Literal) else None


def is_known(found: Type) -> bool:
    """True where no part of the type is unknown."""
    if isinstance(found, Unknown | Never):
        return False
    return all(map(is_known, parts_of(found)))


def show(found: Type) -> str:
    """The type as an annotation would say it."""
    match found:
        case Scalar() | Instance():
            return found.name.removeprefix("builtins.")
        case Literal():
            return f"Literal[{', '.join(map(repr, found.values))}]"
        case Tuple():
            return f"tuple[{', '.join(map(show, found.items)) or '()'}]"
        case Collection("tuple"):
            return f"tuple[{show(found.item)}, ...]"
        case Collection("range"):
            return "range"
        case Collection():
            return f"{found.kind}[{show(found.item)}]"
        case Dictionary():
            return f"{found.kind}[{show(found.key)}, {show(found.value)}]"
        case Array():
            return f'array.array("{found.typecode}")'
        case Buffer():
            return f"Buffer[{_BUFFER_NAMES[found.element]}]"
        case Tensor():
            return _show_tensor(found)
        case Class():
            return f"type[{found.name.removeprefix('builtins.')}]"
        case Module():
            return f"Module({found.name})"
        case Function():
            return f"Function({found.name})"
        case Method():
            return f"Method({show(found.receiver)}, {found.name})"
        case Callable():
            parameters = found.parameters
            given = "..." if parameters is None else f"[{', '.join(map(show, parameters))}]"
            return f"Callable[{given}, {show(found.result)}]"
        case Union():
            return " | ".join(map(show, found.members))
        case Unknown():
            return "?"
        case Never():
            return "Never"


_BUFFER_NAMES = {"f64": "float", "i64": "int"} | {
    name: f"ppy.{name}" for name in ("f32", "i32", "u8", "i8")
}


def _show_tensor(found: Tensor) -> str:
    name = "torch.nn.Parameter" if found.parameter else "torch.Tensor"
    facts = []
    if found.dtype is not None:
        facts.append(found.dtype)
    if found.shape is not None:
        facts.append(f"[{', '.join(map(str, found.shape))}]")
    return f"{name}({', '.join(facts)})" if facts else name


def iterated(found: Collection) -> Type:
    """What iterating over a collection gives: a DataLoader gives a batch of several tensors
    as a list."""
    if found.kind == "DataLoader" and isinstance(found.item, Tuple):
        return Collection("list", join_all(map(widened, found.item.items)))
    return found.item


def is_unfilled(declared: Type | None) -> bool:
    """Whether it says "a data loader" or "a dataset" and leaves open what it holds."""
    return isinstance(declared, Collection) and (
        declared.kind in _DATA_KINDS and declared.item is UNKNOWN
    )


def is_bare(declared: Type) -> bool:
    """Whether it says "a tensor", or several, and leaves open which dtype and shape; or data
    that it does not say the items of."""
    if isinstance(declared, Tuple):
        return bool(declared.items) and all(map(is_bare, declared.items))
    return declared == Tensor() or is_unfilled(declared)


def refines(found: Type, declared: Type) -> bool:
    """Whether a type says more of what is bare in the declared one, and nothing else."""
    if isinstance(declared, Tuple):
        same = isinstance(found, Tuple) and len(found.items) == len(declared.items)
        return same and all(map(refines, parts_of(found), declared.items))
    if isinstance(declared, Collection):
        return isinstance(found, Collection) and found.kind == declared.kind
    return isinstance(found, Tensor)


def refined(found: Type, declared: Type) -> Type:
    """A declared type, and where it is bare what is found."""
    members = members_of(declared)
    if not any(map(is_bare, members)):
        return declared
    given = members_of(found)
    filled: list[Type] = []
    for member in members:
        said = [each for each in given if is_bare(member) and refines(each, member)]
        filled.extend(said or [member])
    return join_all(filled)


def fits(found: Type, wanted: Type) -> bool | None:
    """Whether a value of type `found` may stand where `wanted` is declared: None where that
    cannot be told. As annotations are read: an int fits float, a bool fits int."""
    if isinstance(found, Unknown | Never) or isinstance(wanted, Unknown):
        return None if not isinstance(found, Never) else True
    if found == wanted:
        return True
    if isinstance(found, Union):
        return _all(fits(member, wanted) for member in found.members)
    if isinstance(wanted, Union):
        return _any(fits(found, member) for member in wanted.members)
    return _fits(found, wanted)


def _all(answers: Iterator[bool | None]) -> bool | None:
    found = list(answers)
    if False in found:
        return False
    return None if None in found else True


def _any(answers: Iterator[bool | None]) -> bool | None:
    found = list(answers)
    if True in found:
        return True
    return None if None in found else False


_PROMOTIONS = {BOOL: (INT, FLOAT, COMPLEX), INT: (FLOAT, COMPLEX), FLOAT: (COMPLEX,)}
_PLAIN = (Scalar, Literal, Tuple, Array, Tensor, Module)
_READ_ONLY = {
    "Sequence": frozenset({"Sequence", "list", "tuple", "range"}),
    "Iterable": frozenset(
        {"Iterable", "Sequence", "list", "tuple", "range", "set", "frozenset", "Iterator"}
    ),
}


def _fits(found: Type, wanted: Type) -> bool | None:
    match found, wanted:
        case (Literal(), Literal()):
            return found.base == wanted.base and set(found.values) <= set(wanted.values)
        case (Literal(), Scalar()):
            return _fits(found.base, wanted) if found.base != wanted else True
        case (Scalar(), Scalar()):
            return found == wanted or wanted in _PROMOTIONS.get(found, ())
        case (Scalar(), Literal()):
            return None if found == wanted.base else False
        case (Tuple(), Tuple()):
            if len(found.items) != len(wanted.items):
                return False
            return _all(map(fits, found.items, wanted.items))
        case (Tuple(), Collection("tuple" | "Sequence" | "Iterable")):
            return _all(fits(item, wanted.item) for item in found.items)
        case (Collection(), Collection()):
            if found.kind == wanted.kind or found.kind in _READ_ONLY.get(wanted.kind, ()):
                return True if fits(found.item, wanted.item) else None
            return None
        case (Array(), Buffer()):
            return None
        case (Tensor(), Tensor()):
            return None if wanted.parameter and not found.parameter else True
    plain = isinstance(found, _PLAIN) and isinstance(wanted, _PLAIN)
    return False if plain and type(found) is not type(wanted) else None
