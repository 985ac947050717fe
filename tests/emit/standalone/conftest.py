"""One runtime for all programs of a session."""

from __future__ import annotations

import pytest

from tests.emit.standalone.building import Builder


@pytest.fixture(scope="session")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Builder:
    return Builder(tmp_path_factory.mktemp("runtime"))
