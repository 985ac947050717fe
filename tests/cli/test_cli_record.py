"""`ppybuild run --record`, and what the next build makes of it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from ppybuild.cli.recorder import write_shapes
from ppybuild.diagnostics import Failure
from ppybuild.graph.shapes import RecordedTensor, read_shapes

PROGRAM = {
    "ppy.toml": '[entry.main]\nmodule = "app.main"\nargs = ["7"]\n',
    "app/__init__.py": "",
    "app/model.ppy": (
        "import torch\n\n\n"
        "def loss_of(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:\n"
        "    return torch.mean(torch.tanh(torch.matmul(x, w)))\n"
    ),
    "app/main.ppy": (
        "import json\nimport sys\n\nimport torch\n\n"
        "import ppy\nfrom app.model import loss_of\n\n\n"
        "def main() -> None:\n"
        '    sizes = json.loads("[4, 3]")\n'
        "    w = torch.ones(*sizes)\n"
        "    with torch.no_grad():\n"
        "        for rows in (5, int(sys.argv[1])):\n"
        "            print(round(loss_of(torch.ones(rows, sizes[0]), w).item(), 4))\n"
        "    sys.exit(3)\n\n\n"
        'if __name__ == "__main__":\n    main()\n'
    ),
}


def ppybuild(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ppybuild", *words]
    return subprocess.run(command, cwd=folder, text=True, capture_output=True, check=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in PROGRAM.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_recorded_shapes_make_a_region_fused(project: Path) -> None:
    before = ppybuild(project, "explain", "loss_of").stdout
    assert "the fused form does not hold" in before
    ran = ppybuild(project, "run", "main", "--record")
    assert ran.returncode == 3, ran.stderr
    assert len(ran.stdout.split()) == 2
    written = tomllib.loads((project / "ppy.shapes.toml").read_text())
    assert written == {"app.model.loss_of": {"x": "float32[*, 4]", "w": "float32[4, 3]"}}
    after = ppybuild(project, "explain", "loss_of").stdout
    assert "fused: one kernel" in after
    assert "x: float32[batch, 4], read" in after
    assert not (project / "build").exists()


CONFIGURED = """
import json

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, inner: int, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(inner, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, x):
        return self.layers(x)


def main():
    config = json.loads('{"inner": 3, "width": 5}')
    model = Net(config["inner"], config["width"])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    table = torch.tensor(json.loads(json.dumps([[0.5, 1.0, -2.0, 0.25]] * 10)))
    for start in (0, 4, 8):
        x, y = table[start : start + 4].split([3, 1], dim=1)
        x, y = x.clone(), y.clone()
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        inputs = table[:, :3].clone()
        found = model(inputs)
    print(found.shape)


main()
"""


def test_recorded_variables_make_fragments_fused(tmp_path: Path) -> None:
    (tmp_path / "ppy.toml").write_text('[entry.main]\nmodule = "main"\n')
    (tmp_path / "main.py").write_text(CONFIGURED)
    before = ppybuild(tmp_path, "explain", "main.main").stdout
    assert "one kernel" not in before
    assert ppybuild(tmp_path, "run", "main", "--record").returncode == 0
    written = tomllib.loads((tmp_path / "ppy.shapes.toml").read_text())
    assert written["main.Net.__init__"] == {"inner": 3, "width": 5}
    variables = written["main.main"]
    assert (variables["x"], variables["y"]) == ("float32[*, 3]", "float32[*, 1]")
    after = ppybuild(tmp_path, "explain", "main.main").stdout
    assert "training step, fused: one kernel" in after
    assert "forward pass, fused: one kernel" in after


def test_what_another_run_recorded_stays(tmp_path: Path) -> None:
    path = tmp_path / "ppy.shapes.toml"
    one = {"m.f": {"x": RecordedTensor("float32", (None, 2), trained=False)}}
    two = {"m.g": {"p": (RecordedTensor("float64", (), trained=True),)}}
    write_shapes(path, one)
    write_shapes(path, two)
    assert read_shapes(tmp_path) == {**one, **two}
    first = path.read_bytes()
    write_shapes(path, one)
    assert path.read_bytes() == first


BROKEN = {
    "no TOML": "[",
    "no table": "f = 1",
    "no tensor": '["f"]\nx = "float32[2"',
    "no size": '["f"]\nx = "float32[n]"',
    "no text": '["f"]\nx = 3.5',
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_is_not_in_its_form(name: str, tmp_path: Path) -> None:
    (tmp_path / "ppy.shapes.toml").write_text(BROKEN[name])
    with pytest.raises(Failure) as caught:
        read_shapes(tmp_path)
    assert [one.code for one in caught.value.diagnostics] == ["E2112"]


def test_several_processes_are_refused(project: Path) -> None:
    done = ppybuild(project, "run", "main", "--record", "--nproc", "2")
    assert done.returncode == 2
    assert "--nproc" in done.stderr
