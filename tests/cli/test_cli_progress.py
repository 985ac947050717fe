"""What a build shows while it runs."""

from __future__ import annotations

import pytest

from ppybuild.cli.progress import Progress


def tell(progress: Progress) -> None:
    progress.stale("train", "changed (train.ppy)")
    progress.step("train", 1, 2, "compiling train.c")
    progress.step("train", 2, 2, "linking loops.so")
    progress.command("gcc")
    progress.waiting()
    progress.close()


def test_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    tell(Progress())
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        "train: changed (train.ppy)\n"
        "train: [1/2] compiling train.c\n"
        "train: [2/2] linking loops.so\n"
        "gcc\n"
        "waiting for another build of this project\n"
    )


def test_a_line_that_changes_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    tell(Progress())
    assert capsys.readouterr().err == (
        "train: changed (train.ppy)\n"
        "\r\x1b[Ktrain: [1/2] compiling train.c"
        "\r\x1b[Ktrain: [2/2] linking loops.so"
        "\r\x1b[K"
        "gcc\n"
        "waiting for another build of this project\n"
    )
