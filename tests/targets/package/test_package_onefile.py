"""The format `onefile`."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ppybuild.targets.package.onefile import write_onefile
from tests.targets.package.conftest import output, refusal, run

MOMENT = 20.0  # seconds that something which happens soon may take on a busy machine


def place(cache: Path) -> Path:
    """The one bundle that is unpacked in a cache."""
    (found,) = (path for path in (cache / "ppy").iterdir() if path.is_dir())
    return found / "start"


def soon(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + MOMENT
    while not condition() and time.monotonic() < end:
        os.sched_yield()
    return condition()


def test_runs(file_package: Path, tmp_path: Path) -> None:
    cache = {"PPY_CACHE": str(tmp_path)}
    for _ in range(2):
        assert output(run(file_package, "a b", "", "-x", **cache)) == [
            "5 True ['a b', '', '-x']",
            "the weights",
            str(place(tmp_path) / "app"),
        ]
    assert output(run(file_package, **cache))[0] == "5 True ['default']"
    assert run(file_package, "exit", "7", **cache).returncode == 7
    assert '"version": "1.2"' in run(file_package, PPY_BUNDLE_INFO="1", **cache).stdout


def test_unpacked_once(file_package: Path, tmp_path: Path) -> None:
    run(file_package, PPY_CACHE=str(tmp_path))
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    run(file_package, PPY_CACHE=str(tmp_path))
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    assert all(not path.stat().st_mode & 0o077 for path in tmp_path.iterdir())


def test_started_by_python(file_package: Path, tmp_path: Path) -> None:
    for flags in ((), ("-I",), ("-P",)):
        done = run(sys.executable, *flags, str(file_package), "x", PPY_CACHE=str(tmp_path))
        assert output(done)[0] == "5 True ['x']"


def test_any_path(file_package: Path, tmp_path: Path) -> None:
    folder = tmp_path / "naïve привет"
    folder.mkdir()
    shutil.copy(file_package, folder / "run me")
    (tmp_path / "link").symlink_to(folder / "run me")
    for command in (folder / "run me", tmp_path / "link", "./link"):
        done = run(command, cwd=tmp_path, PPY_CACHE=str(folder))
        assert output(done)[0] == "5 True ['default']"


def test_which_cache(file_package: Path, tmp_path: Path) -> None:
    run(file_package, XDG_CACHE_HOME=str(tmp_path / "xdg"), HOME=str(tmp_path / "home"))
    assert place(tmp_path / "xdg").is_dir()
    run(file_package, XDG_CACHE_HOME="not/absolute", HOME=str(tmp_path / "home"))
    assert place(tmp_path / "home/.cache").is_dir()


def test_a_signal_reaches_the_program(file_package: Path, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [file_package, "wait"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PPY_PYTHON": sys.executable, "PPY_CACHE": str(tmp_path)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    try:
        _, shown = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == -signal.SIGINT
    assert shown.splitlines()[-1] == b"KeyboardInterrupt"
    assert b"onefile" not in shown


def test_every_kind_of_damage_is_found(file_package: Path, tmp_path: Path) -> None:
    content = file_package.read_bytes()
    head = content.index(b"PK\x03\x04")
    step = max((len(content) - head) // 8, 1)
    damaged = [content[:cut] for cut in (len(content) - 1, len(content) // 2, head + 1)]
    damaged += [content + b"x"]
    for at in (head, *range(head + 7, len(content), step), len(content) - 1):
        damaged.append(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    copy = tmp_path / "start"
    for text in damaged:
        copy.write_bytes(text)
        copy.chmod(0o755)
        assert "not as it was packaged" in refusal(run(copy, PPY_CACHE=str(tmp_path)))
    assert not (tmp_path / "ppy").exists()


def test_a_damaged_cache_is_made_anew(file_package: Path, tmp_path: Path) -> None:
    cache = {"PPY_CACHE": str(tmp_path)}
    expected = output(run(file_package, **cache))
    root = place(tmp_path)
    for file in ("app/prog/main.py", "ppy/bundle.py", "bundle.json", "data/weights/a.txt"):
        path = root / file
        content = path.read_bytes()
        path.write_bytes(content[:-1])
        assert output(run(file_package, **cache)) == expected
        path.unlink()
        assert output(run(file_package, **cache)) == expected
        assert path.read_bytes() == content
    shutil.rmtree(root)
    root.write_text("a file")
    assert output(run(file_package, **cache)) == expected


def test_what_a_killed_run_left(file_package: Path, tmp_path: Path) -> None:
    cache = {"PPY_CACHE": str(tmp_path)}
    expected = output(run(file_package, **cache))
    unpacked = place(tmp_path).parent
    unpacked.rename(unpacked.with_name(unpacked.name + ".new"))
    (tmp_path / "ppy" / (unpacked.name + ".old") / "x").mkdir(parents=True)
    assert output(run(file_package, **cache)) == expected
    assert place(tmp_path).parent == unpacked


@pytest.mark.parametrize("count", [50])
def test_many_starts_at_once(
    file_package: Path, folder_package: Path, tmp_path: Path, count: int
) -> None:
    """Of two versions of one package, in a cache that neither is in."""
    other = tmp_path / "other"
    changed = tmp_path / "bundle"
    shutil.copytree(folder_package, changed)
    text = (changed / "bundle.json").read_text(encoding="utf-8")
    write_onefile(_with_version(changed, text), other)
    variables = os.environ | {"PPY_PYTHON": sys.executable, "PPY_CACHE": str(tmp_path)}
    started = [
        subprocess.Popen(
            [(file_package, other)[at % 2], str(at)],
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for at in range(count)
    ]
    for at, process in enumerate(started):
        shown, _ = process.communicate()
        assert shown.startswith(f"5 True ['{at}']\nthe weights\n"), shown
    kept = [path.name for path in (tmp_path / "ppy").iterdir()]
    assert len(kept) == 4, "two folders and their locks"


def _with_version(bundle: Path, text: str) -> Path:
    import json

    from ppy.bundle import digest

    description = json.loads(text) | {"version": "1.3"}
    description["digest"] = digest(description)
    (bundle / "bundle.json").write_text(json.dumps(description), encoding="utf-8")
    return bundle


def test_without_a_cache_a_private_folder(file_package: Path, tmp_path: Path) -> None:
    """Which is removed however the program ends."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    (tmp_path / "file").write_text("")
    variables = {"PPY_CACHE": str(tmp_path / "file"), "TMPDIR": str(temporary)}
    shown = output(run(file_package, **variables))
    assert shown[2].startswith(str(temporary))
    assert not list(temporary.iterdir())
    assert run(file_package, "kill", **variables).returncode == -signal.SIGKILL
    assert soon(lambda: not list(temporary.iterdir()))


