"""Reading and ordering overloads, against torchgen's own parser and `sort_overloads`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from ppybuild.graph.schemas import Schemas, installed_schemas
from ppybuild.graph.schemas.order import python_order

torchgen = pytest.importorskip("torchgen")
PACKAGED = Path(torchgen.__file__).parent / "packaged"


@pytest.fixture(scope="module")
def native_functions() -> list[Any]:
    from torchgen.gen import parse_native_yaml

    folder = PACKAGED / "ATen" / "native"
    parsed = parse_native_yaml(str(folder / "native_functions.yaml"), str(folder / "tags.yaml"))
    # Entries made by torchgen (functional or out forms of others) are not in the file.
    return [f for f in parsed.native_functions if "generated" not in f.tags]


@pytest.fixture(scope="module")
def schemas() -> Schemas:
    found = installed_schemas()
    assert found is not None
    return found


def test_every_entry_reads_as_torchgen_reads_it(
    schemas: Schemas, native_functions: list[Any]
) -> None:
    for theirs in native_functions:
        ours = schemas.operator("aten::" + str(theirs.func.name))
        arguments = list(theirs.func.schema_order_arguments())
        assert [a.name for a in ours.arguments] == [a.name for a in arguments]
        assert [str(a.type) for a in ours.arguments] == [str(a.type) for a in arguments]
        assert [a.default for a in ours.arguments] == [a.default for a in arguments]
        assert [str(r) for r in ours.returns] == [str(r.type) for r in theirs.func.returns]
        assert ours.mutates == any(a.annotation and a.annotation.is_write for a in arguments)
        variants = {variant.name for variant in theirs.variants}
        assert (ours.function, ours.method) == ("function" in variants, "method" in variants)
        assert ours.module == theirs.python_module
        assert ours.random == ("nondeterministic_seeded" in theirs.tags)


@pytest.mark.parametrize("method", [False, True])
def test_order_is_torchgens(
    schemas: Schemas, native_functions: list[Any], method: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(PACKAGED))
    generator = importlib.import_module("autograd.gen_python_functions")
    try:
        wanted = "method" if method else "function"
        chosen = [
            f
            for f in native_functions
            if generator.should_generate_py_binding(f)
            and wanted in {v.name for v in f.variants}
        ]
        pairs = [
            generator.PythonSignatureNativeFunctionPair(
                signature=generator.signature(f, method=method), function=f
            )
            for f in chosen
        ]
        grouped: dict[tuple[str, str | None], list[Any]] = {}
        for pair in pairs:
            key = (pair.signature.name, pair.function.python_module)
            grouped.setdefault(key, []).append(pair)
        compared = 0
        for overloads in grouped.values():
            theirs = [
                "aten::" + str(group.base.func.name)
                for group in generator.group_overloads(overloads)
            ]
            ours = python_order(
                [schemas.operator("aten::" + str(p.function.func.name)) for p in overloads],
                method=method,
            )
            assert [operator.qualified for operator in ours] == theirs
            compared += len(theirs) > 1
        assert compared > 50
    finally:
        for name in [n for n in sys.modules if n.partition(".")[0] == "autograd"]:
            del sys.modules[name]
