"""`ppybuild graph`: the same map in four forms."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = {
    "ppy.toml": '[entry.main]\nmodule = "app.main"\n',
    "app/__init__.py": "",
    "app/sums.py": (
        "from ppy import Buffer\n\n\n"
        "def total(x: Buffer[float]) -> float:\n"
        "    t: float = 0.0\n    for v in x:\n        t += v\n    return t\n"
    ),
    "app/main.py": (
        "import array\n\nfrom app.sums import total\n\n\n"
        'def main() -> None:\n    print(total(array.array("d", [1.0])), "<b>")\n\n\nmain()\n'
    ),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project")
    for name, text in PROGRAM.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    return root


def graph(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ppybuild", "graph", *words]
    return subprocess.run(command, cwd=project, text=True, capture_output=True, check=False)


def test_text_names_what_is_native_and_why_not(project: Path) -> None:
    ran = graph(project)
    assert ran.returncode == 0, ran.stderr
    assert "total:4  native loop" in ran.stdout
    assert "main:6  Python" in ran.stdout
    assert "stays in Python" in ran.stdout
    assert "calls app.sums.total" in ran.stdout


def test_json_holds_the_whole_map(project: Path) -> None:
    found = json.loads(graph(project, "--format", "json").stdout)
    functions = {one["name"]: one for one in found["functions"]}
    assert functions["app.sums.total"]["kind"] == "loop"
    assert functions["app.main.main"]["calls"] == ["app.sums.total"]
    modules = {one["name"]: one for one in found["modules"]}
    assert "app.sums" in modules["app.main"]["imports"]


REGION = {
    "ppy.toml": "[entry.main]\n",
    "model.py": (
        "import torch\n\n\ndef act(x: torch.Tensor) -> torch.Tensor:\n"
        "    return torch.tanh(x)\n"
    ),
    "main.py": (
        "import torch\n\nfrom model import act\n\n\n"
        "def step(x: torch.Tensor, w: torch.Tensor) -> float:\n"
        "    loss = torch.mean(act(torch.matmul(x, w)))\n"
        "    loss.backward()\n"
        "    with torch.no_grad():\n"
        "        w -= 0.1 * w.grad\n"
        "        w.grad = None\n"
        "    return loss.item()\n\n\n"
        "print(step(torch.ones(8, 4), torch.ones(4, 2, requires_grad=True)))\n"
    ),
}


def test_every_form_shows_what_a_region_is(tmp_path: Path) -> None:
    for name, text in REGION.items():
        (tmp_path / name).write_text(text)
    text = graph(tmp_path).stdout
    for said in (
        "training step, fused: one kernel",
        "through model.act (model.py:4)",
        "operators: matmul, tanh, mean",
        "x: float32[batch, 4], read",
        "w: float32[4, 2], trained",
        "gradients are off",
    ):
        assert said in text
    found = json.loads(graph(tmp_path, "--format", "json").stdout)["functions"]
    (region,) = [one["region"] for one in found if one["name"] == "main.step"]
    assert region["kind"] == "training step"
    assert {"name": "w", "what": "float32[4, 2]", "role": "trained"} in region["inputs"]
    assert "float32[4, 2], trained" in graph(tmp_path, "--format", "dot").stdout
    assert "<td>float32[4, 2]<td>trained" in graph(tmp_path, "--format", "page").stdout


@pytest.mark.parametrize("command", ["graph", "explain"])
def test_a_file_that_cannot_be_read_is_said(command: str, tmp_path: Path) -> None:
    (tmp_path / "ppy.toml").write_text("[entry.main]\n")
    (tmp_path / "main.py").write_text("def f() -> int:\n    return 1\n")
    (tmp_path / "broken.py").write_text("def g(:\n")
    words = [command, "main.f"] if command == "explain" else [command]
    ran = subprocess.run(
        [sys.executable, "-m", "ppybuild", *words],
        cwd=tmp_path,
        text=True,
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 1
    assert "error[E1001]" in ran.stderr
    assert ran.stdout == ""


def test_dot_is_a_digraph_of_calls(project: Path) -> None:
    text = graph(project, "--format", "dot").stdout
    assert text.startswith("digraph program {")
    assert '"app.main.main" -> "app.sums.total";' in text
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tsvg"], input=text, text=True, capture_output=True, check=True)


def test_the_page_stands_alone_in_a_browser(project: Path, tmp_path: Path) -> None:
    page = tmp_path / "map.html"
    ran = graph(project, "--format", "page", "-o", str(page))
    assert ran.returncode == 0, ran.stderr
    text = page.read_text()
    assert "src=" not in text
    assert "http" not in text
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("no chromium on this machine")
    command = [
        browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", page.as_uri(),
    ]  # fmt: skip
    shown = subprocess.run(command, text=True, capture_output=True, check=True).stdout
    assert 'href="#app.sums.total"' in shown
    assert 'id="app.sums.total"' in shown


def test_an_output_that_cannot_be_written_is_one_message(project: Path) -> None:
    ran = graph(project, "-o", "/nowhere/map.txt")
    assert ran.returncode == 2
    assert "E2108" in ran.stderr
    assert "Traceback" not in ran.stderr
