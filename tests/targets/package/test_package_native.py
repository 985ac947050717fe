"""The format `native`: what is handed over, and what becomes of a run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.commands import ppybuild, write
from tests.targets.package.conftest import output, run

SOURCE = """\
import math
import sys


def total(n: int) -> float:
    found: float = 0.0
    for i in range(n):
        found += math.sqrt(i)
    return found


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    if n < 0:
        print("waiting", flush=True)
        while True:
            n -= 0
    print(f"{total(n):.17g}", sys.argv[2:])
    print(10 // (n - 7))
"""
FILES = {"ppy.toml": '[project]\nversion = "2.0"\n[entry.prog]\n', "prog.py": SOURCE}
PACKAGE = ("package", "prog", "--format", "native")


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The executable; its sources are gone."""
    folder = tmp_path_factory.mktemp("native")
    write(folder, FILES)
    done = ppybuild(folder, *PACKAGE)
    assert done.returncode == 0, done.stderr
    (folder / "prog.py").rename(folder / "gone")
    return folder / "dist" / "prog"


def plain(native: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    source = native.parents[1] / "gone"
    return subprocess.run([sys.executable, source, *arguments], capture_output=True, text=True)


@pytest.mark.parametrize("arguments", [(), ("9", "a b", "ö"), ("7",), ("x",)])
def test_does_as_python(native: Path, arguments: tuple[str, ...]) -> None:
    ran, said = run(native, *arguments), plain(native, *arguments)
    assert (ran.returncode, ran.stdout) == (said.returncode, said.stdout)
    assert ran.stderr.splitlines()[-1:] == said.stderr.splitlines()[-1:]


def test_where_a_failure_was(native: Path) -> None:
    said = run(native, "7").stderr.splitlines()
    assert said[-1] == "ZeroDivisionError: integer division or modulo by zero"
    assert 'File "prog.py", line 19' in said[-2]


def test_small_and_alone(native: Path) -> None:
    assert native.stat().st_size < 200_000
    linked = subprocess.run(["ldd", native], capture_output=True, text=True, check=True).stdout
    names = {
        line.split()[0].rpartition("/")[2].partition(".")[0] for line in linked.splitlines()
    }
    assert names <= {"linux-vdso", "libm", "libc", "ld-linux-x86-64", "ld-linux-aarch64"}
    link = native.with_name("a link")
    link.symlink_to(native)
    assert output(run(link, PATH="/nowhere"))[0] == "2.4142135623730949 []"


def test_information(native: Path) -> None:
    shown = json.loads(run(native, PPY_BUNDLE_INFO="1").stdout)
    assert (shown["format"], shown["version"], shown["entry"]) == ("native", "2.0", "prog")
    assert shown["licences"]


def test_interrupted(native: Path) -> None:
    """As CPython: the last line, and an end by the signal."""
    process = subprocess.Popen(
        [native, "-1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == -signal.SIGINT
    assert said.splitlines()[-1] == "KeyboardInterrupt"


@pytest.mark.parametrize("damage", ["edited", "cut", "longer"])
def test_damaged(native: Path, tmp_path: Path, damage: str) -> None:
    """One line, before any code of the program."""
    data = bytearray(native.read_bytes())
    if damage == "edited":
        data[data.index(b"waiting")] ^= 1
    elif damage == "cut":
        del data[-1]
    else:
        data.append(0)
    copy = tmp_path / "prog"
    copy.write_bytes(data)
    copy.chmod(0o755)
    done = run(copy, "-1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{copy}: this file is not as it was built; copy it again\n"


def test_the_same_bytes(native: Path, tmp_path: Path) -> None:
    """From another folder, with other times, at another place."""
    folder = tmp_path / "elsewhere ö"
    write(folder, FILES)
    os.utime(folder / "prog.py", (0, 0))
    assert ppybuild(folder, *PACKAGE, "-o", "again", "-j", "1").returncode == 0
    assert (folder / "again").read_bytes() == native.read_bytes()
    assert str(tmp_path).encode() not in native.read_bytes()


def test_what_needs_python_is_listed_and_nothing_written(tmp_path: Path) -> None:
    write(tmp_path, FILES | {"prog.py": "x = {}\nprint(lambda: 1)\n"})
    done = ppybuild(tmp_path, *PACKAGE)
    assert done.returncode == 1
    assert done.stderr.count("error[E2113]") == 2
    assert not (tmp_path / "dist").exists()


def test_what_exists_is_kept_without_force(tmp_path: Path) -> None:
    write(tmp_path, FILES | {"prog.py": "print('new')\n", "dist/prog": "mine"})
    done = ppybuild(tmp_path, *PACKAGE)
    assert done.returncode == 2
    assert "error[E2104]" in done.stderr
    assert (tmp_path / "dist/prog").read_text() == "mine"
