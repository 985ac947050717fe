"""What calls a function that it is given: `map`, `sorted`, pools of processes, threads.

Such a function's parameters are what it will be called with, found here from the other
arguments, so that it is typed like any function that the program itself calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from ppybuild.graph.infer.arguments import Given
from ppybuild.graph.infer.containers import element_of
from ppybuild.graph.infer.visit import Visit
from ppybuild.graph.lattice import join
from ppybuild.graph.program import Callee
from ppybuild.graph.types import (
    INT,
    NEVER,
    Collection,
    Instance,
    Method,
    Tuple,
    Type,
)

Call = Callable[[Visit, Type, Given, set[Callee]], Type]
How = Literal["elements", "unpacked", "given", "packed", "ranked", "reduced"]


@dataclass(frozen=True, slots=True)
class Applying:
    """How something calls what it is given.

    `how`: with the `elements` of the arguments from `first` on; with those of one, `unpacked`;
    with what is `given` from `first` on; with the tuple that is `packed` at `first`, after its
    rank where `ranked`; as `reduce` does.
    """

    place: int
    how: How
    first: int
    gives: str = ""
    """The collection of results that it gives, "one" result, or an iterator over "some" of
    what it calls with; empty for what is none of these."""
    name: str = ""
    """The parameter of the function, where it may be passed by name."""


FUNCTIONS: Mapping[str, Applying] = MappingProxyType(
    {
        "builtins.map": Applying(0, "elements", 1, "Iterator"),
        "builtins.filter": Applying(0, "elements", 1, "some"),
        "functools.reduce": Applying(0, "reduced", 1),
        "itertools.starmap": Applying(0, "unpacked", 1, "Iterator"),
        "itertools.takewhile": Applying(0, "elements", 1, "some"),
        "itertools.dropwhile": Applying(0, "elements", 1, "some"),
        "itertools.filterfalse": Applying(0, "elements", 1, "some"),
        "threading.Thread": Applying(1, "packed", 3, name="target"),
        "threading.Timer": Applying(1, "packed", 2, name="function"),
        "multiprocessing.Process": Applying(1, "packed", 3, name="target"),
        "multiprocessing.context.SpawnProcess": Applying(1, "packed", 3, name="target"),
        "multiprocessing.context.ForkProcess": Applying(1, "packed", 3, name="target"),
        "torch.multiprocessing.spawn": Applying(0, "ranked", 1, name="fn"),
        "atexit.register": Applying(0, "given", 1),
    }
)
_POOL: Mapping[str, Applying] = MappingProxyType(
    {
        "map": Applying(0, "elements", 1, "list", "func"),
        "imap": Applying(0, "elements", 1, "Iterator", "func"),
        "imap_unordered": Applying(0, "elements", 1, "Iterator", "func"),
        "map_async": Applying(0, "elements", 1, "", "func"),
        "starmap": Applying(0, "unpacked", 1, "list", "func"),
        "starmap_async": Applying(0, "unpacked", 1, "", "func"),
        "apply": Applying(0, "packed", 1, "one", "func"),
        "apply_async": Applying(0, "packed", 1, "", "func"),
    }
)
_EXECUTOR: Mapping[str, Applying] = MappingProxyType(
    {
        "map": Applying(0, "elements", 1, "Iterator", "fn"),
        "submit": Applying(0, "given", 1),
    }
)
METHODS: Mapping[str, Mapping[str, Applying]] = MappingProxyType(
    {
        "multiprocessing.pool.Pool": _POOL,
        "multiprocessing.pool.ThreadPool": _POOL,
        "concurrent.futures.Executor": _EXECUTOR,
        "concurrent.futures.ProcessPoolExecutor": _EXECUTOR,
        "concurrent.futures.ThreadPoolExecutor": _EXECUTOR,
    }
)
"""By the class whose method it is, then the method."""

KEYED = frozenset({"builtins.sorted", "builtins.min", "builtins.max"})


def apply(visit: Visit, callee: Type, name: str, given: Given, call: Call) -> Type | None:
    """Calls the function that a library's is given to apply. What the library's then gives, or
    `NEVER` where that is as for any other argument; None where it applies nothing."""
    applying = _applying(visit, callee, name)
    function = None if applying is None else _function(applying, given)
    if applying is not None and function is not None:
        passed = _passed(visit, applying, given)
        if passed is not None:
            result = call(visit, function, passed, set())
            return _gathered(applying, result, passed)
    key = given.keywords.get("key")
    if key is None:
        return None
    if name in KEYED and given.positional:
        among = given.positional[0][0]
    elif isinstance(callee, Method) and callee.name == "sort":
        among = callee.receiver
    else:
        return None
    call(visit, key, Given([(element_of(visit, among), False)], {}, []), set())
    return NEVER


def _applying(visit: Visit, callee: Type, name: str) -> Applying | None:
    if not isinstance(callee, Method):
        return FUNCTIONS.get(name)
    if not isinstance(callee.receiver, Instance):
        return None
    owner = visit.engine.canonical(callee.receiver.name)
    return METHODS.get(owner, {}).get(callee.name)


def _function(applying: Applying, given: Given) -> Type | None:
    starred = any(starred for _, starred in given.positional[: applying.first])
    if applying.place < len(given.positional) and not starred:
        return given.positional[applying.place][0]
    return given.keywords.get(applying.name)


def _passed(visit: Visit, applying: Applying, given: Given) -> Given | None:
    """What the function is called with."""
    rest = given.positional[applying.first :]
    if applying.how == "given":
        return Given(rest, given.keywords, given.mappings)
    if applying.how in ("packed", "ranked"):
        packed = rest[0][0] if rest else given.keywords.get("args", Tuple(()))
        rank = [(INT, False)] if applying.how == "ranked" else []
        named = given.keywords.get("kwargs")
        return Given([*rank, (packed, True)], {}, [] if named is None else [named])
    if not rest or any(starred for _, starred in rest):
        return None
    items = [(element_of(visit, found), applying.how == "unpacked") for found, _ in rest]
    if applying.how == "reduced":
        first = items[0][0]
        items = [(first if len(rest) == 1 else join(first, rest[1][0]), False), (first, False)]
    return Given(items[:1] if applying.how == "unpacked" else items, {}, [])


def _gathered(applying: Applying, result: Type, passed: Given) -> Type:
    match applying.gives:
        case "":
            return NEVER
        case "one":
            return result
        case "some":
            return Collection("Iterator", passed.positional[0][0])
    return Collection(applying.gives, result)
