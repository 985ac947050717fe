"""Whole programs in the layouts that people write: modules of each by name.

The last module's `main` gives what `test_layouts.py` compares.
"""

SCRIPT = {
    "script": """
import torch
from torch import nn, optim

torch.manual_seed(0)
EPOCHS = 3
BATCH = 20
x = torch.rand(80, 3)
y = (x @ torch.tensor([[1.0], [2.0], [-1.0]])) + 0.1 * torch.randn(80, 1)
model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
loss_fn = nn.MSELoss()
opt = optim.Adam(model.parameters(), lr=0.01)
shown = []
for epoch in range(EPOCHS):
    for i in range(0, len(x), BATCH):
        xb = x[i : i + BATCH]
        yb = y[i : i + BATCH]
        pred = model(xb)
        loss = loss_fn(pred, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    shown.append(f"{epoch}: {loss.item():.3f}")


def main():
    return [p.detach() for p in model.parameters()], shown, loss.item()
""",
}

PACKAGE = {
    "model": """
import torch
import torch.nn as nn


class AutoEncoder(nn.Module):
    def __init__(self, n_in: int, n_code: int = 4) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(n_in, 16), nn.Tanh(), nn.Linear(16, n_code))
        self.decoder = nn.Sequential(nn.Linear(n_code, 16), nn.Tanh(), nn.Linear(16, n_in))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.decoder(self.encoder(x))
""",
    "data": """
import torch


def make_data(n: int, d: int) -> torch.Tensor:
    t = torch.linspace(0, 6.28, n).unsqueeze(1)
    return torch.sin(t * torch.arange(1, d + 1))


def batches(x: torch.Tensor, size: int):
    order = torch.randperm(x.shape[0])
    for i in range(0, x.shape[0], size):
        yield x[order[i : i + size]]
""",
    "train": """
import torch
import torch.nn.functional as F
from data import batches, make_data
from model import AutoEncoder

N = 64
DIM = 8


def fit(model: AutoEncoder, x: torch.Tensor, epochs: int, lr: float = 1e-2) -> list[float]:
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    losses: list[float] = []
    for epoch in range(epochs):
        running = 0.0
        for batch in batches(x, 16):
            loss = F.mse_loss(model(batch), batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item()
        losses.append(running)
    return losses


def main():
    x = make_data(N, DIM)
    model = AutoEncoder(DIM)
    losses = fit(model, x, epochs=3)
    return losses, [p.detach() for p in model.parameters()]


if __name__ == "__main__":
    main()
""",
}

VALIDATED = {
    "validated": """
import copy

import torch
from torch import nn

HIDDEN = 24


class Model(nn.Module):
    def __init__(self, inputs: int, hidden: int = HIDDEN) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, 1)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x).squeeze(1)


def load() -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.randn(120, 7)
    return x, x[:, 0] * x[:, 1] + 0.1 * torch.randn(120)


def validate(model: Model, x: torch.Tensor, y: torch.Tensor) -> float:
    model.eval()
    with torch.no_grad():
        return nn.functional.mse_loss(model(x), y).item()


def main():
    x, y = load()
    x_train, x_val = x[:100], x[100:]
    y_train, y_val = y[:100], y[100:]
    model = Model(7)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    loss_fn = nn.SmoothL1Loss()
    best, best_state, bad = float("inf"), None, 0
    history = []
    for epoch in range(5):
        model.train()
        for start in range(0, len(x_train), 20):
            xb = x_train[start : start + 20]
            yb = y_train[start : start + 20]
            loss = loss_fn(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        val = validate(model, x_val, y_val)
        history.append(val)
        if val < best:
            best, bad = val, 0
            best_state = copy.deepcopy(model.state_dict())
        else:
            bad += 1
            if bad > 3:
                break
        if epoch == 2:
            for group in optimizer.param_groups:
                group["lr"] *= 0.5
    model.load_state_dict(best_state)
    return history, [p.detach() for p in model.parameters()], loss.item()


if __name__ == "__main__":
    main()
""",
}

LOADED = {
    "data": """
import torch
from torch.utils.data import DataLoader, Dataset, random_split


class Points(Dataset):
    def __init__(self, count):
        generator = torch.Generator().manual_seed(1)
        self.x: torch.Tensor = torch.randn(count, 6, generator=generator)
        self.y = (self.x[:, 0] > self.x[:, 1]).long()

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def loaders(count, batch_size):
    train_set, test_set = random_split(Points(count), [count - 10, 10])
    shuffled = DataLoader(train_set, batch_size=batch_size, shuffle=True)
    return shuffled, DataLoader(test_set, batch_size=batch_size)
""",
    "loaded": """
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

from data import loaders


class Net(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.first = nn.Linear(6, hidden)
        self.second = nn.Linear(hidden, 2)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


class Trainer:
    def __init__(self, model: nn.Module, loader: DataLoader, rate: float):
        self.model = model
        self.loader = loader
        self.optimizer = torch.optim.Adam(model.parameters(), lr=rate)
        self.losses = []

    def epoch(self):
        for step, batch in enumerate(self.loader):
            x, y = batch
            self.optimizer.zero_grad()
            loss = F.cross_entropy(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            self.losses.append(loss.item())


def accuracy(model, loader):
    correct = 0
    with torch.no_grad():
        for x, y in loader:
            correct += (model(x).argmax(dim=1) == y).sum().item()
    return correct / len(loader.dataset)


def main():
    train_loader, test_loader = loaders(74, 16)
    model = Net(12)
    trainer = Trainer(model, train_loader, 0.01)
    for _ in range(3):
        trainer.epoch()
    score = accuracy(model, test_loader)
    return trainer.losses, [p.detach() for p in model.parameters()], score


if __name__ == "__main__":
    main()
""",
}
