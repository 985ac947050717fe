"""Constants of modules that a region takes for their values are listed, to be compared."""

from __future__ import annotations

from pathlib import Path

from ppybuild.graph.analyse import analyse
from ppybuild.graph.load import read_sources
from ppybuild.graph.regions import Region, discover
from ppybuild.graph.regions.records import Held

CONFIG = "SCALE = 2.0\nSHIFT = 1\nKIND = 'mean'\n"


def region_of(folder: Path, body: str) -> list[Region]:
    (folder / "config.py").write_text(CONFIG)
    (folder / "main.py").write_text(
        f"import torch\nimport config\nfrom config import SHIFT\n\n\n{body}"
    )
    return list(discover(analyse(read_sources([folder], []))).regions)


def test_paths_are_as_written(tmp_path: Path) -> None:
    body = "def f(x: torch.Tensor) -> torch.Tensor:\n    return x * config.SCALE + SHIFT\n"
    [region] = region_of(tmp_path, body)
    assert region.constants == (Held("config.SCALE", 2.0), Held("SHIFT", 1))


def test_paths_go_through_the_functions_looked_through(tmp_path: Path) -> None:
    body = (
        "def g(x: torch.Tensor) -> torch.Tensor:\n    return x * config.SCALE\n\n\n"
        "def f(x: torch.Tensor) -> torch.Tensor:\n    return g(x) + 1.0\n"
    )
    found = {region.function: region for region in region_of(tmp_path, body)}
    assert found["main.f"].constants == (Held("g:config.SCALE", 2.0),)


def test_text_from_a_module_is_not_taken(tmp_path: Path) -> None:
    body = (
        "def f(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:\n"
        "    return torch.nn.functional.mse_loss(x, y, reduction=config.KIND)\n"
    )
    assert region_of(tmp_path, body) == []
