import torch


def forward() -> torch.Tensor:
    x = torch.randn(8, 16)
    weight = torch.randn(32, 4)
    return torch.matmul(x, weight)


print(forward())
