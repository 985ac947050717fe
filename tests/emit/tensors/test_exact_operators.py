"""Hundreds of operators, each in a region of its own, against eager: bits, strides, errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

from ppybuild.graph.schemas.names import installed_torch
from tests.emit.tensors.building import Built, build, has_compiler
from tests.emit.tensors.operators import Sample, samples

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not has_compiler(), reason="needs g++")

BATCHES_WANTED = 3


def _batches() -> list[list[Sample]]:
    found = installed_torch()
    assert found is not None
    made = list({sample.name: sample for sample in samples(found)}.values())
    return [made[start::BATCHES_WANTED] for start in range(BATCHES_WANTED)]


BATCHES = _batches()


@pytest.fixture(
    scope="module",
    params=[0, *(pytest.param(i, marks=pytest.mark.slow) for i in range(1, BATCHES_WANTED))],
)
def batch(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    chosen = BATCHES[request.param]
    source = "import torch\n\n\n" + "\n".join(sample.source for sample in chosen)
    return chosen, build(tmp_path_factory.mktemp("batch"), source, f"batch{request.param}")


def test_there_are_hundreds() -> None:
    assert sum(map(len, BATCHES)) > 400


def test_operators_agree(batch: tuple[list[Sample], Built]) -> None:
    chosen, built = batch
    compared = 0
    for sample in chosen:
        if sample.name not in built.native:
            continue
        region = built.regions[sample.name]
        for tensors in _inputs(sample.tensors):
            expected = outcome(built.python[sample.name], tensors)
            assert outcome(built.native[sample.name], tensors) == expected, sample
            compared += isinstance(expected, list)
        assert len(region.steps) == 1, sample
    assert len(built.native) > 0.6 * len(chosen)
    assert compared > len(chosen)


def test_the_same_operators_are_called(batch: tuple[list[Sample], Built]) -> None:
    chosen, built = batch
    for sample in chosen:
        if sample.name in built.native:
            called = built.regions[sample.name].steps[0]
            assert called.operator.name == sample.operator.name


def _inputs(count: int) -> list[list[Any]]:
    generator = torch.Generator().manual_seed(count)
    real = [torch.rand(3, 3, generator=generator) + 0.25 for _ in range(count)]
    return [
        real,
        [tensor.double() for tensor in real],
        [(tensor * 10).long() % 3 for tensor in real],
        [tensor > 0.6 for tensor in real],
        [tensor[0] for tensor in real],
        [tensor.t().requires_grad_() for tensor in real],
    ]


def outcome(function: Callable[..., Any], arguments: list[Any]) -> object:
    """What a call gives, as something that `==` compares by bits."""
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = function(*arguments)
        except Exception as raised:
            return type(raised), str(raised)
    results = result if isinstance(result, tuple) else (result,)
    return [described(tensor) for tensor in results]


def described(tensor: Any) -> object:
    values = tensor.detach()
    layout = (tensor.dtype, tuple(tensor.shape), str(tensor.layout), tensor.requires_grad)
    if tensor.layout is not torch.strided or tensor.numel() == 0:
        return layout
    bits = values.contiguous().resolve_conj().resolve_neg().view(-1).view(torch.uint8)
    grad = type(tensor.grad_fn).__name__
    return (*layout, tensor.stride(), grad, bytes(bits.tolist()))
