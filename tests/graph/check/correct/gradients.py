"""Every usual way to test a gradient before it is used."""

from collections.abc import Sequence

import torch


def continues(params: Sequence[torch.Tensor], rate: float) -> None:
    with torch.no_grad():
        for parameter in params:
            if parameter.grad is None:
                continue
            parameter -= rate * parameter.grad
            parameter.grad = None


def tests_inside(params: Sequence[torch.Tensor], rate: float) -> None:
    for parameter in params:
        if parameter.grad is not None:
            parameter.data -= rate * parameter.grad
            parameter.grad.zero_()


def keeps(params: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    return [p.grad for p in params if p.grad is not None]


def by_variable(parameter: torch.Tensor) -> torch.Tensor:
    gradient = parameter.grad
    if gradient is None:
        return torch.zeros_like(parameter)
    return gradient * 2.0


def asserts(parameter: torch.Tensor) -> torch.Tensor:
    assert parameter.grad is not None
    return parameter.grad * 2.0


def expects(parameter: torch.Tensor) -> torch.Tensor:
    try:
        return parameter.grad * 2.0
    except TypeError:
        return parameter


def walrus(parameter: torch.Tensor) -> float:
    if (gradient := parameter.grad) is not None:
        return float(gradient.sum())
    return 0.0
