"""The commands that build nothing, and everything that can be wrong with a command line."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from ppybuild import __version__
from ppybuild.cli import main as entry_point
from ppybuild.cli.init import manifest_text
from ppybuild.cli.main import COMMANDS, cli
from ppybuild.diagnostics import CODES
from ppybuild.manifest import load
from tests.cli.commands import ppybuild, write


def test_help_names_every_command_and_an_example() -> None:
    said = CliRunner().invoke(cli, ["--help"])
    assert said.exit_code == 0
    assert "ppybuild run ENTRY" in said.output
    for name in COMMANDS:
        assert f"  {name} " in said.output
        shown = CliRunner().invoke(cli, [name, "--help"])
        assert shown.exit_code == 0, name
        assert "\n  " in shown.output


def test_version(tmp_path: Path) -> None:
    assert ppybuild(tmp_path, "--version").stdout == f"ppybuild, version {__version__}\n"


def test_what_no_command_needs_is_not_imported(tmp_path: Path) -> None:
    """The start of the command line is part of every build in which nothing changed."""
    write(tmp_path, {"ppy.toml": "[entry.main]\n", "main.py": "print(1)\n"})
    script = (
        "import sys, ppybuild.cli.main, ppybuild.cli.build, ppybuild.targets.build\n"
        "print(*{'torch', 'libcst', 'rich', 'SCons', 'cffi', 'asyncio'} & set(sys.modules))\n"
    )
    import subprocess

    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == ""


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["buidl"], 2, "did you mean `build`?"),
        (["--what"], 2, "No such option"),
        (["build", "--jobs", "many"], 2, "not a valid integer"),
        (["build", "--device", "gpu"], 2, "'cpu', 'cuda'"),
        (["run"], 2, "Missing argument"),
        (["explain", "E9999"], 2, "E2106"),
        (["check", "--manifest", "gone.toml"], 2, "E2001"),
        (["init", "gone"], 2, "E2105"),
    ],
)
def test_a_wrong_command_line(
    tmp_path: Path, arguments: list[str], status: int, said: str
) -> None:
    done = ppybuild(tmp_path, *arguments)
    assert done.returncode == status
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("command", ["build", "check", "clean"])
def test_a_wrong_manifest(tmp_path: Path, command: str) -> None:
    assert "E2001" in ppybuild(tmp_path, command).stderr
    write(tmp_path, {"ppy.toml": "[entry.a]\nmodul = 'x'\nfp = 'fast'\n"})
    done = ppybuild(tmp_path, command)
    assert done.returncode == 2
    assert "error[E2002]" in done.stderr
    assert "--> ppy.toml:2:1" in done.stderr
    assert "error[E2003]" in done.stderr
    assert "did you mean `module`?" in done.stderr


def test_a_fault_in_the_format_that_was_asked_for(tmp_path: Path) -> None:
    write(tmp_path, {"ppy.toml": "[entry\n"})
    plain = json.loads(ppybuild(tmp_path, "build", "--format", "json").stdout)
    assert [one["code"] for one in plain["diagnostics"]] == ["E2001"]
    sarif = json.loads(ppybuild(tmp_path, "check", "--format", "sarif").stdout)
    assert sarif["runs"][0]["results"][0]["ruleId"] == "E2001"


def test_an_exception_is_a_fault_of_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def broken(**_: object) -> None:
        raise ZeroDivisionError("of ours")

    monkeypatch.setattr(entry_point.cli, "main", broken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(SystemExit) as ended:
        entry_point.main()
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert "error[E9001]: ZeroDivisionError: of ours" in said
    assert "Traceback" not in said
    (report,) = tmp_path.iterdir()
    assert str(report) in said
    assert "Traceback" in report.read_text()


@pytest.mark.parametrize("raised", [KeyboardInterrupt(), click.Abort()])
def test_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, raised: BaseException, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(**_: object) -> None:
        raise raised

    monkeypatch.setattr(entry_point.cli, "main", interrupted)
    with pytest.raises(SystemExit) as ended:
        entry_point.main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "ppybuild: interrupted\n"


def test_a_sum_of_thousands_is_read(tmp_path: Path) -> None:
    text = f"E = {' + '.join(['1'] * 2500)}\n\n\ndef f(x: int) -> int:\n    return x\n"
    write(tmp_path, {"ppy.toml": "[entry.m]\n", "m.py": text})
    assert ppybuild(tmp_path, "check").returncode == 0
    assert ppybuild(tmp_path, "convert", "--dry-run").returncode == 0


def test_explain_a_code(tmp_path: Path) -> None:
    for name, row in list(CODES.items())[:3]:
        done = ppybuild(tmp_path, "explain", name.lower())
        assert done.returncode == 0
        assert row.title in done.stdout
        assert row.fix in done.stdout


def test_doctor(tmp_path: Path) -> None:
    findings = json.loads(ppybuild(tmp_path, "doctor", "--format", "json").stdout)
    names = [one["name"] for one in findings]
    assert names[:2] == ["Python", "Python headers"]
    assert {"C compiler", "C++ compiler", "SCons", "torch", "nvcc"} <= set(names)
    assert ppybuild(tmp_path, "doctor").returncode == 0


def test_doctor_says_how_to_get_what_is_missing(tmp_path: Path) -> None:
    done = ppybuild(tmp_path, "doctor", CC="gone", PATH=str(tmp_path))
    assert done.returncode == 2
    assert "missing C compiler" in " ".join(done.stdout.split())
    assert "apt install gcc" in done.stdout
    assert "absent" in done.stdout  # the C++ compiler, without which loops still build


# init


def entries_of(folder: Path) -> dict[str, str]:
    (folder / "ppy.toml").write_text(manifest_text(folder))
    return {name: entry.module for name, entry in load(folder / "ppy.toml").entry.items()}


def test_init_finds_scripts(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "guarded.py": "def main(): ...\nif __name__ == '__main__':\n    main()\n",
            "calling.ppy": "from helper import f\nf()\n",
            "helper.py": "import logging\nlogging.basicConfig()\ndef f(): ...\n",
            "quiet.py": "x = 1\n",
            "setup.py": "setup()\n",
            "test_it.py": "run()\n",
            "tests/driver.py": "run()\n",
            ".venv/lib/tool.py": "run()\n",
            "train-model.py": "run()\n",
        },
    )
    assert entries_of(tmp_path) == {
        "calling": "calling",
        "guarded": "guarded",
        "train-model": "train-model",
    }


def test_init_finds_packages_below_src(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "src/app/__init__.py": "",
            "src/app/__main__.py": "from .core import run\nrun()\n",
            "src/app/core.py": "def run(): ...\n",
            "src/tool/cli.py": "if '__main__' == __name__:\n    pass\n",
            "script.py": "run()\n",
        },
    )
    assert entries_of(tmp_path) == {"app-main": "app", "cli": "tool.cli"}
    assert load(tmp_path / "ppy.toml").sources.roots == (tmp_path / "src",)


def test_init_excludes_what_would_stop_the_build(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "main.ppy": "run()\n",
            "main.py": "run()\n",
            "old/two.py": "print 'x'\n",
        },
    )
    assert entries_of(tmp_path) == {"main": "main"}
    assert load(tmp_path / "ppy.toml").sources.exclude == ("main.py", "old/two.py")


def test_init_names_do_not_collide(tmp_path: Path) -> None:
    guard = "if __name__ == '__main__': ...\n"
    write(tmp_path, {"a/run.py": guard, "b/run.py": guard, "native.py": guard})
    assert entries_of(tmp_path) == {
        "native-main": "native",
        "run": "a.run",
        "b.run": "b.run",
    }


def test_init_never_overwrites(tmp_path: Path) -> None:
    write(tmp_path, {"main.py": "run()\n", "ppy.toml": "mine"})
    done = ppybuild(tmp_path, "init")
    assert (done.returncode, (tmp_path / "ppy.toml").read_text()) == (2, "mine")
    assert "E2104" in done.stderr


def test_init_in_an_empty_folder(tmp_path: Path) -> None:
    done = ppybuild(tmp_path, "init", ".")
    assert done.returncode == 2
    assert "E2105" in done.stderr
    assert not list(tmp_path.iterdir())


# clean


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_clean_leaves_what_is_not_ours(tmp_path: Path, kind: str) -> None:
    write(tmp_path, {"ppy.toml": "", "data/precious": "x"})
    build = tmp_path / "build"
    if kind == "file":
        build.write_text("x")
    elif kind == "folder":
        (tmp_path / "data").rename(build)
    else:
        build.symlink_to("data")
    before = sorted(tmp_path.rglob("*"))
    done = ppybuild(tmp_path, "clean")
    assert done.returncode == 2
    assert "E2107" in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_clean_without_a_build(tmp_path: Path) -> None:
    write(tmp_path, {"ppy.toml": ""})
    done = ppybuild(tmp_path, "clean")
    assert (done.returncode, done.stdout) == (0, "nothing to remove\n")


def test_a_closed_pipe_is_no_fault(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    import subprocess

    done = subprocess.run(
        [sys.executable, "-m", "ppybuild", "explain", "E1206"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert done.returncode == 1
    assert done.stderr == ""
