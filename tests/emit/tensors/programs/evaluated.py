"""Programs that evaluate models with gradients off, a function `run_*` for each.

It is read as text by `test_evaluated.py`; calls show shapes.
"""

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Linear(12, width)
        self.norm = nn.BatchNorm1d(width)
        self.drop = nn.Dropout(0.2)
        self.last = nn.Linear(width, 10)

    def forward(self, x):
        return self.last(self.drop(F.relu(self.norm(self.first(x)))))

    def guess(self, x):
        with torch.no_grad():
            return self(x).argmax(1)


def made():
    """A model whose running statistics are other than at first."""
    model = Net(16)
    for _ in range(3):
        model(torch.randn(30, 12))
    return model


def accuracy(model, x, y):
    model.eval()
    correct = 0
    with torch.no_grad():
        for start in range(0, len(x), 32):
            out = model(x[start : start + 32])
            correct += (out.argmax(1) == y[start : start + 32]).sum().item()
    return correct / len(x)


def run_slices():
    x, y = torch.randn(100, 12), torch.randint(0, 10, (100,))
    return accuracy(made(), x, y)


def one_line(model, batches):
    correct, count = 0, 0
    with torch.no_grad():
        for x, y in batches:
            correct += (model(x).argmax(1) == y).sum().item()
            count += len(y)
    return correct / count


def run_one_line():
    model = nn.Sequential(nn.Linear(12, 8), nn.Tanh(), nn.Linear(8, 10))
    x, y = torch.randn(100, 12), torch.randint(0, 10, (100,))
    batches = [(x[i : i + 30], y[i : i + 30]) for i in range(0, 100, 30)]
    return one_line(model, batches)


def losses(model, criterion, batches):
    model.eval()
    total, correct, count = 0.0, 0, 0
    with torch.inference_mode():
        for x, y in batches:
            logits = model(x)
            loss = criterion(logits, y)
            total += loss.item() * x.size(0)
            correct += (logits.argmax(dim=1) == y).sum().item()
            count += x.size(0)
    return total / count, correct / count


def run_losses():
    x, y = torch.randn(100, 12), torch.randint(0, 10, (100,))
    batches = [(x[i : i + 20], y[i : i + 20]) for i in range(0, 100, 20)]
    return losses(made(), nn.CrossEntropyLoss(), batches)


@torch.no_grad()
def predict(model, x):
    model.eval()
    return model(x)


def run_predict():
    found = predict(made(), torch.randn(50, 12))
    again = predict(made(), torch.randn(50, 12))
    return found, again, again.requires_grad, again.is_inference()


def outputs(model, parts):
    kept = []
    with torch.inference_mode():
        for part in parts:
            scaled = part * 2 - 1
            kept.append(model(scaled).softmax(dim=1))
    return kept


def run_outputs():
    model = made().eval()
    kept = outputs(model, torch.randn(100, 12).split(40))
    return kept, [one.is_inference() for one in kept]


def run_modes():
    """In training the layers do something else, and Python runs them."""
    model = made()
    x = torch.randn(20, 12)
    first = [model.guess(x) for _ in range(2)]
    model.eval()
    return first, [model.guess(x) for _ in range(3)], model.norm.running_mean


class Tester:
    def __init__(self, model, data):
        self.model = model
        self.data = data

    @torch.no_grad()
    def score(self):
        total = 0.0
        for x, y in self.data:
            error = (self.model(x) - y).abs().mean()
            total += float(error)
        return total


def run_tester():
    model = nn.Sequential(nn.Linear(5, 7), nn.GELU(), nn.Linear(7, 2))
    data = [(torch.randn(9, 5), torch.randn(9, 2)) for _ in range(4)]
    return Tester(model, data).score()


def views(model, x):
    with torch.no_grad():
        column = model(x).squeeze(1)
        first = model(x)[:, 0]
        best = model(x)[:, 0].max()
    return column, column.stride(), first, first.stride(), best


def reshaped(model, x):
    with torch.no_grad():
        whole = model(x)
        column = whole.view(-1)
    column += 1
    return whole, column


def run_reshaped():
    """Two names for one memory."""
    model = nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 1))
    return [reshaped(model, torch.randn(9, 5)) for _ in range(3)]


def run_views():
    model = nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 1))
    return [views(model, torch.randn(9, 5)) for _ in range(3)]


def run_errors():
    """What the layers raise, Python raises where the statement stands."""
    model = nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 1))
    views(model, torch.randn(9, 5))
    try:
        views(model, torch.randn(9, 4))
    except RuntimeError as error:
        lines, trace = [], error.__traceback__
        while trace is not None:
            lines.append(trace.tb_lineno)
            trace = trace.tb_next
        return str(error), lines[:2]


def main():
    found = {}
    for name, run in [*globals().items()]:
        if name.startswith("run_"):
            torch.manual_seed(3)
            found[name] = run()
    return found
