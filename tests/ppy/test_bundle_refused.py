"""What does not fit is one line on standard error and status 2, before the program runs."""

from __future__ import annotations

import ctypes.util
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ppy import bundle
from ppy.bundle import Refused, soabi

Lay = Callable[..., Path]
Run = Callable[..., subprocess.CompletedProcess[str]]

SOURCES = {
    "train.ppy": "print('ran')\ndef add(a, b):\n    return a + b\n",
    "data.txt": "0123456789\n",
}


def refusal(run: Run, launcher: Path, **options: Any) -> str:
    """The line; a bundle's folder bears the name of its entry."""
    done = run(launcher, **options)
    assert (done.returncode, done.stdout) == (2, "")
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith(f"{launcher.name}: ")
    return lines[0]


def edit(launcher: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = launcher.parent / "bundle.json"
    description = json.loads(path.read_text(encoding="utf-8"))
    change(description)
    description["digest"] = bundle.digest(description)
    path.write_text(json.dumps(description), encoding="utf-8")


@pytest.mark.parametrize("file", ["app/train.ppy", "app/data.txt", "native/loops.so"])
def test_a_damaged_file(lay: Lay, run: Run, file: str) -> None:
    launcher = lay(SOURCES)
    path = launcher.parent / file
    content = path.read_bytes()
    for damaged in (content[:-1], content + b"\n", b"#" + content[1:], b""):
        path.write_bytes(damaged)
        assert file in refusal(run, launcher)
    path.unlink()
    assert f"{file} cannot be read: No such file" in refusal(run, launcher)
    path.mkdir()
    assert file in refusal(run, launcher)


def test_a_damaged_runtime_or_launcher(lay: Lay, run: Run) -> None:
    launcher = lay(SOURCES)
    for file in (launcher.parent / "ppy/__main__.py", launcher):
        content = file.read_bytes()
        file.write_bytes(content + b"\n# edited\n")
        assert file.name in refusal(run, launcher)
        file.write_bytes(content)
    assert run(launcher).stdout == "ran\n"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"schema": "1"}', '{"schema": true}', "\xff"]
)
def test_a_damaged_description(lay: Lay, run: Run, text: str) -> None:
    launcher = lay(SOURCES)
    (launcher.parent / "bundle.json").write_bytes(text.encode("latin-1"))
    assert "bundle.json is damaged" in refusal(run, launcher)
    (launcher.parent / "bundle.json").unlink()
    assert "bundle.json cannot be read" in refusal(run, launcher)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("module", None),
        ("args", "x"),
        ("args", [1]),
        ("torch", 1),
        ("files", []),
        ("files", {"a": 1}),
        ("bindings", {"train": {"add": "loops"}}),
        ("bindings", {"train": {"add": ["loops"]}}),
        ("extensions", {"loops": None}),
        ("cpu", None),
    ],
)
def test_a_damaged_key(lay: Lay, run: Run, key: str, value: object) -> None:
    launcher = lay(SOURCES)
    edit(launcher, lambda description: description.update({key: value}))
    assert f"damaged at '{key}'" in refusal(run, launcher)
    edit(launcher, lambda description: description.pop(key))
    assert f"damaged at '{key}'" in refusal(run, launcher)


def test_an_edited_description(lay: Lay, run: Run) -> None:
    launcher = lay(SOURCES)
    path = launcher.parent / "bundle.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"args": []', '"args": ["x"]'), encoding="utf-8")
    assert "bundle.json is not as it was built" in refusal(run, launcher)


def test_a_missing_library(lay: Lay, run: Run, tmp_path: Path) -> None:
    line = refusal(run, lay(SOURCES, requires={"library_x": "library-x==1.2"}))
    assert "library-x==1.2, which is not installed" in line
    assert "pip install 'library-x==1.2'" in line
    launcher = lay(SOURCES, root=tmp_path / "second", requires={"json": "json==1"})
    assert run(launcher).stdout == "ran\n"


def test_names_that_are_not_there(lay: Lay, run: Run) -> None:
    launcher = lay(SOURCES)
    edit(launcher, lambda description: description.update(module="other"))
    assert "module other" in refusal(run, launcher)
    edit(launcher, lambda description: description.update(module="train", bindings={"m": {}}))
    assert "module m," in refusal(run, launcher)
    bindings = {"train": {"add": ["missing", "m_add"]}}
    edit(launcher, lambda description: description.update(bindings=bindings))
    assert "extension missing" in refusal(run, launcher)


def test_a_newer_schema(lay: Lay, run: Run) -> None:
    launcher = lay(SOURCES, schema=2)
    assert "schema 2" in refusal(run, launcher)
    edit(launcher, lambda description: description.update(files="another form"))
    assert "schema 2" in refusal(run, launcher)


def test_another_python(lay: Lay, run: Run) -> None:
    line = refusal(run, lay(SOURCES, python="cpython-399-x86_64-linux-gnu"))
    assert "cpython-399-x86_64-linux-gnu" in line
    assert soabi() in line
    assert "PPY_PYTHON" in line


