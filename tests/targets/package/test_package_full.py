"""The format `full`: runs in a root that holds nothing but the C library."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ppybuild.diagnostics import Failure
from ppybuild.targets.package.full import _collect
from tests.cli.commands import ppybuild, write
from tests.targets.package.conftest import FILES, output, refusal, run


def test_without_pyinstaller(tmp_path: Path) -> None:
    """Says so before it builds."""
    write(tmp_path, FILES)
    (tmp_path / "blocked").mkdir()
    blocker = "import sys\nsys.modules['PyInstaller'] = None\n"
    (tmp_path / "blocked" / "sitecustomize.py").write_text(blocker)
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-m", "ppybuild", "package", "start", "--format", "full"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}/blocked:{root}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "error[E4004]" in done.stderr
    assert "ppybuild[full]" in done.stderr
    assert not (tmp_path / "build").exists()


def test_pyinstaller_fails(tmp_path: Path) -> None:
    with pytest.raises(Failure) as failure:
        _collect(tmp_path, tmp_path / "missing.spec")
    (said,) = failure.value.diagnostics
    assert (said.code, failure.value.status) == ("E4010", 1)
    assert said.message.startswith("PyInstaller failed: ")
    assert (tmp_path / "pyinstaller.log").read_text().strip()


def found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    assert match is not None
    return match[1]


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("PyInstaller", reason="the extra `full` is not installed")
    folder = tmp_path_factory.mktemp("full")
    write(folder, FILES)
    done = ppybuild(folder, "package", "start", "--format", "full")
    assert done.returncode == 0, done.stderr
    assert re.search(r"the largest part is .+", done.stdout)
    assert re.search(r"\d+\.\d\d MB  bundle", done.stdout)
    (made,) = (folder / "dist").iterdir()
    return made.rename(folder / "moved here")


@pytest.mark.slow
def test_full(full: Path, tmp_path: Path) -> None:
    shown = output(run(full / "start", "a b", PATH="/nowhere", PPY_PYTHON=""))
    assert shown[:2] == ["5 True ['a b']", "the weights"]
    assert run(full / "start", "exit", "7").returncode == 7
    info = json.loads(run(full / "start", PPY_BUNDLE_INFO="1").stdout)
    assert info["version"] == "1.2"
    assert (full / "LICENCES").read_text(encoding="utf-8").startswith("Python 3")
    assert not list(full.rglob("ppybuild")), "what builds stays behind"
    link = tmp_path / "link"
    link.symlink_to(full / "start")
    assert output(run(link))[0] == "5 True ['default']"


@pytest.mark.slow
def test_in_a_root_with_the_c_library_alone(full: Path, tmp_path: Path) -> None:
    if run("unshare", "-r", "true").returncode:
        pytest.skip("no namespaces here")
    root = tmp_path / "root"
    linked = subprocess.run(["ldd", full / "start"], capture_output=True, text=True, check=True)
    library = Path(found(r"(/\S+libc\.so\.6)", linked.stdout)).parent
    for name in ("c", "m", "dl", "pthread", "util", "rt", "z"):
        for path in library.glob(f"lib{name}.so.[0-9]"):
            (root / library.relative_to("/")).mkdir(parents=True, exist_ok=True)
            shutil.copy(path, root / library.relative_to("/"))
    loader = Path(found(r"(/\S+ld-linux\S+)", linked.stdout))
    (root / loader.parent.relative_to("/")).mkdir(parents=True, exist_ok=True)
    shutil.copy(loader, root / loader.relative_to("/"))
    shutil.copytree(full, root / "program", symlinks=True)
    done = run("unshare", "-r", "chroot", str(root), "/program/start", "x")
    assert output(done)[:2] == ["5 True ['x']", "the weights"]


@pytest.mark.slow
def test_full_tampered(full: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(full, copy, symlinks=True)
    data = copy / "_internal/bundle/data/weights/a.txt"
    data.write_text("the w3ights")
    assert "a.txt is not as it was built" in refusal(run(copy / "start"))
    library = next(copy.glob("_internal/**/lib-dynload/_ssl.*"))  # needed by nobody at once
    library.write_bytes(library.read_bytes()[:-1])
    assert "is not as it was packaged" in refusal(run(copy / "start"))
    library.unlink()
    assert "cannot be read: No such file" in refusal(run(copy / "start"))
