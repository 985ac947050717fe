"""`build`, `run`, `check` and `explain` on real projects, from the outside."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.commands import ROOT, ppybuild, write

PLAIN = {"ppy.toml": "[entry.main]\n", "main.py": "print('plain')\n"}

LOOP = """\
def total(n: int) -> int:
    result: int = 0
    for i in range(n):
        result += i * i
    return result


def shout(text: str) -> None:
    print(text)


import ppy

shout(f"{total(10)} {ppy.native.compiled(total)} {ppy.native.compiled(shout)}")
"""

ECHO = """\
import os
import sys

print(sys.argv[1:], sys.stdin.read(), os.environ.get("MODE"), __name__)
sys.exit(7)
"""


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a native function, built."""
    folder = tmp_path_factory.mktemp("native")
    write(folder, {"ppy.toml": "[entry.main]\n", "main.ppy": LOOP})
    done = ppybuild(folder, "build")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "main: built, build/cpu/main/main\n"
    assert "main: not built yet" in done.stderr
    assert "compiling loops/main.py.c" in done.stderr
    assert "remark" in done.stderr.splitlines()[-1]
    return folder


def test_a_native_function_runs(native: Path) -> None:
    done = ppybuild(native, "run", "main")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "285 True False\n"
    launcher = native / "build" / "cpu" / "main" / "main"
    alone = subprocess.run([launcher], capture_output=True, text=True, check=True)
    assert alone.stdout == done.stdout


def test_generated_code_compiles_without_warnings(native: Path) -> None:
    log = (native / "build/.work/cpu/main/build.log").read_text()
    assert "warning" not in log


def test_nothing_to_do(native: Path) -> None:
    done = ppybuild(native, "build", "main")
    assert (done.stdout, done.stderr) == ("main: up to date, build/cpu/main/main\n", "")


def test_check_with_remarks(native: Path) -> None:
    done = ppybuild(native, "check", "--remarks", "--format", "json")
    assert done.returncode == 0
    found = json.loads(done.stdout)["diagnostics"]
    stays = [one for one in found if one["code"] == "R3004"]
    assert any("shout" in one["message"] for one in stays)
    assert all(one["location"]["path"] == "main.ppy" for one in stays)
    assert json.loads(ppybuild(native, "check", "--format", "json").stdout) == {
        "version": 1,
        "diagnostics": [],
    }


def test_explain_a_function(native: Path) -> None:
    said = ppybuild(native, "explain", "total").stdout
    assert "main.total, main.ppy:1" in said
    assert "(n: int) -> int" in said
    assert "in entry `main`: native" in said
    assert "stays in Python" in ppybuild(native, "explain", "main.shout").stdout
    done = ppybuild(native, "explain", "main.totl")
    assert done.returncode == 2
    assert "did you mean `main.total`?" in done.stderr
    done = ppybuild(native, "explain", "main")
    assert done.returncode == 2
    assert "`main` is a module, and no function" in done.stderr
    assert "main.total" in done.stderr


def test_another_manifest_and_another_folder(native: Path, tmp_path: Path) -> None:
    done = ppybuild(tmp_path, "run", "main", "--manifest", str(native / "ppy.toml"))
    assert done.stdout == "285 True False\n"
    (native / "inner").mkdir()
    assert ppybuild(native / "inner", "run", "main").stdout == "285 True False\n"


def test_run_passes_everything_through(tmp_path: Path) -> None:
    manifest = '[entry.main]\nargs = ["--default"]\n'
    write(tmp_path, {"ppy.toml": manifest, "main.py": ECHO})
    done = ppybuild(tmp_path, "run", "main", stdin="input", MODE="fast")
    assert done.returncode == 7
    assert done.stdout == "['--default'] input fast __main__\n"
    done = ppybuild(tmp_path, "run", "main", "--", "--jobs", "a b", "--help")
    assert done.stdout == "['--jobs', 'a b', '--help']  None __main__\n"


def test_run_says_how_arguments_are_given(tmp_path: Path) -> None:
    write(tmp_path, PLAIN)
    done = ppybuild(tmp_path, "run", "main", "--epochs", "3")
    assert done.returncode == 2
    assert "--" in done.stderr


