import torch


def forward() -> torch.Tensor:
    x = torch.randn(8, 16)
    weight = torch.randn(16, 4, dtype=torch.float64)
    return torch.matmul(x, weight)


print(forward())
