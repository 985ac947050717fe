"""What calls into libraries do beside giving a result.

What nothing here describes is unknown, and whoever calls it is not pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ppybuild.graph.schemas import Operator, installed_schemas


@dataclass(frozen=True, slots=True)
class External:
    """`writes` and `shares` hold places of arguments (the receiver of a method is 0): whose
    contents change, and what the result may share contents with. None: all of them."""

    writes: frozenset[int] | None = frozenset()
    shares: frozenset[int] | None = None
    io: bool = False
    unknown: bool = False


PURE = External()
FRESH = External(shares=frozenset())
WRITES_FIRST = External(writes=frozenset({0}))
WRITES_SECOND = External(writes=frozenset({1}))
IO = External(io=True)
UNKNOWN_CALL = External(writes=None, unknown=True)


def words(text: str) -> list[str]:
    """The words of a table's row."""
    return text.split()


_BUILTINS = frozenset(
    words(
        "abs all any ascii bin bool bytearray bytes callable chr classmethod complex "
        "dict dir divmod enumerate filter float format frozenset getattr hasattr hash "
        "hex id int isinstance issubclass iter len list map max memoryview min object "
        "oct ord pow property range repr reversed round set slice sorted staticmethod "
        "str sum super tuple type vars zip"
    )
)
_PURE_MODULES = frozenset(
    words(
        "math cmath operator itertools functools collections copy statistics fractions "
        "decimal dataclasses typing enum bisect heapq struct textwrap string re json "
        "numbers abc array types ppy"
    )
)
_IO_MODULES = frozenset(
    words(
        "time random os sys secrets datetime uuid logging subprocess socket threading "
        "pathlib shutil tempfile signal io"
    )
)
_FIRST = frozenset(
    words(
        "builtins.next builtins.setattr builtins.delattr heapq.heappush heapq.heappop "
        "heapq.heapify heapq.heapreplace heapq.heappushpop bisect.insort "
        "bisect.insort_left bisect.insort_right operator.setitem operator.delitem "
        "operator.iadd operator.iand operator.iconcat operator.ifloordiv operator.ilshift "
        "operator.imatmul operator.imod operator.imul operator.ior operator.ipow "
        "operator.irshift operator.isub operator.itruediv operator.ixor"
    )
)
_IO_FUNCTIONS = frozenset(
    words(
        "builtins.print builtins.input builtins.open json.dump json.load "
        "decimal.getcontext decimal.setcontext decimal.localcontext"
    )
)

_MUTATORS = {
    "list": "append extend insert remove pop clear sort reverse __setitem__ __delitem__",
    "dict": "update setdefault pop popitem clear __setitem__ __delitem__",
    "set": "add discard remove pop clear update difference_update intersection_update "
    "symmetric_difference_update",
    "array.array": "append extend insert pop remove reverse byteswap fromlist frombytes",
    "bytearray": "append extend insert pop remove reverse clear",
    "collections.deque": "append appendleft extend extendleft pop popleft insert remove "
    "clear rotate reverse",
    "Iterator": "__next__ send throw close",
}
_MUTATING = frozenset(
    f"{owner}.{name}" for owner, names in _MUTATORS.items() for name in names.split()
)
COPYING = frozenset(
    f"builtins.{name}"
    for name in (
        "list",
        "tuple",
        "set",
        "frozenset",
        "dict",
        "sorted",
        "reversed",
        "enumerate",
        "zip",
        "map",
        "filter",
        "bytes",
        "bytearray",
    )
) | frozenset({"array.array", "list.copy", "dict.copy", "set.copy", "dict.keys"})
"""What makes something new of what its arguments hold, and keeps nothing else of them."""

_VALUE_OWNERS = frozenset(
    words(
        "list dict set array.array bytearray collections.deque Iterator Iterable "
        "Sequence Mapping tuple str bytes int float bool complex range frozenset "
        "ppy.Buffer None"
    )
)

_TORCH_PURE = frozenset(
    words(
        "torch.cuda.is_available torch.cuda.device_count torch.is_tensor torch.tensor "
        "torch.as_tensor torch.from_numpy torch.device torch.no_grad torch.enable_grad "
        "torch.inference_mode torch.is_grad_enabled torch.get_default_dtype torch.Size "
        "torch.set_grad_enabled torch.compile torch.einsum torch.Tensor "
        "torch.nn.Parameter torch.nn.parameter.Parameter torch.autograd.grad "
        "torch.finfo torch.iinfo"
    )
)
_TORCH_PURE_METHODS = frozenset(
    words(
        "item tolist size dim ndimension numel nelement element_size is_floating_point "
        "is_complex is_contiguous get_device __len__ type float double half bfloat16 "
        "int long short char byte bool cpu cuda to numpy new_tensor new_zeros new_ones "
        "new_empty new_full stride storage_offset data_ptr dim_order is_pinned"
    )
)
_SHARING_METHODS = frozenset(
    words("numpy type float double half bfloat16 int long short char byte bool cpu cuda to")
)
_PURE_LAYERS = frozenset(
    words(
        "Linear Bilinear ReLU GELU Tanh Sigmoid SiLU ELU LeakyReLU Softplus Softmax "
        "LogSoftmax LayerNorm GroupNorm Conv1d Conv2d Conv3d AvgPool1d AvgPool2d "
        "MaxPool1d MaxPool2d Identity Flatten Unflatten MSELoss L1Loss SmoothL1Loss "
        "HuberLoss CrossEntropyLoss NLLLoss BCELoss BCEWithLogitsLoss"
    )
)
_FUNCTIONAL = "torch.nn.functional."
_RANDOM_FUNCTIONAL = frozenset(
    words(
        "dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout "
        "rrelu gumbel_softmax fractional_max_pool2d fractional_max_pool3d"
    )
)
_STATEFUL_FUNCTIONAL = frozenset({"batch_norm", "instance_norm", "embedding", "embedding_bag"})


