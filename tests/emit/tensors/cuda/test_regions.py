"""Whole regions and steps on a GPU, for which the processor and a fake driver stand in."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.emit.tensors.building import has_compiler
from tests.emit.tensors.cuda.host import fake_driver
from tests.emit.tensors.training import assert_close, train

pytestmark = pytest.mark.skipif(not has_compiler(), reason="no compiler")

PROGRAM = """
import torch
import torch.nn.functional as F

def forward(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.tanh(torch.add(torch.matmul(x, w), b))

def loss_of(x: torch.Tensor, y: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(forward(x, w, b), y)

def train_step(x: torch.Tensor, y: torch.Tensor, params: list[torch.Tensor],
               rate: float) -> float:
    loss = loss_of(x, y, params[0], params[1])
    loss.backward()
    with torch.no_grad():
        for parameter in params:
            gradient = parameter.grad
            if gradient is None:
                continue
            parameter -= rate * gradient
            parameter.grad = None
    return loss.item()

def main():
    x, y = torch.randn(100, 8), torch.randint(3, (100,))
    params = [torch.randn(8, 3, requires_grad=True), torch.zeros(3, requires_grad=True)]
    losses = [train_step(x, y, params, 0.01) for _ in range(5)]
    losses += [train_step(x[:n], y[:n], params, 0.02) for n in (1, 7, 64)]
    with torch.no_grad():
        ends = [forward(x, *params) for _ in range(3)]
    return losses, ends, [(p.detach(), p.grad is None, p._version) for p in params]
"""


def test_a_step_and_a_forward_pass(tmp_path: Path) -> None:
    driver = fake_driver()
    driver.fake_clear()
    done = train(tmp_path, {"program": PROGRAM}, gpu=True)
    assert {"program.train_step", "program.forward"} <= done.fused
    assert_close(done.native, done.python)
    assert done.warnings == ()
    log = driver.fake_log().decode()
    assert "on 0x100" in log  # torch's own stream
    assert log.count("cuGraphLaunch") >= 7


@pytest.mark.parametrize(
    ("function", "code", "said"),
    [
        ("cuModuleLoadData", 209, "no code for this card"),
        ("cuModuleLoadData", 222, "install a newer driver"),
    ],
)
def test_python_runs_where_no_kernel_can(
    function: str, code: int, said: str, tmp_path: Path
) -> None:
    fake_driver().fake_fail(function.encode(), code, 0)
    done = train(tmp_path, {"program": PROGRAM}, gpu=True)
    assert_close(done.native, done.python)
    assert len(done.warnings) == 1
    assert said in done.warnings[0]


def test_rounded_products_are_no_difference(tmp_path: Path) -> None:
    wide = PROGRAM.replace("8, 3", "8, 9").replace("zeros(3", "zeros(9")
    setting = "def main():\n    torch.backends.cuda.matmul.allow_tf32 = {}\n"
    found = {}
    try:
        for allowed in (True, False):
            text = wide.replace("def main():\n", setting.format(allowed))
            done = train(tmp_path / str(allowed), {"program": text}, gpu=True)
            assert done.warnings == ()
            found[allowed] = torch.tensor(done.native[0])
            torch.testing.assert_close(
                found[allowed], torch.tensor(done.python[0]), rtol=0, atol=1e-2
            )
    finally:
        torch.backends.cuda.matmul.allow_tf32 = False
    assert not torch.equal(found[True], found[False])


def test_a_bad_target_ends_the_work_on_the_card(tmp_path: Path) -> None:
    """As PyTorch's own assertion does there: nobody waits for the card to find it."""
    bad = PROGRAM.replace(
        "    with torch.no_grad():\n        ends",
        "    bad = y.clone()\n    bad[3] = 3\n"
        "    try:\n        train_step(x, bad, params, 0.01)\n"
        "        train_step(x, y, params, 0.01)\n"
        "    except (IndexError, RuntimeError) as error:\n        return str(error)\n"
        "    with torch.no_grad():\n        ends",
    )
    done = train(tmp_path, {"program": bad}, gpu=True)
    assert fake_driver().fake_asserted()
    assert "device-side assert triggered" in done.native
    fake_driver().fake_fail(b"", 0, 0)


FAULT = """
import torch

def forward(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.tanh(torch.matmul(x, w))

def main():
    x, w = torch.randn(10, 8), torch.randn(8, 3)
    with torch.no_grad():
        try:
            return forward(x, w)
        except (torch.OutOfMemoryError, RuntimeError) as error:
            return type(error).__name__, str(error)
"""


@pytest.mark.parametrize(
    ("code", "kind", "said"),
    [(2, "OutOfMemoryError", "out of memory"), (700, "RuntimeError", "illegal memory access")],
)
def test_a_fault_of_the_card_is_an_exception(
    code: int, kind: str, said: str, tmp_path: Path
) -> None:
    fake_driver().fake_fail(b"cuLaunchKernel", code, 0)
    done = train(tmp_path, {"program": FAULT}, gpu=True)
    assert done.native[0] == kind
    assert said in done.native[1]
