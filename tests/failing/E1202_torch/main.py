import torch


def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.matmull(a, b)


def total(a: torch.Tensor) -> torch.Tensor:
    return a.summ()
