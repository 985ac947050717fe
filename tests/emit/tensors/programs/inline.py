"""Training steps inside other code: loops, methods, scripts. A `run_*` for each program."""

import pickle
import traceback
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, features, hidden, out):
        super().__init__()
        self.fc1 = nn.Linear(features, hidden)
        self.fc2 = nn.Linear(hidden, out)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        return self.fc2(x)


def state(model):
    return [(p.detach().clone(), p.grad, p._version) for p in model.parameters()]


def timed_step(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


def run_timed():
    x, y = torch.randn(64, 6), torch.randn(64, 2)
    model = Net(6, 5, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

    def timed(run):
        return run()

    losses = [timed(lambda: timed_step(model, optimizer, x, y)) for _ in range(5)]
    return losses, state(model)


def run_shuffled():
    """Mini-batches by a permutation, with a progress line now and then."""
    X = torch.randn(128, 10)
    Y = (X[:, :1] * 2 - X[:, 1:2]).detach()
    model = Net(10, 32, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    criterion = nn.MSELoss()
    history = []
    lines = []
    for epoch in range(2):
        perm = torch.randperm(X.size(0))
        total = 0.0
        for i in range(0, 128, 32):
            idx = perm[i : i + 32]
            xb, yb = X[idx], Y[idx]
            optimizer.zero_grad()
            out = model(xb)
            loss = criterion(out, yb)
            loss.backward()
            optimizer.step()
            total += loss.item() * xb.size(0)
            if i == 0:
                lines.append(f"epoch {epoch}: {loss:.2f}")
        history.append(total)
    return history, lines, state(model), loss.item()


def make_model(width):
    return nn.Sequential(nn.Linear(6, width), nn.Tanh(), nn.Linear(width, 3))


def fit(model, loader, optimizer):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += float(loss)
    return total / len(loader)


@torch.no_grad()
def accuracy(model, X, y):
    model.eval()
    return (model(X).argmax(dim=1) == y).float().mean().item()


def run_loader():
    """A loader of a data set, a function for an epoch, one that evaluates, a factory."""
    X = torch.randn(96, 6)
    y = torch.randint(0, 3, (96,))
    loader = DataLoader(TensorDataset(X, y), batch_size=32, shuffle=True)
    model = make_model(16).to("cpu")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses = [fit(model, loader, optimizer) for _ in range(3)]
    return losses, accuracy(model, X, y), state(model)


class Trainer:
    """A step as a method, and one inside the loop of another."""

    def __init__(self, model, rate):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=rate)
        self.criterion = nn.L1Loss()
        self.steps = 0

    def train_step(self, x, y):
        self.optimizer.zero_grad()
        loss = self.criterion(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.steps += 1
        return loss.item()

    def fit(self, X, Y, batch):
        losses = []
        for start in range(0, len(X), batch):
            losses.append(self.train_step(X[start : start + batch], Y[start : start + batch]))
        return losses


def run_trainer():
    X = torch.randn(40, 5)
    Y = X.sum(1, keepdim=True)
    trainer = Trainer(Net(5, 8, 1), 0.05)
    losses = trainer.fit(X, Y, 8)
    losses += trainer.fit(X, Y, 16)  # the last batch is smaller
    return losses, trainer.steps, state(trainer.model)


@dataclass
class Config:
    features: int = 6
    hidden: int = 12
    classes: int = 3
    rate: float = 0.05
    batch: int = 16
    clip: float = 0.5


class Classifier(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(config.features, config.hidden), nn.GELU())
        self.head = nn.Linear(config.hidden, config.classes)

    def forward(self, x):
        return self.head(self.body(x))


class Experiment:
    """Sizes in a configuration, clipping, and the accuracy from the step's own logits."""

    def __init__(self, config: Config):
        self.config = config
        self.model = Classifier(config)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=config.rate)

    def epoch(self, X, y):
        self.model.train()
        order = torch.randperm(len(X))
        total, correct = 0.0, 0
        for start in range(0, len(X), self.config.batch):
            rows = order[start : start + self.config.batch]
            logits = self.model(X[rows])
            loss = F.cross_entropy(logits, y[rows])
            self.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip)
            self.optimizer.step()
            total += loss.item() * len(rows)
            correct += (logits.argmax(1) == y[rows]).sum().item()
        return total / len(X), correct / len(X)


def run_experiment():
    config = Config()
    X = torch.randn(48, config.features)
    y = (X[:, 0] > 0).long() + (X[:, 1] > 0).long()
    experiment = Experiment(config)
    return [experiment.epoch(X, y) for _ in range(3)], state(experiment.model)


class Softmax:
    """Tensors of an object of its own, whose loss is a method."""

    def __init__(self, features, classes, rate=0.2):
        self.decay = 1e-3
        self.W = torch.zeros(features, classes, requires_grad=True)
        self.b = torch.zeros(classes, requires_grad=True)
        self.optimizer = torch.optim.SGD([self.W, self.b], lr=rate)
        self.losses = []

    def logits(self, X):
        return X @ self.W + self.b

    def loss(self, X, y):
        return F.cross_entropy(self.logits(X), y) + self.decay * (self.W**2).sum()

    def fit(self, X, y, epochs):
        for _ in range(epochs):
            self.optimizer.zero_grad()
            loss = self.loss(X, y)
            loss.backward()
            self.optimizer.step()
            self.losses.append(loss.item())
        return self


def run_softmax():
    X = torch.randn(60, 4)
    y = (X.sum(1) > 0).long()
    fitted = Softmax(4, 2).fit(X, y, epochs=5)
    fitted.decay = 0.5
    fitted.fit(X, y, epochs=1)
    fitted.loss = lambda X, y: fitted.logits(X).pow(2).mean()
    fitted.fit(X, y, epochs=2)
    return fitted.losses, fitted.W.detach(), fitted.W.grad, fitted.b.detach()


def run_by_hand():
    """Tensors and an update by hand, and a rate that falls."""
    x = torch.linspace(-1, 1, 50).unsqueeze(1)
    y = 3 * x + 0.5
    w = torch.zeros(1, 1, requires_grad=True)
    b = torch.zeros(1, requires_grad=True)
    lr = 0.2
    losses = []
    for step in range(6):
        if step == 4:
            lr *= 0.1
        pred = x @ w + b
        loss = ((pred - y) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            w -= lr * w.grad
            b -= lr * b.grad
        w.grad = None
        b.grad = None
        losses.append(loss.item())
    return losses, w.detach(), b.detach(), w._version, w.requires_grad


def run_chained():
    """Rows that are chosen anew at the end of each turn, after they were read."""
    X = torch.randn(32, 4)
    model = Net(4, 8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    rows = torch.arange(8)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = (model(X[rows]) - X[rows].sum(1, keepdim=True)).pow(2).mean()
        loss.backward()
        optimizer.step()
        rows = (rows * 3 + 1) % 32
        losses.append(loss.item())
    return losses, rows, state(model)


def run_watched():
    """What is read afterwards needs the graph, or may fail: Python's own steps."""
    model = Net(4, 8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(16, 4)
    kept = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        kept.append(loss)
    message = ""
    try:
        optimizer.zero_grad()
        loss = model(x[:, :3]).pow(2).mean()
        loss.backward()
        optimizer.step()
    except RuntimeError as error:
        message = str(error)
    return [k.requires_grad for k in kept], message, state(model)


def run_errors():
    """A batch that does not fit: the exception, its lines, and what was done before it."""
    model = Net(4, 8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    seen = []

    def go(x):
        for _ in range(3):
            optimizer.zero_grad()
            loss = model(x).pow(2).mean()
            loss.backward()
            optimizer.step()
            seen.append(loss.item())

    go(torch.randn(16, 4))
    try:
        go(pickle.loads(pickle.dumps(torch.randn(16, 5))))
    except RuntimeError as error:
        frames = traceback.extract_tb(error.__traceback__)
        seen.append([(frame.name, frame.lineno) for frame in frames[1:3]])
    seen.append([p.grad is None for p in model.parameters()])
    return seen, state(model)


def main():
    return {name: found() for name, found in list(globals().items()) if name.startswith("run_")}
