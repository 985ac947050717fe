"""`full`: a folder that runs where there is no Python: interpreter, libraries and bundle.

<stem>-full/
  <entry>              the program
  LICENCES             of everything that is included
  _internal/           what PyInstaller collected, and files.json
  _internal/bundle/    the bundle, whole as it was built

PyInstaller collects (https://pyinstaller.org); what to collect is told by the program: every
library that its modules import, and what the runtime needs. Libraries of this environment
that the program does without (`needed.py`), and what libraries bring along only for building
against them or testing them, are left out. Symbol tables are stripped.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

from ppybuild.diagnostics import CODES, Diagnostic, Failure
from ppybuild.graph.products import MARK
from ppybuild.targets.bundle import bundle_files, remove_tree
from ppybuild.targets.package.needed import unneeded_modules
from ppybuild.targets.requirements import licences

_UNUSED = (
    r"torch/(include|share|test|bin/(?!torch_shm_manager))",
    r"torch/lib/lib(torchbind_test|jitbackend_test|backend_with_compiler|aoti_custom_ops)\.so",
    r".*\.(h|hpp|cuh|cmake|a|pyi|c|cpp)$",
)
"""Collected files that no program runs: headers, stubs, tools, and libraries of tests."""

_BOUND = re.compile(r"\.libs/")
"""Libraries that wheels were repaired with: `strip` would break what was patched in."""

_START = """\
import json
import os
import sys

root = os.path.join(sys._MEIPASS, "bundle")
here = os.path.dirname(sys.executable)


def refuse(reason):
    name = os.path.basename(sys.executable)
    sys.stderr.write(name + ": " + reason + "; copy the whole folder again\\n")
    sys.exit(2)


def check():
    with open(os.path.join(sys._MEIPASS, "files.json"), encoding="utf-8") as file:
        sizes = json.load(file)
    for path, size in sizes.items():
        try:
            if os.stat(os.path.join(here, path)).st_size != size:
                refuse(path + " is not as it was packaged")
        except OSError as error:
            refuse(path + " cannot be read: " + error.strerror)


def collected():
{imports}


if sys.argv[1:2] == ["--multiprocessing-fork"]:
    import multiprocessing

    multiprocessing.freeze_support()
check()
writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
sys.path.insert(0, root)
bundle = __import__("importlib").import_module("ppy.bundle")
del sys.path[0]
sys.dont_write_bytecode = writes
bundle.run(root, sys.argv[1:])
"""

_SPEC = """\
import json, re
from PyInstaller.utils.hooks import copy_metadata

unused = re.compile({unused!r})
found = Analysis(
    [{start!r}],
    datas=[pair for name in {metadata!r} for pair in copy_metadata(name)],
    excludes={excludes!r},
)
found.datas = [one for one in found.datas if not unused.match(one[0])]
found.binaries = [one for one in found.binaries if not unused.match(one[0])]
with open({report!r}, "w", encoding="utf-8") as file:
    json.dump(sorted({{name.partition(".")[0] for name, *_ in found.pure}}), file)
