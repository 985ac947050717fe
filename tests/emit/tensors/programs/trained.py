"""Programs with models of `torch.nn` and optimizers of `torch.optim`, a function for each.

Every `run_*` gives losses, parameters and the optimizer's state after several steps. It is
read as text by `test_trained.py`; a step's calls show its shapes.
"""

import torch
import torch.nn.functional as F
from torch import nn


def left(model, optimizer):
    """What a program can see afterwards."""
    held = optimizer.state_dict()
    states = [{k: v for k, v in s.items() if v is not None} for s in held["state"].values()]
    return (
        [(p.detach(), p.grad, p.requires_grad, p._version) for p in model.parameters()],
        [None if p.grad is None else p.grad._version for p in model.parameters()],
        [sorted(s) for s in states],
        [[s[k] for k in sorted(s)] for s in states],
    )


class Classifier(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(12, width), nn.GELU(), nn.Linear(width, 24), nn.GELU()
        )
        self.head = nn.Linear(24, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(x))

    def loss(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(self(x), y)


def adam_step(
    model: Classifier, optimizer: torch.optim.Adam, x: torch.Tensor, y: torch.Tensor
) -> float:
    optimizer.zero_grad()
    loss = model.loss(x, y)
    loss.backward()
    optimizer.step()
    return loss.item()


def run_adam():
    model = Classifier(16)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=0.05)
    x, y = torch.randn(40, 12), torch.randint(10, (40,))
    losses = [adam_step(model, optimizer, x, y) for _ in range(5)]
    return losses, left(model, optimizer)


def adamw_step(
    model: nn.Sequential, optimizer: torch.optim.AdamW, x: torch.Tensor, y: torch.Tensor
) -> float:
    optimizer.zero_grad(set_to_none=True)
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


def run_adamw():
    model = nn.Sequential(
        nn.Linear(12, 16), nn.LeakyReLU(0.2), nn.LayerNorm(16), nn.Linear(16, 3)
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.7)
    x, y = torch.randn(40, 12), torch.randint(3, (40,))
    losses = []
    for _ in range(6):
        losses.append(adamw_step(model, optimizer, x, y))
        scheduler.step()
    return (
        losses,
        left(model, optimizer),
        optimizer.param_groups[0]["lr"],
        vars(optimizer)["_opt_called"],
    )


class Layered(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, 16), nn.Linear(16, 16)])
        self.last = nn.Linear(16, 1)
        self.gain = nn.Parameter(torch.ones(16))
        self.slope = 0.5

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return self.last(x * self.gain) * self.slope


def clipped_step(
    model: Layered, optimizer: torch.optim.SGD, x: torch.Tensor, y: torch.Tensor
) -> float:
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    return loss.item()


def run_clipped():
    model = Layered()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-3)
    x, y = torch.randn(30, 8), torch.randn(30, 1)
    losses = [clipped_step(model, optimizer, x, y) for _ in range(6)]
    model.slope = 0.25
    losses.append(clipped_step(model, optimizer, x, y))
    model.slope = 0.5
    losses.append(clipped_step(model, optimizer, x, y))
    return losses, left(model, optimizer)


def nesterov_step(
    model: nn.Linear, optimizer: torch.optim.SGD, x: torch.Tensor, y: torch.Tensor
) -> torch.Tensor:
    loss = F.binary_cross_entropy_with_logits(model(x).squeeze(1), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()


def run_nesterov():
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.8, nesterov=True)
    x, y = torch.randn(30, 8), torch.randint(2, (30,)).float()
    losses = [nesterov_step(model, optimizer, x, y) for _ in range(5)]
    optimizer.param_groups[0]["weight_decay"] = 0.1
    losses += [nesterov_step(model, optimizer, x, y) for _ in range(2)]
    return losses, left(model, optimizer)


def plain_step(
    model: nn.Module,
    criterion: nn.MSELoss,
    optimizer: torch.optim.SGD,
    x: torch.Tensor,
    y: torch.Tensor,
) -> float:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


def run_batches():
    """Mini-batches by slices, and by a permutation."""
    model = nn.Sequential(nn.Linear(6, 12), nn.ELU(), nn.Linear(12, 2))
    criterion = nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    x, y = torch.randn(50, 6), torch.randn(50, 2)
    losses = []
    for start in range(0, 50, 16):
        losses.append(
            plain_step(
                model, criterion, optimizer, x[start : start + 16], y[start : start + 16]
            )
        )
    order = torch.randperm(50)
    for start in range(0, 50, 16):
        chosen = order[start : start + 16]
        bx, by = x.index_select(0, chosen), y.index_select(0, chosen)
        losses.append(plain_step(model, criterion, optimizer, bx, by))
    return losses, left(model, optimizer)


