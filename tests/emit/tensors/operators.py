"""Python functions that call one operator each, made from torch's schemas."""

from __future__ import annotations

import keyword
from collections.abc import Iterator
from dataclasses import dataclass

from ppybuild.graph.schemas import Argument, Operator
from ppybuild.graph.schemas.names import Torch

# Uninitialised results, results that are not tensors, and what is not for programs.
SKIPPED = (
    "empty",
    "sparse",
    "quantiz",
    "fbgemm",
    "cudnn",
    "miopen",
    "mkldnn",
    "resize",
    "fake_",
    "fused",
    "nested",
    "rename",
    "align",
    "from_file",
    "sym_",
    "q_",
    "int_repr",
    "cudart",
    "detach",
    "_backward",
    "rnn",
    "lstm",
    "gru",
    "dequantize",
    "pin_memory",
    "ctc",
    "batch_norm_",
    "max_pool",
    "unsafe",
    "isin",
    "complex",
    "polar",
)


@dataclass(frozen=True)
class Sample:
    name: str
    operator: Operator
    source: str
    tensors: int


def samples(torch: Torch) -> Iterator[Sample]:
    """A function for each overload that `torch.f` or `x.f` reaches with made-up arguments."""
    for name in torch.schemas.names():
        if name.startswith("_") or any(word in name for word in SKIPPED):
            continue
        for operator in torch.function(f"torch.{name}"):
            if not operator.mutates:
                yield from _made(operator, f"torch.{name}", method=False)
        for operator in torch.method(name):
            if not operator.mutates:
                yield from _made(operator, name, method=True)


def _made(operator: Operator, spelled: str, *, method: bool) -> Iterator[Sample]:
    if not operator.returns or any(str(type) != "Tensor" for type in operator.returns):
        return
    if keyword.iskeyword(operator.name):
        return
    tensors: list[str] = []
    texts: list[str] = []
    for argument in operator.arguments:
        text = _argument(argument, tensors)
        if text is None:
            if argument.default is None:
                return
            continue
        if argument.keyword_only or argument.default is not None:
            text = f"{argument.name}={text}"
        if method and argument.name == "self":
            receiver = text
            continue
        texts.append(text)
    if not tensors:
        return
    name = f"{'m' if method else 'f'}_{operator.name}_{operator.overload}".rstrip("_")
    call = f"{receiver}.{spelled}" if method else spelled
    parameters = ", ".join(f"{tensor}: torch.Tensor" for tensor in tensors)
    call = f"{call}({', '.join(texts)})"
    if len(operator.returns) > 1:
        items = ", ".join(f"r{i}" for i in range(len(operator.returns)))
        body = f"    {items} = {call}\n    return {items}\n"
    else:
        body = f"    return {call}\n"
    source = f"def {name}({parameters}) -> torch.Tensor:\n{body}\n"
    yield Sample(name, operator, source, len(tensors))


VALUES = {
    "Scalar": "2",
    "int": "1",
    "SymInt": "1",
    "float": "0.5",
    "bool": "True",
}


def _argument(argument: Argument, tensors: list[str]) -> str | None:
    """The text of an argument; None where its default will do."""
    type = argument.type
    if argument.default is not None and not (
        type.base == "bool" and argument.name == "keepdim"
    ):
        return None
    if type.base == "Tensor" and not type.is_list:
        tensors.append(f"t{len(tensors)}")
        return tensors[-1]
    if type.base == "Tensor" and not type.item_optional:
        tensors += [f"t{len(tensors)}", f"t{len(tensors) + 1}"]
        return f"[{tensors[-2]}, {tensors[-1]}]"
    if type.base == "ScalarType":
        return "torch.float64"
    if type.base not in VALUES:
        return None
    if type.is_list:
        return f"[{', '.join([VALUES[type.base]] * (type.size or 2))}]"
    return VALUES[type.base]
