"""Whole programs: output, failures and exit statuses as under CPython."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

_SOURCE_LINE = re.compile(r"^    .*\n", re.MULTILINE)  # CPython shows them, and marks in them
_FOLDER = re.compile(r'File ".*/program.py"')

ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "PYTHONIOENCODING": "utf-8:strict",  # as in any other locale than C
    "ASAN_OPTIONS": "detect_leaks=0",
    "PATH": os.environ["PATH"],
}

Outcome = tuple[int, bytes, bytes]


def start(command: list[str | bytes], stdin: bytes, together: bool, shell: str) -> Outcome:
    """Exit status, standard output and error; in one where `together`."""
    wrapped: list[str | bytes] = ["bash", "-c", f'"$@" {shell}', "bash", *command]
    done = subprocess.run(
        wrapped if shell else command,
        input=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if together else subprocess.PIPE,
        env=ENVIRONMENT,
        check=False,
    )
    error = _FOLDER.sub('File "program.py"', (done.stderr or b"").decode())
    return done.returncode, done.stdout, _SOURCE_LINE.sub("", error).encode()


def both(
    program: Path,
    *arguments: str | bytes,
    stdin: bytes = b"",
    together: bool = False,
    shell: str = "",
) -> tuple[Outcome, Outcome]:
    """What the C program does, and what its twin does."""
    python = [sys.executable, str(program.with_suffix(".py")), *arguments]
    native = [str(program), *arguments]
    return start(native, stdin, together, shell), start(python, stdin, together, shell)


@pytest.mark.parametrize(
    "arguments",
    [
        ("caught",),
        ("deep",),
        ("ratio",),
        ("exit", "0"),
        ("exit", "7"),
        ("exit", "-1"),
        ("exit", "4294967301"),
        ("say",),
        ("grow",),
        ("parse", " 12_3 "),
        ("parse", "x'y"),
        ("surrogate", "é日😀"),
        ("surrogate", b"a\xff\xfeb"),
        ("surrogate", b"\xed\xa0\x80"),
    ],
)
def test_as_cpython(program: Path, arguments: tuple[str | bytes, ...]) -> None:
    native, python = both(program, *arguments)
    assert native == python


@pytest.mark.parametrize("seed", range(5))
def test_order_in_one_pipe(program: Path, seed: int) -> None:
    native, python = both(program, "write", str(seed), together=True)
    assert native == python


@pytest.mark.parametrize("name", ["write", "much", "exit"])
@pytest.mark.parametrize("shell", [">/dev/full", ">&-", "2>&-", "2>/dev/full"])
def test_streams_that_fail(program: Path, name: str, shell: str) -> None:
    native, python = both(program, name, "3", shell=shell)
    assert native == python


@pytest.mark.parametrize(
    "stdin",
    [
        b"",
        b"a\nb\r\nc\rd",
        b"\n\n",
        b"one\r",
        "é日😀\n".encode() * 5000,
        b"x" * 8191 + "é\n".encode(),
        b"x" * 8191 + b"\r\ny\n",
        b"ok\nab\xffc\n",
        b"\xe2\x82",
        b"\xe2(\n",
        b"\xf0\x9f\x98\n",
        b"\xed\xa0\x80\n",
        b"nul\0in it\n",
    ],
)
def test_input(program: Path, stdin: bytes) -> None:
    native, python = both(program, "echo", stdin=stdin)
    if b"Traceback" in python[2]:  # CPython's shows the codecs' frames, too
        assert native[2].splitlines()[-1] == python[2].splitlines()[-1]
        assert native[:2] == python[:2]
    else:
        assert native == python


def test_broken_pipe(program: Path) -> None:
    native, python = both(program, "much", shell="| head -1; exit ${PIPESTATUS[0]}")
    assert native[:2] == python[:2]
    assert native[2].splitlines()[-1:] == python[2].splitlines()[-1:]


def test_integer_beyond_64_bits(program: Path) -> None:
    (status, shown, said), _ = both(program, "parse", str(2**63))
    assert (status, shown) == (1, b"")
    assert said.splitlines()[-1].startswith(b"an integer needs more than 64 bits")
    (status, shown, _), _ = both(program, "parse", str(-(2**63)))
    assert (status, shown) == (0, f"{-(2**63)}\n".encode())


def test_interrupt(program: Path, tmp_path: Path) -> None:
    """A program that is stopped while it waits for input ends by the signal."""
    script = textwrap.dedent("""
        import signal, subprocess, sys
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        run = subprocess.Popen([sys.argv[1], "echo"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        run.stdout.read(2)
        run.send_signal(signal.SIGINT)
        print(run.wait(), run.stderr.read().decode().splitlines()[-1])
    """)
    done = subprocess.run(
        [sys.executable, "-c", script, str(program)],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        check=False,
    )
    assert done.stdout.split() == [str(-signal.SIGINT), "KeyboardInterrupt"]