def list_step(
    params: list[torch.Tensor], optimizer: torch.optim.SGD, x: torch.Tensor, y: torch.Tensor
) -> float:
    optimizer.zero_grad()
    loss = ((x @ params[0] + params[1] - y) ** 2).mean()
    loss.backward()
    optimizer.step()
    return loss.item()


def run_list():
    w, b = torch.randn(7, 3, requires_grad=True), torch.zeros(3, requires_grad=True)
    params = [w, b]
    optimizer = torch.optim.SGD(params, lr=0.1, momentum=0.5)
    x, y = torch.randn(20, 7), torch.randn(20, 3)
    losses = [list_step(params, optimizer, x, y) for _ in range(4)]
    return (
        losses,
        w.detach(),
        b.detach(),
        [s["momentum_buffer"] for s in optimizer.state.values()],
    )


class Words(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(20, 8)
        self.head = nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.table(x))


def words_step(
    model: Words, optimizer: torch.optim.Adam, x: torch.Tensor, y: torch.Tensor
) -> float:
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


def run_words():
    model = Words()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    x, y = torch.randint(20, (40,)), torch.randint(4, (40,))
    losses = [words_step(model, optimizer, x, y) for _ in range(5)]
    return losses, left(model, optimizer)


class Pictures(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 4, 3, padding=1)
        self.second = nn.Conv2d(4, 4, (3, 3), stride=2)
        self.head = nn.Linear(36, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.first(x))
        return self.head(torch.flatten(torch.relu(self.second(x)), 1))


def pictures_step(
    model: Pictures, optimizer: torch.optim.SGD, x: torch.Tensor, y: torch.Tensor
) -> float:
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


def run_pictures():
    model = Pictures()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    x, y = torch.randn(10, 1, 8, 8), torch.randint(3, (10,))
    losses = [pictures_step(model, optimizer, x, y) for _ in range(4)]
    return losses, left(model, optimizer)


class Dropped(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(6, 16)
        self.drop = nn.Dropout(0.3)
        self.last = nn.Linear(16, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.drop(torch.relu(self.first(x))))


def dropped_step(
    model: Dropped, optimizer: torch.optim.SGD, x: torch.Tensor, y: torch.Tensor
) -> float:
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


def run_dropped():
    model = Dropped()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    x, y = torch.randn(20, 6), torch.randint(2, (20,))
    torch.manual_seed(7)
    losses = [dropped_step(model, optimizer, x, y) for _ in range(4)]
    model.eval()
    losses += [dropped_step(model, optimizer, x, y) for _ in range(2)]
    model.train()
    try:
        dropped_step(model, optimizer, x, y + 1)
    except IndexError as error:
        losses.append(str(error))
    losses += [dropped_step(model, optimizer, x, y) for _ in range(2)]
    return losses, left(model, optimizer), torch.rand(3)


def accumulated_step(
    model: nn.Linear,
    optimizer: torch.optim.SGD,
    xs: list[torch.Tensor],
    ys: list[torch.Tensor],
) -> None:
    optimizer.zero_grad()
    for x, y in zip(xs, ys, strict=True):
        loss = F.mse_loss(model(x), y) / 4
        loss.backward()
    optimizer.step()


def run_accumulated():
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    xs = [torch.randn(9, 3), torch.randn(9, 3), torch.randn(9, 3), torch.randn(9, 3)]
    ys = [torch.randn(9, 2), torch.randn(9, 2), torch.randn(9, 2), torch.randn(9, 2)]
    for _ in range(4):
        accumulated_step(model, optimizer, xs, ys)
    return left(model, optimizer)


def accuracy(model: Classifier, x: torch.Tensor, y: torch.Tensor) -> float:
    with torch.no_grad():
        return (model(x).argmax(dim=1) == y).float().mean().item()


def run_accuracy():
    model = Classifier(16)
    x, y = torch.randn(40, 12), torch.randint(10, (40,))
    return [
        accuracy(model, x[start : start + 16], y[start : start + 16]) for start in (0, 16, 32)
    ]


def physics_step(model: nn.Sequential, optimizer: torch.optim.Adam, x: torch.Tensor) -> float:
    optimizer.zero_grad()
    u = model(x)
    slope = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
    loss = ((slope + u) ** 2).mean()
    loss.backward()
    optimizer.step()
    return loss.item()


def run_physics():
    model = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    x = torch.randn(20, 1, requires_grad=True)
    losses = [physics_step(model, optimizer, x) for _ in range(3)]
    return losses, left(model, optimizer)


RUNS = [
    run_adam,
    run_adamw,
    run_clipped,
    run_nesterov,
    run_batches,
    run_list,
    run_words,
    run_pictures,
    run_dropped,
    run_accumulated,
    run_accuracy,
    run_physics,
]


def main():
    found = {}
    for run in RUNS:
        torch.manual_seed(1)
        found[run.__name__] = run()
    return found
