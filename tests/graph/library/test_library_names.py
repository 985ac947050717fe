"""Names against the running modules: nothing that is there is said to be missing."""

from __future__ import annotations

import array
import importlib
import subprocess
import sys

import pytest
import torch

from ppybuild.graph.library import Library
from ppybuild.graph.types import (
    BOOL,
    BYTES,
    COMPLEX,
    FLOAT,
    INT,
    STR,
    Array,
    Class,
    Collection,
    Dictionary,
    Function,
    Instance,
    Module,
    Tensor,
    Tuple,
    Type,
)

MODULES = """
    torch torch.nn torch.nn.functional torch.optim torch.cuda torch.linalg torch.fft
    torch.special torch.nn.init torch.autograd torch.utils.data torch.distributions
    torch.utils torch.backends torch.amp torch.jit torch.random math cmath os os.path json
    re collections sys asyncio subprocess array time random itertools functools typing
    types abc inspect ast pathlib datetime decimal string struct io threading queue
    logging unittest argparse shutil tempfile warnings contextlib operator copy enum
    dataclasses heapq bisect statistics fractions numbers signal socket ssl tty codecs
    collections.abc
"""
VALUES: list[tuple[Type, type]] = [
    (INT, int),
    (FLOAT, float),
    (BOOL, bool),
    (STR, str),
    (BYTES, bytes),
    (COMPLEX, complex),
    (Collection("list", INT), list),
    (Collection("set", INT), set),
    (Collection("frozenset", INT), frozenset),
    (Collection("range", INT), range),
    (Tuple((INT,)), tuple),
    (Dictionary("dict", INT, INT), dict),
    (Array("d"), array.array),
    (Tensor(), torch.Tensor),
    (Tensor(parameter=True), torch.nn.Parameter),
]


@pytest.fixture(scope="module")
def library() -> Library:
    return Library()


@pytest.mark.parametrize("name", MODULES.split())
def test_modules_have_their_names(library: Library, name: str) -> None:
    module = importlib.import_module(name)
    assert library.module(name)
    assert [n for n in dir(module) if library.member(Module(name), n) is None] == []


@pytest.mark.parametrize(
    ("kind", "real"), VALUES, ids=lambda value: getattr(value, "__name__", "")
)
def test_values_have_their_attributes(library: Library, kind: Type, real: type) -> None:
    assert [name for name in dir(real) if library.member(kind, name) is None] == []


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (Module("torch"), "matmull"),
        (Module("torch.nn"), "Liner"),
        (Module("torch.nn.functional"), "reluu"),
        (Module("torch.optim"), "Adamm"),
        (Module("math"), "sqr"),
        (Module("os"), "lisdir"),
        (Tensor(), "matmull"),
        (STR, "uper"),
        (Collection("list", INT), "push"),
        (Class("builtins.str"), "uper"),
    ],
)
def test_what_is_missing(library: Library, owner: Type, name: str) -> None:
    assert library.member(owner, name) is None
    assert library.names(owner)


@pytest.mark.parametrize(
    ("name", "public"),
    [
        ("torch.nn.modules.linear.Linear", "torch.nn.Linear"),
        ("torch._C._VariableFunctions.relu", "torch.relu"),
        ("torch._tensor.Tensor", "torch.Tensor"),
        ("torch.functional.split", "torch.split"),
        ("torch.nn.functional.linear", "torch.nn.functional.linear"),
        ("torch.autograd.grad_mode.no_grad", "torch.no_grad"),
        ("posixpath.join", "os.path.join"),
        ("math.sqrt", "math.sqrt"),
    ],
)
def test_public_names(library: Library, name: str, public: str) -> None:
    assert library.canonical(name) == public
    assert library.canonical(public) == public


def test_kinds_of_names(library: Library) -> None:
    assert library.name("builtins.len") == Function("builtins.len")
    assert library.name("torch.nn.Linear") == Class("torch.nn.Linear")
    assert library.name("math.pi") == FLOAT
    assert library.name("torch.float32") == Instance("torch.dtype")
    assert library.name("os.path") == Module("os.path")
    assert library.name("torch.matmull") is None
    assert library.bases("torch.optim.SGD") == (
        "torch.optim.SGD",
        "torch.optim.Optimizer",
        "builtins.object",
    )


def test_modules_that_are_not_there(library: Library) -> None:
    assert not library.module("surely_not_installed")
    assert not library.module("json.surely_not_there")
    assert library.module("xml.etree.ElementTree")


def test_nothing_is_imported() -> None:
    program = (
        "import sys\n"
        "from ppybuild.graph.library import Library\n"
        "from ppybuild.graph.types import Function, Tensor\n"
        "library = Library()\n"
        "library.call(Function('torch.nn.functional.relu'))\n"
        "library.member(Tensor(), 'sum')\n"
        "assert not {'torch', 'numpy', 'typeshed_client'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
