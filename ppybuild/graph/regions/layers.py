"""The layers of `torch.nn` that regions hold: a row for each.

nn.LayerNorm(16)    →    settings    normalized_shape (16,), eps 1e-05
                         parameters  weight [16], bias [16]
                         forward     layer_norm(x, normalized_shape, weight, bias, eps)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

from ppybuild.graph.regions.built import Setting
from ppybuild.graph.types import Tensor

DTYPE = "float32"
"""Of a module's parameters, unless the program says otherwise; checked when it runs."""

REQUIRED = "required"
"""Stands for the default of a constructor's parameter that has none."""

Settings = Mapping[str, Setting]
Parameters = tuple[tuple[str, Tensor | None], ...]


def _none(settings: Settings) -> Parameters:
    return ()


@final
@dataclass(frozen=True, slots=True)
class Layer:
    calls: str
    """The function that forward calls with its inputs, and then with what `passes` names."""
    passes: tuple[str, ...] = ()
    """Parameters and settings; a setting by keyword where the function has one of its name."""
    takes: tuple[tuple[str, Setting], ...] = ()
    """The constructor's parameters in order, with their defaults."""
    checked: tuple[str, ...] = ()
    """Settings that the layer keeps as attributes of the same names."""
    held: tuple[tuple[str, Setting], ...] = ()
    """Other attributes, which must be as a plain layer has them."""
    parameters: Callable[[Settings], Parameters] = _none
    widened: tuple[tuple[str, int], ...] = ()
    """Settings that become a tuple of so many where they are one number."""
    follows: tuple[tuple[str, str], ...] = ()
    """Settings that are what another one is where they are None."""
    buffers: Callable[[Settings], Parameters] = _none
    """Tensors that it keeps and does not train."""
    inputs: int = 1
    has_modes: bool = False
    """Whether it does something else in training than in evaluation."""


def _tensor(*shape: int) -> Tensor:
    return Tensor(DTYPE, shape, parameter=True)


def _size(settings: Settings, name: str) -> int:
    found = settings[name]
    assert isinstance(found, int)
    return found


def _sizes(settings: Settings, name: str) -> tuple[int, ...]:
    found = settings[name]
    assert isinstance(found, tuple)
    return found


def _linear(settings: Settings) -> Parameters:
    inner, outer = _size(settings, "in_features"), _size(settings, "out_features")
    bias = _tensor(outer) if settings["bias"] else None
    return (("weight", _tensor(outer, inner)), ("bias", bias))


def _embedding(settings: Settings) -> Parameters:
    shape = (_size(settings, "num_embeddings"), _size(settings, "embedding_dim"))
    return (("weight", _tensor(*shape)),)


def _layer_norm(settings: Settings) -> Parameters:
    shape = _sizes(settings, "normalized_shape")
    affine = settings["elementwise_affine"]
    return (
        ("weight", _tensor(*shape) if affine else None),
        ("bias", _tensor(*shape) if affine and settings["bias"] else None),
    )


def _convolution(settings: Settings) -> Parameters:
    outer = _size(settings, "out_channels")
    inner = _size(settings, "in_channels") // max(_size(settings, "groups"), 1)
    bias = _tensor(outer) if settings["bias"] else None
    return (("weight", _tensor(outer, inner, *_sizes(settings, "kernel_size"))), ("bias", bias))


def _activation(calls: str, **settings: Setting) -> Layer:
    """One that keeps its settings and passes them on."""
    names = tuple(settings)
    return Layer(calls, names, tuple(settings.items()), names)


def _in_place(calls: str) -> Layer:
    """One that may write its result into its input, and must not."""
    return Layer(calls, (), (("inplace", False),), held=(("inplace", False),))


def _loss(calls: str, **settings: Setting) -> Layer:
    names = (*settings, "reduction")
    takes = (*settings.items(), ("reduction", "mean"))
    return Layer(calls, names, takes, names, inputs=2)


def _convolutional(dims: int) -> Layer:
    takes: dict[str, Setting] = {
        "in_channels": REQUIRED,
        "out_channels": REQUIRED,
        "kernel_size": REQUIRED,
        "stride": 1,
        "padding": 0,
        "dilation": 1,
        "groups": 1,
        "bias": True,
    }
    wide = ("kernel_size", "stride", "padding", "dilation")
    return Layer(
        f"torch.conv{dims}d",
        ("weight", "bias", "stride", "padding", "dilation", "groups"),
        tuple(takes.items()),
        ("stride", "padding", "dilation", "groups"),
        (("padding_mode", "zeros"),),
        _convolution,
        tuple((name, dims) for name in wide),
    )


def _pool(calls: str, more: Mapping[str, Setting], *, wide: bool = False) -> Layer:
    """Windows; `more`: settings after the padding. `wide`: whether sizes become tuples."""
    sizes = ("kernel_size", "stride", "padding")
    takes = {"kernel_size": REQUIRED, "stride": None, "padding": 0, **more}
    passed = tuple(name for name in takes if name != "return_indices")
    return Layer(
        calls,
        passed,
        tuple(takes.items()),
        passed,
        (("return_indices", False),) if "return_indices" in takes else (),
        widened=tuple((size, 1) for size in sizes) if wide else (),
        follows=(("stride", "kernel_size"),),
    )


def _batch_norm() -> Layer:
    takes: dict[str, Setting] = {
        "num_features": REQUIRED,
        "eps": 1e-5,
        "momentum": 0.1,
        "affine": True,
        "track_running_stats": True,
    }
    return Layer(
        BATCH_NORM,
        (),
        tuple(takes.items()),
        ("eps", "momentum"),
        (("track_running_stats", True),),
        _scale_and_shift,
        buffers=_running,
        has_modes=True,
    )


