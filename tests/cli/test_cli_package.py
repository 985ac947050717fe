"""`ppybuild package` from the outside, with all that can go wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from tests.cli.commands import ROOT, ppybuild, write

FILES = {
    "ppy.toml": '[entry.main]\ndata = ["w"]\n[entry.lost]\nmodule = "gone"\n',
    "main.py": "import ppy\nprint(ppy.resource('w/a').read_text())\n",
    "w/a": "x",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write(tmp_path, FILES)
    return tmp_path


def left(folder: Path) -> set[str]:
    """What lies in the project beside its sources and the build folder."""
    return {path.name for path in folder.iterdir()} - {*FILES, "w", "build"}


def failed(done: subprocess.CompletedProcess[str], code: str, status: int = 2) -> None:
    assert done.returncode == status, done.stderr
    assert f"error[{code}]" in done.stderr
    assert "Traceback" not in done.stderr


def test_packages_are_no_sources(project: Path) -> None:
    """The default place lies below a source root."""
    done = ppybuild(project, "package", "main")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 3), done.stderr
    assert done.stdout.startswith("main: dist/main-0.1.0-cpu-")
    again = ppybuild(project, "package", "main", "--format", "onefile")
    assert again.returncode == 0, again.stderr
    assert "new dist" not in again.stderr
    assert {path.name.partition("-")[0] for path in (project / "dist").iterdir()} == {"main"}


@pytest.mark.parametrize("form", ["dir", "onefile"])
def test_what_exists_is_kept_without_force(project: Path, form: str) -> None:
    command = ("package", "main", "--format", form)
    assert ppybuild(project, *command).returncode == 0
    before = sorted((project / "dist").iterdir())
    if form == "onefile":
        before[0].write_text("mine")
    failed(ppybuild(project, *command), "E2104")
    assert sorted((project / "dist").iterdir()) == before
    done = ppybuild(project, *command, "--force")
    assert done.returncode == 0, done.stderr
    assert sorted((project / "dist").iterdir()) == before
    if form == "onefile":
        assert before[0].read_bytes()[:2] == b"#!"


def test_where_it_goes(project: Path) -> None:
    def onefile(output: str) -> str:
        done = ppybuild(project, "package", "main", "--format", "onefile", "-o", output)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert onefile("run me").startswith("main: run me, ")
    assert onefile("out/").startswith("main: out/main, ")
    (project / "there").mkdir()
    assert onefile("there").startswith("main: there/main, ")
    assert ppybuild(project, "package", "main", "-o", "a/b").returncode == 0
    assert len(list((project / "a/b").iterdir())) == 3


def test_unknown_entry_and_missing_module(project: Path) -> None:
    failed(ppybuild(project, "package", "mian"), "E2101")
    failed(ppybuild(project, "package", "lost"), "E2103")
    assert not left(project)


def test_unknown_format(project: Path) -> None:
    done = ppybuild(project, "package", "main", "--format", "zip")
    assert done.returncode == 2
    assert "'onefile'" in done.stderr
    assert not left(project)


def test_a_module_that_fails_at_import(project: Path) -> None:
    """Is packaged; running it fails as under Python."""
    (project / "main.py").write_text("import helper\n")
    (project / "helper.py").write_text("raise ValueError('at import')\n")
    done = ppybuild(project, "package", "main", "--format", "onefile", "-o", "run")
    assert done.returncode == 0, done.stderr
    variables = os.environ | {"PPY_PYTHON": sys.executable, "PPY_CACHE": str(project / "c")}
    ran = subprocess.run([project / "run"], env=variables, capture_output=True, text=True)
    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1] == "ValueError: at import"
    assert "onefile" not in ran.stderr


def test_output_that_cannot_be_written(project: Path) -> None:
    (project / "file").write_text("mine")
    failed(ppybuild(project, "package", "main", "-o", "file/x"), "E2108")
    failed(ppybuild(project, "package", "main", "-o", "file"), "E2108")
    failed(ppybuild(project, "package", "main", "-o", "/proc/x"), "E2108")
    failed(ppybuild(project, "package", "main", "-o", "x" * 300), "E2108")
    assert (project / "file").read_text() == "mine"
    assert left(project) == {"file"}


def test_no_space_left(project: Path) -> None:
    """A file system of 64 kB, in a namespace of its own."""
    if subprocess.run(["unshare", "-rm", "true"], check=False).returncode:
        pytest.skip("no namespaces here")
    assert ppybuild(project, "build", "main").returncode == 0
    (project / "out").mkdir()
    script = (
        'mount -t tmpfs -o size=64k tmpfs out && "$0" -m ppybuild package main -o out; '
        "status=$?; ls -A out; exit $status"
    )
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script, sys.executable],
        cwd=project,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    failed(done, "E4008")
    assert done.stdout == ""


STOPPING = """
import os, signal, sys
from ppybuild.cli.main import main
from ppybuild.targets.package import {module} as target

