"""Training with several models, optimizers and groups of parameters, a function `run_*` for
each. It is read as text by `test_several.py`.
"""

import torch
import torch.nn.functional as F
from torch import nn


def left(models, optimizers):
    """What a program can see afterwards."""
    states = [optimizer.state_dict() for optimizer in optimizers]
    return (
        [
            (p.detach(), p.grad, p._version, None if p.grad is None else p.grad._version)
            for model in models
            for p in model.parameters()
        ],
        [[s[k] for k in sorted(s)] for state in states for s in state["state"].values()],
        [sorted(g.items()) for state in states for g in state["param_groups"]],
    )


def run_adversaries():
    generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 6))
    critic = nn.Sequential(nn.Linear(6, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
    g_opt = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
    d_opt = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.999))
    data = torch.randn(128, 6)
    ones, zeros = torch.ones(32, 1), torch.zeros(32, 1)
    history = []
    for turn in range(6):
        real = data[(turn % 4) * 32 : (turn % 4) * 32 + 32]
        noise = torch.randn(32, 4)
        fake = generator(noise)
        d_loss = F.binary_cross_entropy_with_logits(
            critic(real), ones
        ) + F.binary_cross_entropy_with_logits(critic(fake.detach()), zeros)
        d_opt.zero_grad()
        d_loss.backward()
        d_opt.step()

        g_loss = F.binary_cross_entropy_with_logits(critic(fake), ones)
        g_opt.zero_grad()
        g_loss.backward()
        g_opt.step()
        history.append((d_loss.item(), g_loss.item()))
    return history, left([generator, critic], [g_opt, d_opt]), torch.rand(2)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 16), nn.Tanh())
        self.head = nn.Linear(16, 1)

    def forward(self, x):
        return self.head(self.body(x))


def run_groups():
    x, y = torch.randn(64, 6), torch.randn(64, 1)
    found = []
    model = Net()
    optimizer = torch.optim.Adam(
        [
            {"params": model.body.parameters()},
            {"params": model.head.parameters(), "lr": 1e-2, "weight_decay": 1e-3},
        ],
        lr=1e-3,
    )
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    for _ in range(6):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        found.append((loss.item(), scheduler.get_last_lr()))
    return found, left([model], [optimizer])


def apart_step(
    model: Net, optimizer: torch.optim.SGD, x: torch.Tensor, y: torch.Tensor
) -> float:
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


def run_apart():
    """Weights that decay, biases that have momentum; the function is given the model."""
    net = Net()
    optimizer = torch.optim.SGD(
        [
            {"params": [net.body[0].weight, net.head.weight], "weight_decay": 0.1},
            {"params": [net.body[0].bias, net.head.bias], "momentum": 0.5},
        ],
        lr=0.02,
    )
    x, y = torch.randn(64, 6), torch.randn(64, 1)
    return [apart_step(net, optimizer, x, y) for _ in range(5)], left([net], [optimizer])


def run_regrouped():
    """A group that the program adds later: Python's from then on."""
    net = Net()
    optimizer = torch.optim.SGD([{"params": net.body.parameters()}], lr=0.02)
    x, y = torch.randn(64, 6), torch.randn(64, 1)
    losses = []
    for turn in range(6):
        optimizer.zero_grad()
        loss = F.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if turn == 2:
            optimizer.add_param_group({"params": net.head.parameters(), "lr": 0.1})
    return losses, left([net], [optimizer])


def run_alternating():
    """Two optimizers over parts of one model, in turn."""
    net = Net()
    first = torch.optim.SGD(net.body.parameters(), lr=0.05)
    second = torch.optim.SGD(net.head.parameters(), lr=0.05, momentum=0.9)
    x, y = torch.randn(64, 6), torch.randn(64, 1)
    losses = []
    for _ in range(5):
        first.zero_grad()
        second.zero_grad()
        loss = F.mse_loss(net(x), y)
        loss.backward()
        first.step()
        again = F.l1_loss(net(x), y)
        again.backward()
        second.step()
        losses.append((loss.item(), again.item()))
    return losses, left([net], [first, second])


def run_overwritten():
    """What Python refuses: a backward pass through weights that were written over since."""
    net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    x, y = torch.randn(64, 6), torch.randn(64, 1)
    out = net(x)
    loss = F.mse_loss(out, y)
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
    try:
        F.l1_loss(out, y).backward()
    except RuntimeError as error:
        return str(error)[:60], left([net], [optimizer])


def main():
    found = {}
    for name, run in [*globals().items()]:
        if name.startswith("run_"):
            torch.manual_seed(3)
            found[name] = run()
    return found
