"""Results of calls and operators on built-in values, a row each."""

from __future__ import annotations

import pytest

from ppybuild.graph.lattice import show
from ppybuild.graph.library import Argument, Library, Value
from ppybuild.graph.types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    STR,
    Class,
    Collection,
    Dictionary,
    Function,
    Instance,
    Method,
    Tuple,
    Type,
    Union,
)

INTS = Collection("list", INT)
FLOATS = Collection("list", FLOAT)
WORDS = Dictionary("dict", STR, INT)


@pytest.fixture(scope="module")
def library() -> Library:
    return Library()


CALLS: list[tuple[Type, list[Type], str]] = [
    (Function("builtins.len"), [INTS], "int"),
    (Function("builtins.abs"), [BOOL], "int"),
    (Function("builtins.abs"), [COMPLEX], "float"),
    (Function("builtins.max"), [INTS], "int"),
    (Function("builtins.min"), [INT, FLOAT], "float | int"),
    (Function("builtins.round"), [FLOAT], "int"),
    (Function("builtins.round"), [FLOAT, INT], "float"),
    (Function("builtins.divmod"), [INT, FLOAT], "tuple[float, float]"),
    (Function("builtins.sum"), [INTS], "int"),
    (Function("builtins.sum"), [FLOATS], "float | int"),
    (Function("builtins.sum"), [FLOATS, FLOAT], "float"),
    (Function("builtins.sorted"), [INTS], "list[int]"),
    (Function("builtins.isinstance"), [INT, Class("builtins.int")], "bool"),
    (Class("builtins.list"), [], "list[Never]"),
    (Class("builtins.tuple"), [Tuple((INT, STR))], "tuple[int, str]"),
    (Class("builtins.dict"), [Collection("list", Tuple((STR, INT)))], "dict[str, int]"),
    (Class("builtins.range"), [INT], "range"),
    (Class("builtins.enumerate"), [FLOATS], "Iterator[tuple[int, float]]"),
    (Class("builtins.zip"), [INTS, FLOATS], "Iterator[tuple[int, float]]"),
    (Class("builtins.map"), [Class("builtins.str"), INTS], "Iterator[str]"),
    (Class("builtins.int"), [STR], "int"),
    (Function("math.sqrt"), [INT], "float"),
    (Function("math.floor"), [FLOAT], "int"),
    (Function("time.perf_counter"), [], "float"),
    (Function("torch.cuda.is_available"), [], "bool"),
    (Function("os.path.join"), [STR, STR], "str"),
    (Method(STR, "split"), [], "list[str]"),
    (Method(WORDS, "items"), [], "Iterable[tuple[str, int]]"),
    (Method(WORDS, "get"), [STR], "int | None"),
    (Method(WORDS, "get"), [STR, INT], "int"),
    (Method(INTS, "append"), [INT], "None"),
    (Method(INTS, "pop"), [], "int"),
    (Class("torch.nn.Linear"), [INT, INT], "torch.nn.Linear"),
]


@pytest.mark.parametrize(("callee", "arguments", "result"), CALLS)
def test_calls(library: Library, callee: Type, arguments: list[Type], result: str) -> None:
    asked = [Argument(kind) for kind in arguments]
    assert show(library.call(callee, asked)) == result
    assert library.problem(callee, asked) is None


@pytest.mark.parametrize(
    ("code", "result"), [("d", 'array.array("d")'), ("i", 'array.array("i")')]
)
def test_arrays(library: Library, code: Value, result: str) -> None:
    made = library.call(Class("array.array"), [Argument(STR, code), Argument(FLOATS)])
    assert show(made) == result


def test_mode_of_open(library: Library) -> None:
    read = library.call(Function("builtins.open"), [Argument(STR), Argument(STR, "rb")])
    assert read == Instance("_io.BufferedReader")


PROBLEMS: list[tuple[Type, list[Type], str]] = [
    (Function("math.sqrt"), [], "count"),
    (Function("math.sqrt"), [FLOAT, FLOAT], "count"),
    (Function("math.sqrt"), [STR], "type"),
    (Function("builtins.len"), [INT], "type"),
    (Class("torch.nn.Linear"), [INT], "count"),
    (Function("torch.add"), [STR, STR], "type"),
]


@pytest.mark.parametrize(("callee", "arguments", "kind"), PROBLEMS)
def test_problems(library: Library, callee: Type, arguments: list[Type], kind: str) -> None:
    problem = library.problem(callee, [Argument(each) for each in arguments])
    assert problem is not None
    assert problem.kind == kind


OPERATIONS: list[tuple[str, Type, Type, str | None]] = [
    ("+", INT, FLOAT, "float"),
    ("/", INT, INT, "float"),
    ("//", FLOAT, INT, "float"),
    ("%", COMPLEX, INT, None),
    ("**", INT, INT, "float | int"),
    ("&", BOOL, BOOL, "bool"),
    ("&", FLOAT, INT, None),
    ("+", STR, STR, "str"),
    ("+", STR, INT, None),
    ("*", STR, INT, "str"),
    ("+", INTS, FLOATS, "list[float | int]"),
    ("+", INTS, INT, None),
    ("+", Tuple((INT,)), Tuple((STR,)), "tuple[int, str]"),
    ("<", STR, INT, None),
    ("in", INT, INTS, "bool"),
    ("in", INT, INT, None),
    ("/", Instance("pathlib.Path"), STR, "pathlib.Path"),
    ("-", Instance("datetime.datetime"), Instance("datetime.datetime"), "datetime.timedelta"),
    ("*", FLOAT, Union((FLOAT, NONE)), "float"),
    ("+", NONE, INT, None),
]


@pytest.mark.parametrize(("symbol", "left", "right", "result"), OPERATIONS)
def test_operators(
    library: Library, symbol: str, left: Type, right: Type, result: str | None
) -> None:
    found = library.binary(symbol, Argument(left), Argument(right))
    assert (None if found is None else show(found)) == result


def test_items(library: Library) -> None:
    pair = Tuple((INT, STR))
    assert library.item(pair, Argument(INT, 1)) == STR
    assert library.item(WORDS, Argument(STR)) == INT
    assert library.item(STR, Argument(Instance("builtins.slice"))) == STR
    assert library.item(INT, Argument(INT)) is None
    assert library.iterate(WORDS) == STR
    assert library.iterate(INT) is None
    assert library.unary("-", Argument(STR)) is None
    assert library.unary("-", Argument(BOOL)) == INT