archive = PYZ(found.pure)
program = EXE(archive, found.scripts, name={name!r}, exclude_binaries=True)
COLLECT(program, found.binaries, found.datas, name={name!r})
"""


def need_pyinstaller() -> None:
    if importlib.util.find_spec("PyInstaller") is None:
        raise Failure(
            Diagnostic(
                "E4004",
                "PyInstaller is not installed, and the format `full` needs it",
                help="`python -m pip install 'ppybuild[full]'`",
            ),
            status=2,
        )


def write_full(bundle: Path, target: Path, entry: str) -> dict[str, int]:
    """Collect everything into the folder `target`: the bytes of each part, largest first.

    Works in a folder beside it. Raises `Failure` where PyInstaller fails.
    """
    work = target.with_name("work")
    work.mkdir()
    description = json.loads((bundle / "bundle.json").read_text(encoding="utf-8"))
    pins = [pin.partition("==")[0] for pin in description["requires"].values()]
    start, report, spec = work / "start.py", work / "modules.json", work / "program.spec"
    trees = [
        ast.parse(path.read_bytes())
        for path in bundle_files(bundle)
        if path.suffix in (".py", ".ppy")
    ]
    imports = "\n".join(f"    {line}" for line in _imports(bundle, trees)) or "    pass"
    start.write_text(_START.replace("{imports}", imports), encoding="utf-8")
    text = _SPEC.format(
        unused="|".join(f"(?:{pattern})" for pattern in _UNUSED),
        start=str(start),
        excludes=["ppy", "ppybuild", *unneeded_modules(trees)],
        metadata=pins,
        report=str(report),
        name=entry,
    )
    spec.write_text(text, encoding="utf-8")
    _collect(work, spec)
    (work / "dist" / entry).rename(target)
    _strip(target)
    for path in bundle_files(bundle):
        copy = target / "_internal" / "bundle" / path.relative_to(bundle)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        copy.chmod(path.stat().st_mode & 0o777)
    modules = json.loads(report.read_text(encoding="utf-8"))
    _write_licences(target, modules)
    (target / MARK).write_text("Made by ppybuild; no source of a program.\n", encoding="utf-8")
    _write_sizes(target)
    remove_tree(work)
    return _parts(target, entry)


def _imports(bundle: Path, trees: Iterable[ast.Module]) -> Iterator[str]:
    """The import statements of the program and of the runtime, without those of each other."""
    own = {path.relative_to(bundle / "app").parts[0] for path in (bundle / "app").rglob("*")}
    own = {name.partition(".")[0] for name in own} | {"ppy"}
    yield from sorted({line for tree in trees for line in _external(tree, own)})


def _external(tree: ast.Module, own: set[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            yield from (f"import {name}" for name in names if name.partition(".")[0] not in own)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            source = node.module or ""
            if source.partition(".")[0] not in own:
                yield f"import {source}"
                for alias in node.names:
                    if alias.name != "*" and source != "__future__":
                        yield f"from {source} import {alias.name}"


def _collect(work: Path, spec: Path) -> None:
    log = work / "pyinstaller.log"
    command = [sys.executable, "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN"]
    command += ["--distpath", str(work / "dist"), "--workpath", str(work / "build"), str(spec)]
    settings = {"PYTHONHASHSEED": "1", "SOURCE_DATE_EPOCH": "0"}
    with log.open("wb") as output:
        done = subprocess.run(
            command,
            cwd=work,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=os.environ | settings | {"PYINSTALLER_CONFIG_DIR": str(work / "config")},
            check=False,
        )
    if done.returncode == 0:
        return
    text = log.read_text(encoding="utf-8", errors="replace")
    if "No space left on device" in text:
        full = Diagnostic("E4008", "no space is left for the package", help=CODES["E4008"].fix)
        raise Failure(full, status=2)
    last = text.strip().rpartition("\n")[2]
    raise Failure(Diagnostic("E4010", f"PyInstaller failed: {last}", help=CODES["E4010"].fix))


def _strip(target: Path) -> None:
    """Remove the symbols that only debuggers and linkers read, where there is a `strip`."""
    tool = shutil.which("strip")
    if tool is None:
        return
    for path in sorted((target / "_internal").rglob("*.so*")):
        if path.is_symlink() or _BOUND.search(path.as_posix()):
            continue
        stripped = path.with_name(path.name + ".stripped")
        command = [tool, "--strip-unneeded", "-o", str(stripped), str(path)]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode == 0:
            stripped.chmod(path.stat().st_mode & 0o777)
            stripped.replace(path)
        else:
            stripped.unlink(missing_ok=True)


def _write_licences(target: Path, modules: Iterable[str]) -> None:
    known = metadata.packages_distributions()
    included = {one for module in modules for one in known.get(module, ())}
    lines = [f"Python {sys.version.split()[0]}: PSF-2.0"]
    found = licences({*included, "ppybuild", "pyinstaller"})
    lines += [f"{title}: {said}" for title, said in found.items()]
    (target / "LICENCES").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _write_sizes(target: Path) -> None:
    """What the program looks at when it starts; the bundle's digests are its own."""
    sizes = {
        path.relative_to(target).as_posix(): path.stat().st_size
        for path in sorted(target.rglob("*"))
        if path.is_file()
    }
    text = json.dumps(sizes, indent=1)
    (target / "_internal" / "files.json").write_text(text, encoding="utf-8")


def _parts(target: Path, entry: str) -> dict[str, int]:
    """Bytes by library: what lies below a folder of `_internal`, and what beside."""
    found: dict[str, int] = {}
    for path in target.rglob("*"):
        if path.is_symlink() or not path.is_file():
            continue
        inside = path.relative_to(target).parts
        if inside[0] != "_internal":
            name = f"{entry} (with the modules that are Python)"
        elif len(inside) == 2 or inside[1].startswith(("lib-dynload", "python3")):
            name = "Python and what it links"
        else:
            name = inside[1].partition(".")[0].partition("-")[0]
        found[name] = found.get(name, 0) + path.stat().st_size
    return dict(sorted(found.items(), key=lambda part: (-part[1], part[0])))
