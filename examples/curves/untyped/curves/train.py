"""Fit a network to the samples of a curve."""

import torch

from curves import data
from curves.model import Curve


def train_step(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = torch.mean((model(x) - y) ** 2)
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(3)
    inputs = [0.0] * data.SAMPLES
    targets = [0.0] * data.SAMPLES
    data.fill(inputs, targets)
    x = torch.tensor(inputs, dtype=torch.float32).reshape(data.SAMPLES, 1)
    y = torch.tensor(targets, dtype=torch.float32).reshape(data.SAMPLES, 1)

    model = Curve(16)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    first = train_step(model, optimizer, x, y)
    last = first
    for _ in range(300):
        last = train_step(model, optimizer, x, y)
    print(f"mean target {data.mean(targets):.6f}")
    print(f"loss {first:.4f} -> {last:.4f}, smaller: {last < 0.2 * first}")


if __name__ == "__main__":
    main()
