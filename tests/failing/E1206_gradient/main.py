from collections.abc import Sequence

import torch


def descend(params: Sequence[torch.Tensor], rate: float) -> None:
    with torch.no_grad():
        for parameter in params:
            parameter -= rate * parameter.grad
            parameter.grad = None
