"""Shapes and dtypes that do go together."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Linear(16, width)
        self.second = nn.Linear(width, 1)
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = torch.relu(self.first(x))
        return self.second(hidden) * self.scale


def shapes() -> torch.Tensor:
    x = torch.randn(8, 16)
    w = torch.randn(16, 4)
    b = torch.zeros(4)
    y = x @ w + b
    z = torch.matmul(x.reshape(2, 4, 16), w)
    t = torch.cat([y, y], dim=1).t()
    s = torch.stack([y, y]).sum(dim=0, keepdim=True).squeeze(0)
    column = torch.ones(8, 1)
    row = torch.ones(4)
    return (s * column + row).mean() + t.sum() + z.max() + F.mse_loss(y, s)


def dtypes() -> torch.Tensor:
    x = torch.arange(6).reshape(2, 3)
    y = x.to(torch.float32) @ torch.ones(3, 2)
    mask = x > 2
    picked = torch.where(mask, x, torch.zeros_like(x))
    return y.sum() + picked.float().mean() + x.double().sum() + (x[0] + x[:, 1:].sum())


def train() -> float:
    net = Net(8)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    x, y = torch.randn(32, 16), torch.randn(32, 1)
    loss = torch.zeros(())
    for _ in range(3):
        optimizer.zero_grad()
        loss = F.mse_loss(net(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
    values, indices = torch.max(net(x), dim=0)
    print(values.shape, indices.tolist(), net.state_dict().keys())
    return loss.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    print(shapes(), dtypes(), train())
