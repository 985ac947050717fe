import torch


def clear(weight: torch.Tensor) -> None:
    gradient = weight.grad
    gradient.zero_()
