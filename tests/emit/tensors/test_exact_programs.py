"""Whole functions as regions, against eager: results by bits, gradients, errors, fallback."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from tests.emit.tensors.building import Built, build, has_compiler

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not has_compiler(), reason="needs g++")

SOURCE = '''
import torch
import torch.nn.functional as F
from torch import nn
from collections.abc import Sequence

RATE = 0.5


def functional(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor | None) -> torch.Tensor:
    """Follows functions that torch defines in Python."""
    h = F.relu(F.linear(x, w, b))
    h = F.gelu(h)
    h = nn.functional.leaky_relu(h, 0.2)
    h = F.elu(F.silu(h), alpha=0.5)
    return F.log_softmax(F.softmax(h, dim=1), dim=-1)


def losses(
    x: torch.Tensor, y: torch.Tensor, t: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    a = F.mse_loss(x, y)
    b = F.l1_loss(x, y, reduction="sum")
    return a, b, F.cross_entropy(x, t, label_smoothing=0.1)


def norm(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, (3,), w)


def drop(x: torch.Tensor) -> torch.Tensor:
    return F.dropout(x, 0.3)


def scalars(x: torch.Tensor, rate: float, n: int, flag: bool) -> torch.Tensor:
    a = rate * x + 1 - x * n
    b = 1 / (1 + a**2) - (2 - a)
    c = 2**a
    d = -b // 3 % 2
    e = a @ b
    return a + b + c + d + e + RATE * x.sum(dim=n, keepdim=flag) - 2.5e-3


def compare(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    m = (x > y) & (1 < x) | (x == 0.5) ^ (y <= 2)
    return torch.where(m, x, -y)


def indexing(
    x: torch.Tensor, i: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    return x[0], x[i, 1:], x[:], x[:, :2], x[None, :, -1]


def more_indexing(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x[:, :], x[1:3, 0:]


def inplace(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x += y
    x.mul_(2.0)
    z = x - y
    z *= 3
    return z


def several(x: torch.Tensor) -> torch.Tensor:
    values, indices = torch.max(x, 1)
    return values * torch.topk(x, 2, dim=1)[0].sum(1)


def stack(params: Sequence[torch.Tensor]) -> torch.Tensor:
    return torch.cat([params[0], params[-1]], dim=1) + torch.stack(params)[0].sum()


def shape(x: torch.Tensor) -> torch.Tensor:
    y = x.T.reshape(1, -1).view(-1).permute(0).expand(2, -1).contiguous()
    return y.double().transpose(0, 1)


def factory(x: torch.Tensor) -> torch.Tensor:
    made = torch.zeros(3) + torch.ones(3, dtype=torch.float64) + torch.full((3,), 2.5)
    return x + made + torch.arange(3) + torch.zeros_like(x)


def same(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x, x.relu()


def chunks(x: torch.Tensor) -> torch.Tensor:
    a, b = x.chunk(2)
    return a[0] + b[0]


def double(template: torch.Tensor, int: torch.Tensor) -> torch.Tensor:
    """Names that C++ has other uses for."""
    self = template * 2
    return self + int


def printing(x: torch.Tensor) -> torch.Tensor:
    print(x)
    return x + 1


def named(x: torch.Tensor):
    return torch.max(x, 1)


def branch(x: torch.Tensor, flag: bool) -> torch.Tensor:
    if flag:
        return x + 1
    return x - 1
'''
PYTHON_ONLY = {"printing", "named", "branch"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(tmp_path_factory.mktemp("programs"), SOURCE)


def matrix(seed: int = 0, rows: int = 3, columns: int = 3) -> Any:
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed))


def calls() -> dict[str, list[tuple[Any, ...]]]:
    x, y, w = matrix(0), matrix(1), matrix(2)
    target = torch.tensor([0, 2, 1])
    return {
        "functional": [
            (x, w, y[0]),
            (x, w, None),
            (x.double(), w.double(), None),
            (x, y[:2], 1),
        ],
        "losses": [(x, y, target), (x, y[:, :1], target), (x, y, target[:2])],
        "norm": [(x, w[0]), (x, w)],
        "drop": [(x,), (x.double(),)],
        "scalars": [
            (x, 0.1, 0, True),
            (x, -0.0, 1, True),
            (x, 1e300, 5, True),
            (x, 2, 1, True),
            (x, 0.1, 0, 1),
            (x.to(torch.int64), float("nan"), 1, False),
            (x, 0.1, 2**70, True),
        ],
        "compare": [(x, y), (x.double(), y), (x > 0, y > 0)],
        "indexing": [(x, 1), (x, -3), (x, 3), (x[0], 0), (x[:0], 0)],
        "more_indexing": [(x,), (x[0],), (torch.ones(3, 0),)],
        "inplace": [(x, y), (x[:2], y), (x.long(), y)],
        "several": [(x,), (x[:, :1],)],
        "stack": [([x, y],), ((x, y, w),), ([x],), ([],), ((x, 3),), (iter([x, y]),)],
        "shape": [(x,), (x[:1],)],
        "factory": [(x,), (x.double(),), (matrix(0, 2, 2),)],
        "same": [(x,), (torch.nn.Parameter(x),)],
        "chunks": [(x,), (x[:1],)],
        "double": [(x, y)],
    }


def copied(arguments: tuple[Any, ...], grad: bool) -> tuple[Any, ...]:
    def copy(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return type(value)(copy(item) for item in value)
        if isinstance(value, torch.Tensor):
            made = value.detach().clone()
            return made.requires_grad_() if grad and made.is_floating_point() else made
        return value

    return tuple(copy(argument) for argument in arguments)


def tensors(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [tensor for item in value for tensor in tensors(item)]
    return [value] if isinstance(value, torch.Tensor) else []


def outcome(function: Any, arguments: tuple[Any, ...], grad: bool) -> object:
    """Results, gradients and what has become of the arguments; or the exception."""
    given = copied(arguments, grad)
    if isinstance(given[0], type(iter([]))):
        given = (iter([matrix(0), matrix(1)]),)
    torch.manual_seed(7)
    seen: list[object] = []
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            result = function(*given)
            outputs = tensors(result)
            seen += [type(result)] + [described(tensor) for tensor in outputs]
            loss = sum(t.sum() for t in outputs if t.requires_grad and t.grad_fn is not None)
            if isinstance(loss, torch.Tensor):
                loss.backward()
        except Exception as raised:
            seen += [type(raised), str(raised)]
    seen += [str(warning.message) for warning in warned]
    for tensor in tensors(given):
        version = None if tensor.is_inference() else tensor._version
        seen.append((described(tensor), version))
        if tensor.is_leaf and tensor.grad is not None:
            seen.append(described(tensor.grad))
    return seen


def described(tensor: Any) -> object:
    bits = (
        tensor.detach().contiguous().view(-1).view(torch.uint8).tolist()
        if tensor.numel()
        else []
    )
    grad = type(tensor.grad_fn).__name__
    return (
        tensor.dtype,
        tuple(tensor.shape),
        tensor.stride(),
        grad,
        type(tensor).__name__,
        bits,
    )


def test_what_is_a_region(built: Built) -> None:
    assert set(built.native) == set(calls())
    stays = {
        found.message.split("`")[1] for found in built.found.remarks if found.code == "R3004"
    }
    assert stays == PYTHON_ONLY
    for function in built.native.values():
        assert function.__ppy_region__ is True


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("name", sorted(calls()))
def test_agrees_with_eager(built: Built, name: str, grad: bool) -> None:
    for arguments in calls()[name]:
        expected = outcome(built.python[name], arguments, grad)
        assert outcome(built.native[name], arguments, grad) == expected, arguments
        with torch.no_grad():
            expected = outcome(built.python[name], arguments, grad)
            assert outcome(built.native[name], arguments, grad) == expected, arguments
        with torch.inference_mode():
            expected = outcome(built.python[name], arguments, False)
            assert outcome(built.native[name], arguments, False) == expected, arguments


def test_an_argument_that_is_returned_is_itself(built: Built) -> None:
    for x in (matrix(), torch.nn.Parameter(matrix())):
        assert built.native["same"](x)[0] is x


def test_falls_back(built: Built) -> None:
    """Where something watches the calls, Python makes them."""
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    x, y = matrix(0), matrix(1)
    compare, python = built.native["compare"], built.python["compare"]
    seen: list[str] = []

    class Functions(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    class Dispatch(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    class Subclass(torch.Tensor):
        pass

    for mode in (Functions, Dispatch):
        with mode():
            compare(x, y)
        native, seen[:] = list(seen), []
        with mode():
            python(x, y)
        assert native == seen
        assert native
        seen.clear()
    assert type(compare(x.as_subclass(Subclass), y)) is Subclass
    assert torch.equal(torch.vmap(compare)(x, y), torch.vmap(python)(x, y))
    tangent = torch.func.jvp(python, (x, y), (y, x))[1]
    assert torch.equal(torch.func.jvp(compare, (x, y), (y, x))[1], tangent)


def test_forward_mode_gradients(built: Built) -> None:
    from torch.autograd import forward_ad

    x, y = matrix(0), matrix(1)
    with torch.no_grad(), forward_ad.dual_level():
        dual = forward_ad.make_dual(x, y)
        expected = forward_ad.unpack_dual(built.python["several"](dual)).tangent
        got = forward_ad.unpack_dual(built.native["several"](dual)).tangent
        assert (got is None) == (expected is None)
        assert expected is None or torch.equal(got, expected)


def test_an_error_has_the_lines_of_the_function(built: Built) -> None:
    with pytest.raises(RuntimeError) as raised:
        built.native["compare"](matrix(), torch.ones(4, 4))
    assert raised.traceback[-1].name == "compare"


def test_the_same_bytes_each_time(built: Built) -> None:
    from tests.emit.tensors.building import emit

    assert emit(built.found) == emit(built.found)
