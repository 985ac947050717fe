"""What all tests share: the `golden` fixture and its `--update`."""

from __future__ import annotations

import signal

import pytest

from tests.golden import Case, Golden, check_case


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite golden expectations")


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        # As for whatever a shell starts in the background; children would ignore it, too.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if config.getoption("--update") and config.getoption("numprocesses", None):
        raise pytest.UsageError("--update rewrites files: run it in one process (-n 0)")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """`golden(case, section=text, ...)` compares, or rewrites under `--update`."""

    def check(case: Case, **actual: str) -> None:
        check_case(case, actual, bool(request.config.getoption("--update")))

    return check