def test_a_signal_is_the_programs(tmp_path: Path) -> None:
    program = (
        "import signal, sys\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))\n"
        "print('ready', flush=True)\n"
        "signal.pause()\n"
    )
    write(tmp_path, {"ppy.toml": "[entry.main]\n", "main.py": program})
    for sent, status in ((signal.SIGTERM, 5), (signal.SIGINT, -signal.SIGINT)):
        process = subprocess.Popen(
            [sys.executable, "-m", "ppybuild", "run", "main"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(sent)
        _, said = process.communicate()
        assert process.returncode == status
        assert ("KeyboardInterrupt" in said) == (sent == signal.SIGINT)


def test_an_exception_is_the_programs(tmp_path: Path) -> None:
    write(tmp_path, {"ppy.toml": "[entry.main]\n", "main.py": "x = 1\n1 / 0\n"})
    done = ppybuild(tmp_path, "run", "main")
    assert done.returncode == 1
    assert done.stderr.endswith("ZeroDivisionError: division by zero\n")
    assert "line 2" in done.stderr


def test_findings_do_not_stop_a_build_and_are_counted(tmp_path: Path) -> None:
    program = "try:\n    import sys.gone\nexcept ImportError:\n    print('caught')\n"
    wrong = "import main\nfrom main import nothing\n"
    write(tmp_path, {"ppy.toml": "[entry.main]\n", "main.py": program, "wrong.py": wrong})
    done = ppybuild(tmp_path, "build")
    assert done.returncode == 0
    assert "1 error: ppybuild check" in done.stderr
    assert ppybuild(tmp_path, "run", "main").stdout == "caught\n"


def test_an_interrupted_build_leaves_no_bundle(tmp_path: Path) -> None:
    gates = tmp_path / "gates"
    gates.mkdir()
    os.mkfifo(gates / "reached")
    os.mkfifo(gates / "gate")
    compiler = gates / "cc"
    compiler.write_text(
        f'#!/bin/sh\ncase "$*" in *" -c "*) echo here > "{gates}/reached"\n'
        f'read -r word < "{gates}/gate";; esac\nexec gcc "$@"\n'
    )
    compiler.chmod(0o755)
    project = tmp_path / "project"
    write(project, {"ppy.toml": "[entry.main]\n", "main.ppy": LOOP})
    process = subprocess.Popen(
        [sys.executable, "-m", "ppybuild", "build", "--jobs", "1"],
        cwd=project,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "CC": str(compiler)},
        start_new_session=True,
    )
    assert (gates / "reached").read_text() == "here\n"
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does for Ctrl-C
    out, said = process.communicate()
    assert process.returncode == 130
    assert out == ""
    assert said.endswith("ppybuild: interrupted\n")
    assert "Traceback" not in said
    assert not (project / "build" / "cpu").exists()
    assert ppybuild(project, "run", "main").stdout == "285 True False\n"


def test_colour_on_a_terminal(tmp_path: Path) -> None:
    write(tmp_path, PLAIN)
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "ppybuild", "build", "mian"],
        cwd=tmp_path,
        stderr=follower,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "NO_COLOR": ""},
    )
    os.close(follower)
    said = b""
    try:
        while piece := os.read(leader, 4096):
            said += piece
    except OSError:  # the other end is closed
        pass
    os.close(leader)
    assert process.wait() == 2
    assert b"\x1b[1;31merror[E2101]\x1b[0m" in said


def test_check_finds_what_is_wrong(tmp_path: Path) -> None:
    write(tmp_path, {"ppy.toml": "[entry.main]\n", "main.py": "import main2\ndef f(:\n"})
    done = ppybuild(tmp_path, "check")
    assert done.returncode == 1
    assert "error[E1001]" in done.stderr
    assert "--> main.py:2" in done.stderr
    assert done.stdout == ""
    sarif = json.loads(ppybuild(tmp_path, "check", "--format", "sarif").stdout)
    assert [one["ruleId"] for one in sarif["runs"][0]["results"]] == ["E1001"]


@pytest.mark.parametrize(
    ("change", "arguments", "status", "code"),
    [
        ({}, ["build", "mian"], 2, "E2101"),
        ({}, ["run", "mian"], 2, "E2101"),
        ({"ppy.toml": ""}, ["build"], 2, "E2102"),
        ({"ppy.toml": "[entry.main]\nmodule = 'mian'\n"}, ["build"], 2, "E2103"),
        ({"main.py": "def f(:\n"}, ["run", "main"], 1, "E1001"),
        ({"main.ppy": ""}, ["build"], 1, "E1003"),
        ({"build": "a file"}, ["build"], 2, "E2107"),
        ({"build/a": "other"}, ["build"], 2, "E2107"),
    ],
)
def test_what_is_wrong_is_one_message(
    tmp_path: Path, change: dict[str, str], arguments: list[str], status: int, code: str
) -> None:
    write(tmp_path, {**PLAIN, **change})
    before = sorted(tmp_path.rglob("*"))
    done = ppybuild(tmp_path, *arguments)
    assert done.returncode == status, done.stderr
    assert done.stderr.count(f"error[{code}]") == 1
    assert done.stderr.count("error[") == 1
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    if not (tmp_path / "build" / ".ppybuild").exists():
        assert sorted(tmp_path.rglob("*")) == before


def test_a_compiler_that_is_missing(tmp_path: Path) -> None:
    write(tmp_path, {"ppy.toml": "[entry.main]\n", "main.ppy": LOOP})
    done = ppybuild(tmp_path, "build", CC="gone")
    assert done.returncode == 2
    assert "error[E4001]: CC names `gone`" in done.stderr
    assert not (tmp_path / "build" / "cpu").exists()


def test_a_compiler_that_is_none(tmp_path: Path) -> None:
    write(tmp_path, {"ppy.toml": "[entry.main]\n", "main.ppy": LOOP})
    done = ppybuild(tmp_path, "build", CC="false")
    assert done.returncode == 2
    assert "error[E4001]" in done.stderr
    assert "does not work as a C compiler" in done.stderr


def run_limited(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a mount namespace where `build` is a tiny file system."""
    script = 'mount -t tmpfs -o size=64k tmpfs build && exec "$@"'
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh"]
    return subprocess.run(
        [*command, sys.executable, "-m", "ppybuild", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )


def test_a_disk_that_is_full(tmp_path: Path) -> None:
    write(tmp_path, PLAIN)
    (tmp_path / "build").mkdir()
    probe = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", "mount -t tmpfs tmpfs build"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    if probe.returncode:
        pytest.skip("no namespace of its own may be made here")
    done = run_limited(tmp_path, "build")
    assert done.returncode == 2
    assert "error[E4008]" in done.stderr
    assert done.stderr.count("error[") == 1
