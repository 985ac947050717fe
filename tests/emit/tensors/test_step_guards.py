"""Where a training step must be Python's: what watches, shares or does not fit."""

from __future__ import annotations

import pytest

from tests.emit.tensors.building import has_compiler
from tests.emit.tensors.training import Trained, assert_close, train

pytestmark = pytest.mark.skipif(not has_compiler(), reason="needs g++")

SOURCE = """
import torch
import torch.nn.functional as F


def step(x: torch.Tensor, y: torch.Tensor, w: torch.Tensor, b: torch.Tensor,
         rate: float = 0.1) -> float:
    loss = F.mse_loss(torch.tanh(x @ w) + b, y)
    loss.backward()
    with torch.no_grad():
        for p in (w, b):
            p -= rate * p.grad
            p.grad = None
    return loss.item()


def fresh(dtype=torch.float32):
    torch.manual_seed(3)
    x, y = torch.randn(11, 4, dtype=dtype), torch.randn(11, 2, dtype=dtype)
    w = torch.randn(4, 2, dtype=dtype).requires_grad_()
    b = torch.zeros(2, dtype=dtype).requires_grad_()
    return x, y, w, b


def example():
    x, y = torch.randn(11, 4), torch.randn(11, 2)
    w, b = torch.randn(4, 2, requires_grad=True), torch.zeros(2, requires_grad=True)
    return step(x, y, w, b)


def state(*tensors):
    return [(t.detach().clone(), t.grad, t._version, t.requires_grad) for t in tensors]


def plain():
    x, y, w, b = fresh()
    return [step(x, y, w, b) for _ in range(3)], state(x, y, w, b)


def keywords():
    x, y, w, b = fresh()
    losses = [step(x, b=b, w=w, y=y), step(x, y, w, b, rate=0.5), step(x, y, w, b, 1)]
    return losses, state(w, b)


def hooked():
    x, y, w, b = fresh()
    seen = []
    w.register_hook(lambda g: seen.append(g.clone()) or g * 2)
    b.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.clone()))
    return [step(x, y, w, b) for _ in range(2)], seen, state(w, b)


def node_hooked():
    x, y, w, b = fresh()
    seen = []
    node = w.view_as(w).grad_fn.next_functions[0][0]
    node.register_prehook(lambda grads: seen.append(grads[0].clone()))
    return [step(x, y, w, b) for _ in range(2)], seen, state(w, b)


def has_gradient():
    x, y, w, b = fresh()
    w.grad = torch.ones(4, 2)
    return [step(x, y, w, b) for _ in range(2)], state(w, b)


def data_trains():
    x, y, w, b = fresh()
    x.requires_grad_()
    return [step(x, y, w, b) for _ in range(2)], state(x, w, b)


def not_contiguous():
    x, y, w, b = fresh()
    x = torch.cat([x, x], 1)[:, ::2]
    w2 = torch.randn(2, 4).t().requires_grad_()
    return [step(x, y, w, b), step(x, y, w2, b)], state(w, w2, b)


def doubles():
    x, y, w, b = fresh(torch.float64)
    return [step(x, y, w, b) for _ in range(2)], state(w, b)


def shared():
    x, y, w, b = fresh()
    both = torch.cat([w.detach().reshape(-1), b.detach()])
    w, b = both[:8].view(4, 2).requires_grad_(), both[8:].requires_grad_()
    twice = step(x, y, w, b)
    return twice, step(x, w[:, :2].detach().repeat(3, 1)[:11], w, b), state(w, b)


def reads_its_parameter():
    x, y, w, b = fresh()
    rows = w.detach()
    return step(rows @ torch.eye(2, 4), rows, w, b), step(w.detach() @ torch.eye(2, 4),
                                                          w.detach(), w, b), state(w, b)


def empty():
    x, y, w, b = fresh()
    return str(step(x[:0], y[:0], w, b)), [str(w), str(b)]


def no_numbers():
    x, y, w, b = fresh()
    x[0, 0] = float("nan")
    y[1, 1] = float("inf")
    return str(step(x, y, w, b)), [str(w), str(b)]


def raises():
    x, y, w, b = fresh()
    found = []
    for wrong in [(x, y[:, :1], w, b), (x.long(), y, w, b), (x, y, w.detach(), b.detach()),
                  (x, y, None, b), (x[:, :3], y, w, b)]:
        try:
            found.append(step(*wrong))
        except Exception as error:
            found.append((type(error).__name__, str(error)))
    with torch.no_grad():
        try:
            step(x, y, w, b)
        except RuntimeError as error:
            found.append(str(error))
    return found, state(w, b)


def modes():
    x, y, w, b = fresh()
    found = []
    with torch.autograd.set_detect_anomaly(True):
        found.append(step(x, y, w, b))
    with torch.autograd.graph.saved_tensors_hooks(lambda t: found.append(1) or t, lambda t: t):
        found.append(step(x, y, w, b))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found.append(step(x, y, w, b))
    with torch.inference_mode():
        z = torch.randn(11, 4)
    try:
        found.append(step(z, y, w, b))
    except RuntimeError as error:
        found.append(str(error))

    class Loud(torch.Tensor):
        pass

    found.append(step(x.as_subclass(Loud), y, w, b))
    return found, state(w, b)


def threads():
    x, y, w, b = fresh()
    before = torch.get_num_threads()
    found = []
    for count in (1, 2, 3):
        torch.set_num_threads(count)
        torch.manual_seed(5)
        w = torch.randn(4, 2, requires_grad=True)
        x, y = torch.randn(5000, 4), torch.randn(5000, 2)
        b = torch.zeros(2, requires_grad=True)
        found.append([step(x, y, w, b) for _ in range(3)])
    torch.set_num_threads(before)
    return found[0] == found[1] == found[2]


def main():
    runs = [plain, keywords, hooked, node_hooked, has_gradient, data_trains, not_contiguous,
            doubles, shared, reads_its_parameter, empty, no_numbers, raises, modes, threads]
    found = {}
    for run in runs:
        torch.manual_seed(1)
        found[run.__name__] = run()
    return found
"""

RUNS = SOURCE.partition("runs = [")[2].partition("]")[0]
NAMES = [name.strip() for name in RUNS.split(",")]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return train(tmp_path_factory.mktemp("guarded"), {"guarded": SOURCE})


@pytest.mark.parametrize("name", NAMES)
def test_guard(guarded: Trained, name: str) -> None:
    assert "guarded.step" in guarded.fused
    assert_close(guarded.native[name], guarded.python[name])
    assert not [text for text in guarded.warnings if text.startswith("ppy")]
