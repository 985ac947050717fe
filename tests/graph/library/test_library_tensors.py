"""The dtype and shape rules against torch itself: what a rule says must be so."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
import torch

from ppybuild.graph.library import Argument, Library
from ppybuild.graph.library import tensor_dtypes as dtypes
from ppybuild.graph.library import tensor_rules as rules
from ppybuild.graph.library.tensor_losses import LOSSES
from ppybuild.graph.types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    STR,
    Collection,
    Function,
    Instance,
    Method,
    Tensor,
    Tuple,
    Type,
)

SHAPES = [(), (1,), (3,), (2, 3), (3, 2), (1, 3), (2, 1), (0,), (4, 2, 3), (2, 3, 3)]
DTYPES = [torch.float32, torch.float64, torch.int64, torch.bool, torch.uint8, torch.bfloat16]
NUMBERS = {bool: BOOL, int: INT, float: FLOAT, complex: COMPLEX}


@pytest.fixture(scope="module")
def library() -> Library:
    return Library()


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def type_of(value: object) -> Type:
    if isinstance(value, torch.Tensor):
        return Tensor(dtype_name(value.dtype), tuple(value.shape))
    if isinstance(value, torch.dtype):
        return Instance("torch.dtype")
    if isinstance(value, tuple):
        return Tuple(tuple(map(type_of, value)))
    if isinstance(value, list):
        return Collection("list", type_of(value[0]))
    if isinstance(value, str):
        return STR
    return NUMBERS.get(type(value), Instance("builtins.object"))


def argument(value: object) -> Argument:
    if isinstance(value, torch.dtype):
        return Argument(type_of(value), name=str(value))
    if isinstance(value, torch.Tensor):
        return Argument(type_of(value))
    if isinstance(value, list | tuple) and value and isinstance(value[0], torch.Tensor):
        return Argument(Tuple(tuple(map(type_of, value))))
    return Argument(type_of(value), value)  # type: ignore[arg-type]


def agree(
    library: Library,
    callee: Type,
    run: Callable[..., object],
    arguments: list[object],
    **given: object,
) -> None:
    """What is known of the result is so; what is called impossible raises."""
    asked = [argument(value) for value in arguments]
    keywords = {name: argument(value) for name, value in given.items()}
    problem = library.problem(callee, asked, keywords)
    found = library.call(callee, asked, keywords)
    try:
        result = run(*arguments, **given)
    except (RuntimeError, IndexError, TypeError, ValueError):
        return
    assert problem is None, (callee, arguments, given, problem)
    if isinstance(result, torch.Tensor):
        assert isinstance(found, Tensor), (callee, arguments, found)
        assert found.dtype in (None, dtype_name(result.dtype)), (callee, arguments, given)
        assert found.shape is None or fits(found.shape, result), (callee, arguments, given)


def fits(shape: tuple[int | str, ...], made: torch.Tensor) -> bool:
    """Whether that is the shape; "?" is a size that is not known."""
    pairs = zip(shape, made.shape, strict=False)
    return len(shape) == made.dim() and all(size in ("?", real) for size, real in pairs)


def tensor(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    return torch.ones(shape, dtype=dtype)


def owner_of(name: str) -> tuple[object, str]:
    if hasattr(torch, name):
        return torch, f"torch.{name}"
    return torch.nn.functional, f"torch.nn.functional.{name}"


def test_every_rule_names_an_operator() -> None:
    for name in rules.FUNCTIONS:
        known = hasattr(torch, name) or hasattr(torch.nn.functional, name)
        assert known or hasattr(torch.Tensor, name), name
    functions_only = {*rules.CREATION, "linear"}
    for name in rules.METHODS:
        known = hasattr(torch.Tensor, name) or name in functions_only
        assert known or hasattr(torch.nn.functional, name) or hasattr(torch, name), name


@pytest.mark.parametrize("name", sorted(rules.UNARY.keys() - {"cuda", "pin_memory"}))
def test_unary(library: Library, name: str) -> None:
    owner, dotted = owner_of(name)
    for shape, dtype in itertools.product(SHAPES, DTYPES):
        x = tensor(shape, dtype)
        if hasattr(owner, name):
            agree(library, Function(dotted), getattr(owner, name), [x])
        if hasattr(x, name):
            agree(library, Method(type_of(x), name), getattr(x, name), [])


@pytest.mark.parametrize("name", sorted({*rules.BINARY, *rules.PRODUCTS} - {"where", "addmm"}))
def test_binary(library: Library, name: str) -> None:
    owner, dotted = owner_of(name)
    pairs = itertools.product(SHAPES[:-2], SHAPES[2:], DTYPES[:3], DTYPES[:3])
    for left, right, first, second in pairs:
        x, y = tensor(left, first), tensor(right, second)
        agree(library, Function(dotted), getattr(owner, name), [x, y])
    for dtype, number in itertools.product(DTYPES, (True, 2, 2.5)):
        x = tensor((2, 3), dtype)
        agree(library, Function(dotted), getattr(owner, name), [x, number])


@pytest.mark.parametrize("name", sorted(rules.REDUCTIONS))
def test_reductions(library: Library, name: str) -> None:
    owner, dotted = owner_of(name)
    for shape, dtype in itertools.product(SHAPES, DTYPES):
        x = tensor(shape, dtype)
        run = getattr(owner, name)
        agree(library, Function(dotted), run, [x])
        for keep in (False, True):
            agree(
                library,
                Function(dotted),
                run,
                [x],
                dim=0,
                keepdim=keep,
            )
        agree(library, Function(dotted), run, [x, -1])
        agree(library, Function(dotted), run, [x, (0, 1)])
        agree(library, Function(dotted), run, [x, x])


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_losses(library: Library, name: str) -> None:
    run = getattr(torch.nn.functional, name)
    callee = Function(f"torch.nn.functional.{name}")
    for shape, first, second in itertools.product(SHAPES, DTYPES[:3], DTYPES[:3]):
        x, y = tensor(shape, first), tensor(shape, second)
        agree(library, callee, run, [x, y])
        for reduction in ("none", "sum", "mean"):
            agree(library, callee, run, [x, y], reduction=reduction)
        for dtype in (torch.int64, second):
            agree(library, callee, run, [x, tensor(shape[:-1], dtype)])
            agree(library, callee, run, [x, tensor(shape[:1] + shape[2:], dtype)])
        for other in SHAPES:
            agree(library, callee, run, [x, tensor(other, second)])


VIEW_ARGUMENTS: list[tuple[object, ...]] = [
    (),
    (0,),
    (1,),
    (-1,),
    (0, 1),
    (1, 0),
    (-1, -2),
    (6,),
    (2, 3),
    (3, -1),
    (-1, 3),
    (4, 2, 3),
    ((2, 3),),
    ((3, 2),),
    (-1, -1, 3),
]


@pytest.mark.parametrize(
    "name", sorted(set(rules.VIEWS) - {"cat", "concat", "concatenate", "stack"})
)
def test_views(library: Library, name: str) -> None:
    for shape, arguments in itertools.product(SHAPES, VIEW_ARGUMENTS):
        x = tensor(shape, torch.float32)
        if hasattr(x, name):
            agree(
                library,
                Method(type_of(x), name),
                getattr(x, name),
                list(arguments),
            )


@pytest.mark.parametrize("name", ["cat", "stack"])
def test_joins(library: Library, name: str) -> None:
    for left, right, dimension in itertools.product(SHAPES, SHAPES, (0, 1, -1)):
        parts = (tensor(left, torch.float32), tensor(right, torch.int64))
        agree(
            library,
            Function(f"torch.{name}"),
            getattr(torch, name),
            [parts],
            dim=dimension,
        )


CREATED: list[tuple[str, list[object], dict[str, object]]] = [
    ("zeros", [2, 3], {}),
    ("zeros", [(2, 3)], {}),
    ("ones", [2], {"dtype": torch.int64}),
    ("empty", [0], {}),
    ("rand", [2, 2], {"dtype": torch.float64}),
    ("randn", [4], {}),
    ("full", [(2, 3), 1], {}),
    ("full", [(2,), 1.5], {}),
    ("full", [(2,), True], {}),
    ("full", [(2,), 1], {"dtype": torch.float64}),
    ("arange", [5], {}),
    ("arange", [1, 10, 3], {}),
    ("arange", [0.0, 1.0, 0.25], {}),
    ("arange", [5], {"dtype": torch.float32}),
    ("linspace", [0.0, 1.0, 5], {}),
    ("eye", [3], {}),
    ("eye", [3, 4], {}),
    ("randint", [0, 5, (2, 3)], {}),
    ("randperm", [7], {}),
    ("tensor", [1.5], {}),
    ("tensor", [[1, 2, 3]], {}),
    ("tensor", [[1.0, 2.0]], {"dtype": torch.float64}),
    ("tensor", [[[1, 2], [3, 4], [5, 6]]], {}),
    ("tensor", [(1.0, 2.0)], {}),
    ("tensor", [True], {}),
    ("as_tensor", [[1.0]], {}),
]


@pytest.mark.parametrize(("name", "arguments", "keywords"), CREATED)
def test_creation(
    library: Library, name: str, arguments: list[object], keywords: dict[str, object]
) -> None:
    run = getattr(torch, name)
    agree(
        library,
        Function(f"torch.{name}"),
        run,
        arguments,
        **keywords,
    )


@pytest.mark.parametrize("name", sorted(set(rules.CASTS) - {"to", "type_as"}))
def test_casts(library: Library, name: str) -> None:
    x = tensor((2, 3), torch.float32)
    agree(library, Method(type_of(x), name), getattr(x, name), [])


def test_to(library: Library) -> None:
    x, y = tensor((2, 3), torch.float32), tensor((1,), torch.int64)
    to = Method(type_of(x), "to")
    for given in (torch.float64, torch.bool, y, "cpu"):
        agree(library, to, x.to, [given])


def test_promotion_of_dtypes() -> None:
    for first, second in itertools.product(dtypes.ORDER, repeat=2):
        a, b = getattr(torch, first), getattr(torch, second)
        expected = dtype_name(torch.promote_types(a, b))
        found = dtypes.promote_pair(first, second)
        assert found in (None, expected), (first, second)


@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "//", "%", "**", "@", "<", "==", "&"])
def test_operators(library: Library, symbol: str) -> None:
    for left, right, first, second in itertools.product(
        SHAPES[:-2], SHAPES[2:], DTYPES[:3], DTYPES[:3]
    ):
        x, y = tensor(left, first), tensor(right, second)
        found = library.binary(symbol, Argument(type_of(x)), Argument(type_of(y)))
        problem = library.binary_problem(symbol, Argument(type_of(x)), Argument(type_of(y)))
        try:
            result = eval(f"x {symbol} y")
        except RuntimeError:
            continue
        assert problem is None, (left, right, first, second, problem)
        assert isinstance(found, Tensor)
        assert found.dtype in (None, dtype_name(result.dtype)), (symbol, first, second)
        assert found.shape in (None, tuple(result.shape)), (symbol, left, right)
