"""Random networks as programs: layers that no single kernel holds, in a random order."""

from __future__ import annotations

import random

ACTIVATIONS = ("GELU", "ReLU", "SiLU", "Tanh", "LeakyReLU", "Softplus", "ELU", "Sigmoid")
OPTIMIZERS = (
    "Adam(model.parameters(), lr=1e-3)",
    "AdamW(model.parameters(), lr=1e-3, weight_decay=0.1)",
    "SGD(model.parameters(), lr=0.05)",
    "SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=0.01)",
    "SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)",
)

NETWORK = """
def step_{n}(
    model: nn.Sequential, optimizer: torch.optim.{kind}, x: torch.Tensor, y: torch.Tensor
) -> float:
    optimizer.zero_grad()
    loss = F.{loss}(model(x), y)
    loss.backward(){clip}
    optimizer.step()
    return loss.item()


def run_{n}():
    torch.manual_seed({n})
    model = nn.Sequential(
        {layers},
    )
    optimizer = torch.optim.{optimizer}
    x, y = {x}, {y}
    losses = [step_{n}(model, optimizer, x, y) for _ in range(4)]
    losses += [step_{n}(model, optimizer, x[:k], y[:k]) for k in (2, 5)]
    return losses, left(model, optimizer), torch.rand(2)
"""

HEAD = '''import torch
import torch.nn.functional as F
from torch import nn


def left(model, optimizer):
    """What a program can see afterwards."""
    state = [value for held in optimizer.state.values() for value in held.values()]
    kept = [(name, value, value._version) for name, value in model.state_dict().items()]
    grads = [(p.grad, p.requires_grad, p._version) for p in model.parameters()]
    return kept, grads, [value for value in state if isinstance(value, torch.Tensor)]
'''


def program(seeds: range) -> str:
    """A module with a network for each seed; `main` gives what each has left."""
    networks = "\n".join(_network(seed) for seed in seeds)
    runs = ", ".join(f'"{n}": run_{n}()' for n in seeds)
    return f"{HEAD}\n{networks}\n\ndef main():\n    return {{{runs}}}\n"


def _network(n: int) -> str:
    r = random.Random(n)
    images = n % 2 == 1
    classes = r.choice((3, 10))
    optimizer = r.choice(OPTIMIZERS)
    loss = r.choice(("cross_entropy", "mse_loss"))
    layers = [*(_images(r) if images else _rows(r)), f"nn.Linear({{}}, {classes})"]
    shape = "2, 10, 10" if images else "40"
    given = 2 if images else 40
    for place, layer in enumerate(layers):
        width = r.choice((270, 301, 512)) if "Linear" in layer else r.choice((3, 8))
        layers[place] = layer.format(given, width)
        if "{1}" in layer or (layer.startswith("nn.Conv")):
            given = width
        if layer == "nn.Flatten()":
            given *= 25
    return NETWORK.format(
        n=n,
        kind=optimizer.partition("(")[0],
        optimizer=optimizer,
        loss=loss,
        clip=_CLIP if r.random() < 0.3 else "",
        layers=",\n        ".join(layers),
        x=f"torch.randn(9, {shape})",
        y=f"torch.randint({classes}, (9,))"
        if loss == "cross_entropy"
        else f"torch.randn(9, {classes})",
    )


_CLIP = "\n    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)"


def _rows(r: random.Random) -> list[str]:
    layers = []
    for _ in range(2):
        layers += ["nn.Linear({0}, {1})", f"nn.{r.choice(ACTIVATIONS)}()"]
        extra = r.choice(("nn.LayerNorm({0})", "nn.BatchNorm1d({0})", "nn.Dropout(0.3)", ""))
        layers += [extra] if extra else []
    return layers


def _images(r: random.Random) -> list[str]:
    layers = ["nn.Conv2d({0}, {1}, 3, padding=1)", f"nn.{r.choice(ACTIVATIONS)}()"]
    layers += [r.choice(("nn.BatchNorm2d({0})", "nn.Dropout(0.2)"))]
    layers += [r.choice(("nn.MaxPool2d(2)", "nn.AvgPool2d(2)"))]
    layers += ["nn.Conv2d({0}, {1}, 3, padding=1)", f"nn.{r.choice(ACTIVATIONS)}()"]
    layers += ["nn.Flatten()", "nn.Linear({0}, {1})", f"nn.{r.choice(ACTIVATIONS)}()"]
    return layers