def _scale_and_shift(settings: Settings) -> Parameters:
    one = _tensor(_size(settings, "num_features")) if settings["affine"] else None
    return (("weight", one), ("bias", one))


def _running(settings: Settings) -> Parameters:
    """Statistics of the batches so far, and how many there were."""
    features = Tensor(DTYPE, (_size(settings, "num_features"),))
    count = Tensor("int64", ())
    return (
        ("running_mean", features),
        ("running_var", features),
        ("num_batches_tracked", count),
    )


FUNCTIONAL = "torch.nn.functional"

BATCH_NORM = "torch.batch_norm"
"""What writes the layer's buffers too; see `updates.py`."""

_MAXIMUM: Mapping[str, Setting] = {"dilation": 1, "return_indices": False, "ceil_mode": False}
_MEAN: Mapping[str, Setting] = {"ceil_mode": False, "count_include_pad": True}

_LAYERS: Mapping[str, Layer] = {
    "Linear": Layer(
        f"{FUNCTIONAL}.linear",
        ("weight", "bias"),
        (("in_features", REQUIRED), ("out_features", REQUIRED), ("bias", True)),
        parameters=_linear,
    ),
    "Embedding": Layer(
        f"{FUNCTIONAL}.embedding",
        ("weight",),
        (("num_embeddings", REQUIRED), ("embedding_dim", REQUIRED)),
        held=(
            ("padding_idx", None),
            ("max_norm", None),
            ("scale_grad_by_freq", False),
            ("sparse", False),
        ),
        parameters=_embedding,
    ),
    "LayerNorm": Layer(
        f"{FUNCTIONAL}.layer_norm",
        ("normalized_shape", "weight", "bias", "eps"),
        (
            ("normalized_shape", REQUIRED),
            ("eps", 1e-5),
            ("elementwise_affine", True),
            ("bias", True),
        ),
        ("normalized_shape", "eps"),
        parameters=_layer_norm,
        widened=(("normalized_shape", 1),),
    ),
    "Conv1d": _convolutional(1),
    "Conv2d": _convolutional(2),
    "BatchNorm1d": _batch_norm(),
    "BatchNorm2d": _batch_norm(),
    "MaxPool1d": _pool("torch.max_pool1d", _MAXIMUM),
    "MaxPool2d": _pool("torch.max_pool2d", _MAXIMUM),
    "AvgPool1d": _pool("torch.avg_pool1d", _MEAN, wide=True),
    "AvgPool2d": _pool(f"{FUNCTIONAL}.avg_pool2d", {**_MEAN, "divisor_override": None}),
    "AdaptiveAvgPool2d": Layer(
        "torch._C._nn.adaptive_avg_pool2d",
        ("output_size",),
        (("output_size", REQUIRED),),
        ("output_size",),
    ),
    "Dropout": Layer(
        f"{FUNCTIONAL}.dropout",
        ("p",),
        (("p", 0.5),),
        ("p",),
        (("inplace", False),),
        has_modes=True,
    ),
    "Flatten": Layer(
        "torch.flatten",
        ("start_dim", "end_dim"),
        (("start_dim", 1), ("end_dim", -1)),
        ("start_dim", "end_dim"),
    ),
    "ReLU": _in_place("torch.relu"),
    "SiLU": _in_place(f"{FUNCTIONAL}.silu"),
    "SELU": _in_place(f"{FUNCTIONAL}.selu"),
    "ReLU6": _in_place(f"{FUNCTIONAL}.relu6"),
    "Mish": _in_place(f"{FUNCTIONAL}.mish"),
    "Hardswish": _in_place(f"{FUNCTIONAL}.hardswish"),
    "LogSigmoid": Layer(f"{FUNCTIONAL}.logsigmoid"),
    "Tanh": Layer("torch.tanh"),
    "Sigmoid": Layer("torch.sigmoid"),
    "GELU": _activation(f"{FUNCTIONAL}.gelu", approximate="none"),
    "LeakyReLU": _activation(f"{FUNCTIONAL}.leaky_relu", negative_slope=0.01, inplace=False),
    "ELU": _activation(f"{FUNCTIONAL}.elu", alpha=1.0, inplace=False),
    "Softplus": _activation(f"{FUNCTIONAL}.softplus", beta=1.0, threshold=20.0),
    "Softmax": _activation(f"{FUNCTIONAL}.softmax", dim=REQUIRED),
    "LogSoftmax": _activation(f"{FUNCTIONAL}.log_softmax", dim=REQUIRED),
    "MSELoss": _loss(f"{FUNCTIONAL}.mse_loss"),
    "L1Loss": _loss(f"{FUNCTIONAL}.l1_loss"),
    "SmoothL1Loss": _loss(f"{FUNCTIONAL}.smooth_l1_loss", beta=1.0),
    "BCELoss": _loss(f"{FUNCTIONAL}.binary_cross_entropy"),
    "BCEWithLogitsLoss": _loss(f"{FUNCTIONAL}.binary_cross_entropy_with_logits"),
    "NLLLoss": _loss(f"{FUNCTIONAL}.nll_loss", ignore_index=-100),
    "CrossEntropyLoss": _loss(
        f"{FUNCTIONAL}.cross_entropy", ignore_index=-100, label_smoothing=0.0
    ),
}

LAYERS: Mapping[str, Layer] = {f"torch.nn.{name}": layer for name, layer in _LAYERS.items()}

SEQUENTIAL = "torch.nn.Sequential"
MODULE_LIST = "torch.nn.ModuleList"
IDENTITY = "torch.nn.Identity"
