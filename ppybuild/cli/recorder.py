"""Runs a program as `python` would, and writes down the tensors that its functions get, those
that variables hold where a module is called or a backward pass begins, and what sizes modules
are made with.

    python -m ppybuild.cli.recorder FILE ROOT[:ROOT...] MODULE [ARGUMENT...]

It stands in for `python -m MODULE`: arguments, output and exit status are the program's.
"""

from __future__ import annotations

import atexit
import os
import runpy
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import tomli_w

import ppy  # noqa: F401  for its importer of `.ppy` modules
from ppybuild.graph.shapes import Recorded, RecordedTensor, read_shapes

MOST_ITEMS = 64
"""Tensors of a list; longer ones are data, not parameters."""


class Recorder:
    """What functions below `roots` were given, as far as it is the same in every call."""

    def __init__(self, roots: list[str]) -> None:
        self._roots = roots
        self._names: dict[CodeType, str | None] = {}
        self.seen: dict[str, dict[str, Recorded | None]] = {}
        """None for a parameter whose calls have nothing in common."""

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """As `sys.setprofile` calls it."""
        torch = sys.modules.get("torch")
        # while torch is imported it is there, without what is asked of it below: `compile` is
        # among the last things that it defines
        if event != "call" or torch is None or not hasattr(torch, "compile"):
            return
        code = frame.f_code
        if code in (torch.Tensor.backward.__code__, torch.nn.Module.__call__.__code__):
            self._variables(torch, frame.f_back)
            return
        name = self._named(code)
        if name is None:
            return
        given = frame.f_locals
        sized = code.co_name == "__init__" and _is_module(torch, given)
        for parameter in _parameters(code):
            self._note(torch, name, parameter, given.get(parameter), sized)

    def _variables(self, torch: Any, frame: FrameType | None) -> None:
        """What is bound in the code that calls there, beside its parameters."""
        name = self._named(frame.f_code) if frame is not None else None
        if frame is None or name is None:
            return
        known = frozenset(_parameters(frame.f_code))
        for variable, value in [*frame.f_locals.items()]:
            if variable not in known and not variable.startswith("_"):
                self._note(torch, name, variable, value, sized=False)

    def _note(self, torch: Any, name: str, variable: str, value: object, sized: bool) -> None:
        found = self.seen.setdefault(name, {})
        now = _recorded(torch, value)
        if now is None and sized and type(value) is int:
            now = value
        if now is not None or variable in found:
            before = found.get(variable, now)
            found[variable] = None if now is None else _joined(before, now)

    def _named(self, code: CodeType) -> str | None:
        return self._names[code] if code in self._names else self._name(code)

    def _name(self, code: CodeType) -> str | None:
        """`app.model.Net.forward`, `app.model`; None for code that is not the program's."""
        path = code.co_filename
        root = next((one for one in self._roots if path.startswith(one + os.sep)), None)
        name = None
        if root is not None and (code.co_name == "<module>" or code.co_name[0] != "<"):
            parts = Path(path).relative_to(root).with_suffix("").parts
            module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            name = f"{module}.{code.co_qualname}".removesuffix(".<module>")
        self._names[code] = name
        return name

    def tables(self) -> dict[str, dict[str, Recorded]]:
        kept = {
            function: {name: one for name, one in found.items() if one is not None}
            for function, found in sorted(self.seen.items())
        }
        return {function: found for function, found in kept.items() if found}


def _parameters(code: CodeType) -> tuple[str, ...]:
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _is_module(torch: Any, given: Mapping[str, Any]) -> bool:
    return isinstance(given.get("self"), torch.nn.Module)


def _recorded(torch: Any, value: object) -> Recorded | None:
    if isinstance(value, torch.Tensor):
        return _tensor(torch, value)
    if isinstance(value, list | tuple) and 0 < len(value) <= MOST_ITEMS:
        items = [_tensor(torch, one) for one in value if isinstance(one, torch.Tensor)]
        known = tuple(one for one in items if one is not None)
        return known if len(known) == len(value) else None
    return None


def _tensor(torch: Any, value: Any) -> RecordedTensor | None:
    if type(value) not in (torch.Tensor, torch.nn.Parameter):
        return None
    dtype = str(value.dtype).removeprefix("torch.")
    return RecordedTensor(dtype, tuple(value.shape), value.requires_grad and value.is_leaf)


def _joined(before: Recorded | None, now: Recorded) -> Recorded | None:
    """What two calls have in common."""
    if isinstance(before, RecordedTensor) and isinstance(now, RecordedTensor):
        return _one_of_both(before, now)
    if isinstance(before, int) or isinstance(now, int):
        return now if before == now else None
    if isinstance(before, tuple) and isinstance(now, tuple) and len(before) == len(now):
        both = [_one_of_both(a, b) for a, b in zip(before, now, strict=True)]
        known = tuple(one for one in both if one is not None)
        return known if len(known) == len(both) else None
    return None


def _one_of_both(a: RecordedTensor, b: RecordedTensor) -> RecordedTensor | None:
    if a == b:
        return a
    same = (a.dtype, len(a.shape), a.trained) == (b.dtype, len(b.shape), b.trained)
    if not same:
        return None
    shape = tuple(x if x == y else None for x, y in zip(a.shape, b.shape, strict=True))
    return RecordedTensor(a.dtype, shape, a.trained)


def write_shapes(path: Path, found: Mapping[str, Mapping[str, Recorded]]) -> None:
    """Replace what the file says of these functions; the others stay."""
    tables = {**read_shapes(path.parent), **found}
    texts = {name: dict(_texts(tables[name])) for name in sorted(tables)}
    head = "# Written by `ppybuild run --record`; commit it, or record again.\n\n"
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(head + tomli_w.dumps(texts), encoding="utf-8")
    beside.replace(path)


def _texts(
    parameters: Mapping[str, Recorded],
) -> Iterator[tuple[str, int | str | list[str]]]:
    for name, one in parameters.items():
        match one:
            case tuple():
                yield name, [str(each) for each in one]
            case int():
                yield name, one
            case _:
                yield name, str(one)


def main() -> None:
    path, roots = Path(sys.argv[1]), sys.argv[2].split(os.pathsep)
    sys.argv[:] = sys.argv[3:]
    sys.path[:0] = roots
    recorder = Recorder(roots)

    def finish() -> None:
        sys.setprofile(None)
        try:
            write_shapes(path, recorder.tables())
        except OSError as error:
            print(f"ppybuild: {path} cannot be written: {error.strerror}", file=sys.stderr)
        else:
            count = len(recorder.tables())
            what = "function" if count == 1 else "functions"
            print(f"ppybuild: wrote {path.name}: {count} {what}", file=sys.stderr)

    atexit.register(finish)
    threading.setprofile(recorder)
    sys.setprofile(recorder)
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