def test_another_torch(lay: Lay, run: Run) -> None:
    line = refusal(run, lay(SOURCES, torch="0.0.1+none"))
    assert "built for torch 0.0.1+none" in line


def test_no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "torch_version", lambda: None)
    description = {"python": soabi(), "requires": {}, "torch": "2.0", "cpu": []}
    with pytest.raises(Refused, match=r"which is not installed: install torch==2\.0"):
        bundle.check_machine(description)


def test_torch_is_not_imported_to_ask(lay: Lay, run: Run) -> None:
    version = bundle.torch_version()
    if version is None:
        pytest.skip("no torch")
    source = {"train.ppy": "import sys\nprint('torch' in sys.modules)\n"}
    assert run(lay(source, torch=version, bound=[])).stdout == "False\n"


def test_another_cpu(lay: Lay, run: Run) -> None:
    line = refusal(run, lay(SOURCES, cpu=["fpu9", "sse2"]))
    assert "built for a CPU with fpu9, which" in line
    assert {"sse2", "asimd"} & (bundle.cpu_features() or set())


def test_a_cpu_of_which_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a root without /proc."""
    monkeypatch.setattr(bundle, "cpu_features", lambda: None)
    bundle.check_machine(
        {"python": soabi(), "requires": {}, "torch": None, "cpu": ["fpu9"], "device": "cpu"}
    )


DRIVERS = {
    "no NVIDIA driver is installed here": None,
    "does not start here (CUDA error 804)": "int cuInit(unsigned f) { (void)f; return 804; }",
    "there is none here": "int cuInit(unsigned f) { (void)f; return 0; }\n"
    "int cuDeviceGetCount(int *n) { *n = 0; return 0; }",
}


@pytest.mark.parametrize("reason", DRIVERS)
def test_a_gpu_that_is_not_there(reason: str, lay: Lay, run: Run, tmp_path: Path) -> None:
    driver = DRIVERS[reason]
    if driver is not None:
        source, library = tmp_path / "driver.c", tmp_path / "libcuda.so.1"
        source.write_text(driver)
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
    elif ctypes.util.find_library("cuda"):
        pytest.skip("a driver is installed")
    environment = {"LD_LIBRARY_PATH": str(tmp_path)}
    line = refusal(run, lay(SOURCES, device="cuda", without_gpu="error"), env=environment)
    assert "built for a GPU" in line
    assert reason in line


def test_the_processor_instead_of_a_gpu(lay: Lay, run: Run) -> None:
    done = run(lay(SOURCES, device="cuda", without_gpu="cpu"))
    assert done.returncode == 0, done.stderr


def test_no_python(lay: Lay, run: Run) -> None:
    line = refusal(run, lay(SOURCES), env={"PPY_PYTHON": "python-that-is-not-there"})
    assert "python-that-is-not-there" in line


def test_an_extension_that_does_not_load(lay: Lay, run: Run, tmp_path: Path) -> None:
    launcher = lay(SOURCES)
    extension = launcher.parent / "native/loops.so"
    extension.write_bytes(b"not an extension")
    digest = hashlib.sha256(extension.read_bytes()).hexdigest()
    edit(launcher, lambda description: description["files"].update({"native/loops.so": digest}))
    done = run(launcher)
    assert (done.returncode, done.stdout) == (2, "ran\n"), "it is loaded when it is needed"
    assert done.stderr.startswith("start: native/loops.so cannot be loaded: ")
    assert len(done.stderr.splitlines()) == 1


def test_information(lay: Lay, run: Run) -> None:
    launcher = lay(SOURCES, python="another", cpu=["fpu9"])
    done = run(launcher, env={"PPY_BUNDLE_INFO": "1"})
    assert (done.returncode, done.stderr) == (0, "")
    shown = json.loads(done.stdout)
    assert (shown["entry"], shown["python"], shown["cpu"]) == ("start", "another", ["fpu9"])
    assert (
        run(
            lay(SOURCES, root=launcher.parent.parent / "b"), env={"PPY_BUNDLE_INFO": "0"}
        ).stdout
        == "ran\n"
    )


def test_without_what_builds(lay: Lay, run: Run) -> None:
    """Nothing of ppybuild, and no library, is imported by a program that imports none."""
    source = (
        "import sys\n"
        "own = {name.partition('.')[0] for name in sys.modules} - sys.stdlib_module_names\n"
        "print(own - {'__main__', 'ppy', 'sitecustomize', 'usercustomize'})\n"
    )
    launcher = lay({"train.ppy": source}, bound=[])
    variables = os.environ | {"PPY_PYTHON": sys.executable}
    command = [sys.executable, "-S", launcher.parent / "ppy/launch.py"]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("set()\n", "")


def test_an_older_python(lay: Lay, run: Run) -> None:
    older = [
        path
        for minor in range(6, 11)
        for path in Path(sys.base_prefix).parent.glob(f"3.{minor}.*/bin/python3")
    ]
    if not older:
        pytest.skip("no older Python beside this one")
    line = refusal(run, lay(SOURCES), env={"PPY_PYTHON": str(older[0])})
    assert "older than the one that it was built for" in line