def external_effects(name: str) -> External:
    """What calling a library's function or class does, by its canonical name."""
    if name in _FIRST:
        return WRITES_FIRST
    if name == "struct.pack_into":
        return WRITES_SECOND
    if name in _IO_FUNCTIONS:
        return IO
    module, _, base = name.rpartition(".")
    top = name.partition(".")[0]
    if module == "builtins":
        return PURE if base in _BUILTINS or base[:1].isupper() else UNKNOWN_CALL
    if top == "torch":
        return _torch_function(name, base)
    if top in _PURE_MODULES:
        return PURE
    return IO if top in _IO_MODULES else UNKNOWN_CALL


def method_effects(name: str) -> External:
    """What calling a method of a library's type does: `list.append`, `torch.Tensor.add_`."""
    if name in _MUTATING:
        return WRITES_FIRST
    owner, _, method = name.rpartition(".")
    if owner in _VALUE_OWNERS:
        return PURE
    if owner == "torch.Tensor":
        return _tensor_method(method)
    if owner.startswith("torch.optim."):
        return WRITES_FIRST
    if owner.partition(".")[0] in _IO_MODULES or owner.startswith("_io."):
        return External(writes=frozenset({0}), io=True)
    return UNKNOWN_CALL


def layer_effects(name: str) -> External:
    """What calling an object of a library's class does: a layer of `torch.nn`."""
    last = name.rpartition(".")[2]
    known = name.startswith("torch.nn.") and last in _PURE_LAYERS
    return PURE if known else UNKNOWN_CALL


def _torch_function(name: str, base: str) -> External:
    if name in _TORCH_PURE:
        return PURE
    if name.startswith("torch.nn.init."):
        return External(writes=frozenset({0}), io=True)
    if base.startswith(("manual_seed", "seed", "set_", "save", "load", "use_")):
        return IO
    if name.startswith(_FUNCTIONAL):
        if base in _RANDOM_FUNCTIONAL:
            return IO
        if base in _STATEFUL_FUNCTIONAL:
            return External(writes=None)
        found = _operator_effects(base)
        return FRESH if found is None else found
    if name.startswith("torch.optim."):
        return PURE
    if name.startswith("torch.nn."):
        return IO  # layers draw their first weights
    if name.startswith(("torch.utils.", "torch.cuda.")):
        return External(unknown=True)
    found = _operator_effects(_qualified(name, base))
    return External(unknown=True) if found is None else found


def _qualified(name: str, base: str) -> str:
    module = name.removeprefix("torch.").rpartition(".")[0]
    return f"{module}_{base}" if module in ("linalg", "fft", "special") else base


def _tensor_method(name: str) -> External:
    if name in _TORCH_PURE_METHODS:
        return PURE if name in _SHARING_METHODS else FRESH
    if name == "backward":
        return WRITES_FIRST
    found = _operator_effects(name)
    if found is not None:
        return found
    if name.startswith("__") and name.endswith("__"):
        return WRITES_FIRST if name.startswith("__i") and name != "__invert__" else FRESH
    return WRITES_FIRST if name.endswith("_") else UNKNOWN_CALL


@lru_cache(maxsize=4096)
def _operator_effects(name: str) -> External | None:
    """What the overloads of an operator do together; None for no operator.

    `out=` is seen where it is given, so overloads that need it are left out.
    """
    schemas = installed_schemas()
    overloads = [] if schemas is None else schemas.overloads(name)
    plain = [each for each in overloads if not each.has_out]
    if not plain:
        return None
    writes: set[int] = set()
    shares: set[int] = set()
    for operator in plain:
        writes |= {n for n, each in enumerate(operator.arguments) if each.type.writes}
        shares |= _shared(operator)
    return External(frozenset(writes), frozenset(shares), io=any(each.random for each in plain))


def _shared(operator: Operator) -> set[int]:
    marks = {(each.alias or "").rstrip("!") for each in operator.returns} - {""}
    return {
        n
        for n, each in enumerate(operator.arguments)
        if (each.type.alias or "").rstrip("!") in marks and each.type.alias
    }