def test_without_a_home_folder(file_package: Path, tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    done = run(
        file_package, cwd=tmp_path, HOME="home", XDG_CACHE_HOME="", TMPDIR=str(temporary)
    )
    assert output(done)[2].startswith(str(temporary))
    assert [path.name for path in tmp_path.iterdir()] == ["temporary"]


def test_a_cache_that_is_full(file_package: Path, tmp_path: Path) -> None:
    """Mounts a file system of 64 kB in a namespace of its own."""
    (tmp_path / "cache").mkdir()
    script = f'mount -t tmpfs -o size=64k tmpfs "{tmp_path}/cache" && exec "{file_package}"'
    variables = {"PPY_CACHE": str(tmp_path / "cache"), "TMPDIR": str(tmp_path)}
    if run("unshare", "-rm", "true").returncode:
        pytest.skip("no namespaces here")
    shown = output(run("unshare", "-rm", "sh", "-c", script, **variables))
    assert shown[2].startswith(f"{tmp_path}/ppy-")


def test_a_read_only_cache_that_holds_it(file_package: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    expected = output(run(file_package, PPY_CACHE=str(cache)))
    if run("unshare", "-rm", "true").returncode:
        pytest.skip("no namespaces here")
    script = (
        f'mount --bind "{cache}" "{cache}" && mount -o remount,ro,bind "{cache}" '
        f'&& ! touch "{cache}/x" 2>/dev/null && exec "{file_package}"'
    )
    assert output(run("unshare", "-rm", "sh", "-c", script, PPY_CACHE=str(cache))) == expected


def test_nowhere_to_unpack(file_package: Path) -> None:
    """The line names what to set."""
    done = run(file_package, PPY_CACHE="/proc/x", TMPDIR="/proc/x", HOME="/proc/x")
    if done.returncode == 0:  # another folder for temporary files was found
        assert output(done)
    else:
        assert "set PPY_CACHE" in refusal(done)


def test_no_python(file_package: Path) -> None:
    line = refusal(run(file_package, PPY_PYTHON="python-that-is-not-there"))
    assert "python-that-is-not-there" in line


def test_the_same_bytes(folder_package: Path, file_package: Path, tmp_path: Path) -> None:
    shutil.copytree(folder_package, tmp_path / "copy")
    write_onefile(tmp_path / "copy", tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == file_package.read_bytes()
