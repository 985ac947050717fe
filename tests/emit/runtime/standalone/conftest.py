from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.emit.runtime.standalone.driving import HERE, Runtime, compile_runtime, runtime


@pytest.fixture(scope="session")
def native(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    """The functions of the runtime."""
    with runtime(tmp_path_factory.mktemp("runtime")) as made:
        yield made


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`program.c` as an executable, under the sanitizers; `program.py` is its twin."""
    folder = tmp_path_factory.mktemp("program")
    shutil.copy(HERE / "program.py", folder)
    flags = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    return compile_runtime(HERE / "program.c", folder / "program", *flags)
