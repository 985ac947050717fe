"""Which overload a call reaches, and that nothing is guessed."""

from __future__ import annotations

import pytest

from ppybuild.graph.schemas import Given, Match, Mismatch, match
from ppybuild.graph.schemas.match import NUMBERS_AS_TENSORS, literal
from ppybuild.graph.schemas.names import Torch, installed_torch

torch = pytest.importorskip("torch")

TENSOR = Given("tensor", payload=0)
INT = Given("int", payload=1)


@pytest.fixture(scope="module")
def names() -> Torch:
    found = installed_torch()
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "positional", "keywords", "operator"),
    [
        ("add", [TENSOR, TENSOR], {}, "aten::add.Tensor"),
        ("add", [TENSOR, literal(2.5)], {"alpha": literal(2)}, "aten::add.Tensor"),
        ("eq", [TENSOR, literal(1)], {}, "aten::eq.Scalar"),
        ("max", [TENSOR, literal(1)], {}, "aten::max.dim"),
        ("max", [TENSOR, TENSOR], {}, "aten::max.other"),
        (
            "sum",
            [TENSOR],
            {"axis": literal(0), "keepdims": literal(True)},
            "aten::sum.dim_IntList",
        ),
        ("std", [TENSOR, literal(1)], {}, "aten::std.dim"),
        ("pow", [literal(2), TENSOR], {}, "aten::pow.Scalar"),
        ("mul", [TENSOR, literal([1])], {}, None),
        ("clamp", [TENSOR, TENSOR, literal(1)], {}, None),
        ("softmax", [TENSOR, literal(0.5)], {}, None),
        ("sum", [TENSOR], {"nothing": literal(0)}, None),
        ("add", [TENSOR], {"input": TENSOR, "other": TENSOR}, None),
        ("full", [literal([2]), TENSOR], {}, None),
        ("add", [TENSOR, literal(1), TENSOR], {}, None),  # deprecated: alpha in the middle
    ],
)
def test_functions(
    names: Torch,
    name: str,
    positional: list[Given],
    keywords: dict[str, Given],
    operator: str | None,
) -> None:
    found = match(names.function(f"torch.{name}"), positional, keywords)
    assert (found.operator.qualified if isinstance(found, Match) else None) == operator
    assert isinstance(found, Match | Mismatch)


def test_arguments_stand_in_the_schemas_order(names: Torch) -> None:
    found = match(
        names.function("torch.conv2d"), [TENSOR, TENSOR], {"padding": INT, "stride": literal(2)}
    )
    assert isinstance(found, Match)
    bias, stride, padding, dilation, groups = found.arguments[2:]
    assert bias == literal(None)
    assert stride == literal([2, 2])
    assert padding.items == (INT, INT)
    assert dilation == literal([1, 1])
    assert groups == literal(1)


def test_sizes_may_be_spread(names: Torch) -> None:
    for positional in ([literal(2), literal(-1)], [literal([2, -1])]):
        found = match(names.method("view"), positional, {}, receiver=TENSOR)
        assert isinstance(found, Match)
        assert found.arguments == (TENSOR, literal([2, -1]))


def test_numbers_as_tensors_is_what_torch_does(names: Torch) -> None:
    """A number where only a tensor is declared: the table against the bindings."""
    x = torch.ones(2)
    for name in sorted(NUMBERS_AS_TENSORS):
        assert isinstance(getattr(x.clone(), name)(2.0), torch.Tensor)
    for name in ("atan2", "matmul", "maximum", "logaddexp", "dot", "hypot", "dist"):
        with pytest.raises(TypeError):
            getattr(x, name)(2.0)
        assert isinstance(
            match(names.method(name), [literal(2.0)], {}, receiver=TENSOR), Mismatch
        )


def test_what_torch_hides_is_not_reached(names: Torch) -> None:
    assert names.function("torch.unique_dim") == ()
    assert names.method("to") == ()
    assert names.function("torch.norm") == ()
    assert names.source("torch.norm") is not None
    assert names.function("torch.no_such_thing") == ()
    for function in ("relu", "gelu", "linear", "cross_entropy", "layer_norm"):
        name = f"torch.nn.functional.{function}"
        assert bool(names.function(name)) != (names.source(name) is not None), name