def stop(*_, **__):
    open(_[{stage}] / "half" if _[{stage}].is_dir() else _[{stage}], "w").close()
    os.kill(os.getpid(), signal.{signal})
    signal.pause()

target.{function} = stop
sys.argv[1:] = {arguments!r}
sys.modules.setdefault("PyInstaller", sys)  # as if it were installed
main()
"""


@pytest.mark.parametrize(
    ("form", "function", "stage", "number"),
    [
        ("--format=dir", "write_folder", 1, "SIGINT"),
        ("--format=onefile", "write_onefile", 1, "SIGTERM"),
        ("--format=dir", "write_folder", 1, "SIGHUP"),
        ("--format=onefile", "write_onefile", 1, "SIGKILL"),
        ("--format=full", "write_full", 1, "SIGINT"),
        ("--format=native", "write_native", 2, "SIGTERM"),
        ("--library", "write_library", 3, "SIGINT"),
    ],
)
def test_interrupted(project: Path, form: str, function: str, stage: int, number: str) -> None:
    """Nothing half made remains; after SIGKILL, nothing once the next run has ended."""
    arguments = ["package", "main", form, "-o", "new/out/"]
    program = STOPPING.format(
        module="package",
        function=function,
        stage=stage,
        signal=number,
        arguments=arguments,
    )
    assert ppybuild(project, "build", "main").returncode == 0
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=project,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    if number == "SIGKILL":
        assert done.returncode == -signal.SIGKILL
        assert ppybuild(project, *arguments).returncode == 0
        written = [path.name for path in (project / "new/out").iterdir()]
        assert len(written) == 1
        assert not any(name.startswith(".") for name in written)
    else:
        assert done.returncode == 128 + getattr(signal, number)
        assert not left(project)


@pytest.mark.parametrize("form", ["dir", "onefile"])
def test_a_host_without_a_library(project: Path, form: str) -> None:
    """One line with the pin, before anything runs; and several processes where it is there."""
    (project / "main.py").write_text(
        "import multiprocessing\n"
        "import click\n"
        "def double(x: int) -> int:\n"
        "    return 2 * x\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print(pool.map(double, [4]), click.__name__)\n"
    )
    done = ppybuild(project, "package", "main", "--format", form, "-o", "out/")
    assert done.returncode == 0, done.stderr
    program = next((project / "out").glob("main-*/main"), project / "out/main")

    def started(*flags: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *flags, program],
            cwd="/",
            env=os.environ | {"PPY_CACHE": str(project / "cache")},
            capture_output=True,
            text=True,
            check=False,
        )

    there, bare = started(), started("-I", "-S")
    assert (there.stdout, there.stderr) == ("[8] click\n", "")
    assert (bare.returncode, bare.stdout) == (2, "")
    pin = f"click=={metadata.version('click')}"
    assert f"built with {pin}, which is not installed" in bare.stderr
    assert len(bare.stderr.splitlines()) == 1
