"""Shapes of indexed tensors, against torch."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import torch

from ppybuild.graph.analyse import analyse
from ppybuild.graph.load import read_sources
from ppybuild.graph.types import Tensor

START = """import torch
n = 3
x = torch.randn(6, 5, 4)
order = torch.tensor([3, 1])
pairs = torch.tensor([[3, 1], [0, 2], [1, 1]])
"""
EXPRESSIONS = (
    "x[0]",
    "x[-1, 2]",
    "x[n - 1 : n]",
    "x[:, n - 2 : n + 20]",
    "x[:, ::2, -3:]",
    "x[::-1 + 3]",
    "x[None]",
    "x[..., 0]",
    "x[..., None]",
    "x[0, ..., 1:]",
    "x[:, None, 2]",
    "x[order]",
    "x[:, order]",
    "x[:, pairs, 1:3]",
    "x[pairs]",
    "x[[0, 2, 4]]",
    "x[:, [1, 1]]",
    "x[x > 0]",
    "x[:, x[0] > 0]",
    "x[order, order]",
    "x[0, :, order]",
    "x[..., order]",
    "torch.cat([x, x[:2]])",
    "torch.stack([x, x], -1)",
    "x.flatten(1)",
    "x.flatten(0, 1)",
    "torch.flatten(x, start_dim=1, end_dim=-1)",
    "x[1:].reshape(-1, 2)",
    "torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])[:, 1:]",
)


@pytest.fixture(scope="module")
def inferred(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Tensor]:
    folder = tmp_path_factory.mktemp("indexing")
    lines = [f"r{i} = {text}" for i, text in enumerate(EXPRESSIONS)]
    (folder / "program.py").write_text(START + "\n".join(lines) + "\n", "utf-8")
    facts = analyse(read_sources([folder]))
    found: dict[str, Tensor] = {}
    for statement in facts.program.modules["program"].tree.body[5:]:
        assert isinstance(statement, ast.Assign)
        type = facts.types[statement.value]
        assert isinstance(type, Tensor)
        found[ast.unparse(statement.value)] = type
    return found


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_shape(inferred: dict[str, Tensor], text: str) -> None:
    space: dict[str, object] = {"torch": torch}
    exec(START, space)
    made = eval(text, space)
    assert isinstance(made, torch.Tensor)
    found = inferred[ast.unparse(ast.parse(text, mode="eval").body)]
    assert found.dtype == str(made.dtype).removeprefix("torch.")
    if text in ("x[order, order]", "x[0, :, order]"):
        assert found.shape is None
        return
    assert found.shape is not None
    assert len(found.shape) == made.dim()
    pairs = zip(found.shape, made.shape, strict=True)
    assert all(size in ("?", real) for size, real in pairs), (found.shape, made.shape)


def test_known_sizes(inferred: dict[str, Tensor]) -> None:
    """What only the numbers in a tensor decide is not, nor what differs within a list."""
    unknown = {text for text, type in inferred.items() if type.shape and "?" in type.shape}
    assert unknown == {"x[x > 0]", "x[:, x[0] > 0]", "torch.cat([x, x[:2]])"}


def test_slices_by_a_variable(tmp_path: Path) -> None:
    text = """import torch
def rows(x, start: int) -> None:
    part = x[start : start + 8]
    both = torch.cat([part, part])
    flat = part.reshape(-1, 2)
rows(torch.zeros(20, 6), 4)
rows(torch.zeros(20, 6), 8)
"""
    (tmp_path / "program.py").write_text(text, "utf-8")
    found = analyse(read_sources([tmp_path])).locals["program.rows"]
    shapes = {name: found[name].shape for name in ("part", "both", "flat")}  # type: ignore[union-attr]
    assert shapes == {"part": ("?", 6), "both": ("?", 6), "flat": ("?", 2)}
