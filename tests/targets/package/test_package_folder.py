"""The format `dir`."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

import pytest
import zstandard

from ppybuild.targets.package.folder import write_folder
from tests.targets.package.conftest import output, refusal, run


def extract(archive: Path, target: Path) -> None:
    with (
        archive.open("rb") as file,
        zstandard.ZstdDecompressor().stream_reader(file) as plain,
        tarfile.open(fileobj=plain, mode="r|") as packed,
    ):
        packed.extractall(target, filter="data")


def test_names(folder_package: Path) -> None:
    stem = f"start-1.2-cpu-{sysconfig.get_platform()}"
    written = {path.name for path in folder_package.parent.iterdir()}
    assert written == {"start", stem, f"{stem}.tar.zst", f"{stem}.tar.zst.sha256"}


def test_runs(folder_package: Path) -> None:
    assert output(run(folder_package / "start", "a b", "")) == [
        "5 True ['a b', '']",
        "the weights",
        str(folder_package / "app"),
    ]
    assert output(run(folder_package / "start"))[0] == "5 True ['default']"
    assert run(folder_package / "start", "exit", "7").returncode == 7


@pytest.mark.parametrize("name", ["with space", "naïve-привет"])
def test_the_archive_runs_anywhere(folder_package: Path, tmp_path: Path, name: str) -> None:
    archive = folder_package.with_name(f"{folder_package.name}.tar.zst")
    said = archive.with_name(f"{archive.name}.sha256").read_text(encoding="utf-8")
    assert said == f"{hashlib.sha256(archive.read_bytes()).hexdigest()}  {archive.name}\n"
    extract(archive, tmp_path / name)
    (top,) = (tmp_path / name).iterdir()
    assert top.name == folder_package.name
    link = tmp_path / "link"
    link.symlink_to(top / "start")
    before = {path: path.stat().st_mtime_ns for path in top.rglob("*")}
    assert output(run("./link", cwd=tmp_path))[2] == str(top / "app")
    assert {path: path.stat().st_mtime_ns for path in top.rglob("*")} == before


def test_without_what_builds(folder_package: Path) -> None:
    """No site-packages, no compiler on the path."""
    done = run("/bin/sh", str(folder_package / "start"), PATH=os.defpath, PYTHONPATH="")
    assert output(done)[0] == "5 True ['default']"
    plain = subprocess.run(
        [sys.executable, "-I", "-S", folder_package / "start"],
        env={"PATH": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert output(plain)[0] == "5 True ['default']"


@pytest.mark.parametrize("file", ["app/prog/main.py", "data/weights/a.txt", "bundle.json"])
def test_tampered(folder_package: Path, tmp_path: Path, file: str) -> None:
    shutil.copytree(folder_package, tmp_path / "copy")
    path = tmp_path / "copy" / file
    path.write_bytes(path.read_bytes().replace(b"e", b"f", 1))
    assert file in refusal(run(tmp_path / "copy/start"))


def test_information(folder_package: Path) -> None:
    shown = json.loads("\n".join(output(run(folder_package / "start", PPY_BUNDLE_INFO="1"))))
    assert (shown["entry"], shown["version"]) == ("start", "1.2")
    assert shown["platform"] == sysconfig.get_platform()
    assert shown["licences"]


def test_the_same_bytes(folder_package: Path, tmp_path: Path) -> None:
    """Whatever the times, the umask and the order of the folder's files."""
    shutil.copytree(folder_package, tmp_path / "copy", copy_function=shutil.copyfile)
    (tmp_path / "copy" / "start").chmod(0o700)
    before = os.umask(0o077)
    try:
        (tmp_path / "stage").mkdir()
        write_folder(tmp_path / "copy", tmp_path / "stage", folder_package.name)
    finally:
        os.umask(before)
    name = f"{folder_package.name}.tar.zst"
    first, second = folder_package.parent / name, tmp_path / "stage" / name
    assert first.read_bytes() == second.read_bytes()
