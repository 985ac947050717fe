"""Steps that take rows of a larger tensor themselves, over several epochs."""

from __future__ import annotations

import pytest

from tests.emit.tensors.building import has_compiler
from tests.emit.tensors.training import Trained, assert_close, assert_same, train

pytestmark = pytest.mark.skipif(not has_compiler(), reason="needs g++")

STEP = """

def {name}(
    model: nn.Sequential, optimizer: torch.optim.Adam,
    x: torch.Tensor, y: torch.Tensor, rows: torch.Tensor,
) -> float:
    optimizer.zero_grad()
    loss = F.mse_loss(model({x}), {y})
    loss.backward()
    optimizer.step()
    return loss.item()


def run_{name}():
    torch.manual_seed(2)
    x, y = torch.randn(300, 40), torch.randn(300, 3)
    model = nn.Sequential(nn.Linear(40, 300), nn.GELU(), nn.LayerNorm(300), nn.Linear(300, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(3):
        for rows in torch.randperm(300).split(64):
            losses.append({name}(model, optimizer, x, y, rows))
    with torch.autograd.profiler.profile() as seen:
        losses.append({name}(model, optimizer, x, y, torch.tensor([7, 7, 0, 299])))
    graph = [e.name for e in seen.function_events if "Backward" in e.name]
    before = [p.detach().clone() for p in model.parameters()]
    error = None
    try:
        {name}(model, optimizer, x, y, torch.tensor([3, 300]))
    except IndexError as raised:
        error = str(raised)
    after = [p.detach().clone() for p in model.parameters()]
    return losses, (before, after), error, len(graph)
"""
SOURCE = (
    "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
    + STEP.format(name="selected", x="x.index_select(0, rows)", y="y.index_select(0, rows)")
    + STEP.format(name="indexed", x="x[rows]", y="y[rows]")
    + """

def main():
    return {"selected": run_selected(), "indexed": run_indexed()}
"""
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return train(tmp_path_factory.mktemp("rows"), {"rows": SOURCE})


@pytest.mark.parametrize("name", ["selected", "indexed"])
def test_rows(trained: Trained, name: str) -> None:
    assert trained.warnings == ()
    losses, (before, after), error, graph = trained.native[name]
    wanted = trained.python[name]
    assert_close((losses, before), (wanted[0], wanted[1][0]))
    assert_same(after, before)
    assert error is not None
    assert error == wanted[2]
    assert wanted[3] > 0
    if name == "indexed":
        assert graph == 0, "the step ran natively"


def test_a_selection_is_held_by_the_staged_form(trained: Trained) -> None:
    assert "rows.selected" in trained.staged
