"""Programs that change something while they train, or look at it in another way than most do.
A `run_*` for each."""

import contextlib

import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, features, hidden, out):
        super().__init__()
        self.fc1 = nn.Linear(features, hidden)
        self.fc2 = nn.Linear(hidden, out)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


def state(model):
    return [(p.detach().clone(), p.grad, p._version) for p in model.parameters()]


def run_weights():
    """A loss that gets weights later on."""
    model = Net(4, 8, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    criterion = nn.CrossEntropyLoss()
    losses = []
    for i in range(5):
        if i == 3:
            criterion.weight = torch.tensor([1.0, 5.0, 0.1])
        x, y = torch.randn(8, 4), torch.randint(0, 3, (8,))
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, state(model)


def run_suppressed():
    """An exception that ends the loop: what is bound then can be seen."""
    model = Net(4, 8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    X, Y = torch.randn(40, 4), torch.randn(40, 1)
    loss = torch.tensor(-1.0)
    with contextlib.suppress(RuntimeError):
        for i in range(0, 40, 8):
            if i == 24:
                model.fc1 = nn.Linear(5, 8)
            x, y = X[i : i + 8], Y[i : i + 8]
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
    return loss.item(), state(model)


def run_second_name():
    """A tensor written under another name than the step read it."""
    model = Net(4, 8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    X, Y = [torch.randn(8, 4) for _ in range(3)], torch.randn(8, 1)
    losses = []
    for x in X:
        optimizer.zero_grad()
        batch = x
        loss = F.mse_loss(model(batch), Y)
        loss.backward()
        optimizer.step()
        batch += 1
        losses.append(loss.item())
    return X, losses, state(model)


def run_gradient_name():
    """A gradient written under another name."""
    w = torch.zeros(4, 1, requires_grad=True)
    found = []
    for _ in range(3):
        x, y = torch.randn(8, 4), torch.randn(8, 1)
        w.grad = None
        loss = ((x @ w - y) ** 2).mean()
        loss.backward()
        g = w.grad
        with torch.no_grad():
            w -= 0.1 * g
        g += 1
        found.append((g is w.grad, w.grad.clone()))
    return found, w.detach()


def run_subset():
    """An optimizer that clears the gradients of other tensors than it was made for."""
    model = Net(4, 8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for i in range(5):
        if i == 3:
            optimizer.param_groups[0]["params"] = list(model.fc2.parameters())
        x, y = torch.randn(8, 4), torch.randn(8, 1)
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        losses.append(loss.item())
        optimizer.step()
    return losses, state(model)


def run_two_players():
    """A second backward pass, through what the first one has changed."""
    maker, judge = Net(2, 8, 4), Net(4, 8, 1)
    making = torch.optim.SGD(maker.parameters(), lr=0.1)
    judging = torch.optim.SGD(judge.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        x, z = torch.randn(8, 4), torch.randn(8, 2)
        judging.zero_grad()
        fake = maker(z)
        first = F.softplus(-judge(x)).mean() + F.softplus(judge(fake.detach())).mean()
        first.backward()
        judging.step()
        making.zero_grad()
        second = F.softplus(-judge(maker(z))).mean()
        second.backward()
        making.step()
        losses.append((first.item(), second.item()))
    return losses, state(maker), state(judge)


def run_comprehension():
    """A comprehension that gives the name of what it goes through to its items."""
    model = Net(4, 8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    found = []
    for _ in range(3):
        x, y = torch.randn(8, 4), torch.randn(8, 1)
        optimizer.zero_grad()
        out = model(x)
        F.mse_loss(out, y).backward()
        optimizer.step()
        found.append([out.item() for out in out])
    return found, state(model)


def main():
    return {name: found() for name, found in list(globals().items()) if name.startswith("run_")}
