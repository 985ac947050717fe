"""`--library`: used from C, found through pkg-config, and from Python through cffi."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import ppybuild, write
from tests.targets.package.conftest import run

SOURCE = """\
import math

import ppy
from ppy import Buffer
from ppy import export as offered


@ppy.export
def scale(x: Buffer[float], out: Buffer[float], n: int, by: float) -> float:
    total: float = 0.0
    for i in range(n):
        out[i] = x[i] * by
        total += out[i]
    return total


@offered
def power(a: int, n: int) -> int:
    result: int = 1
    for _ in range(n):
        result *= a
    return result


@ppy.export
@ppy.pure
def pair(result: float, flag: bool) -> tuple[float, tuple[int, bool]]:
    return root(result), (3, not flag)


def root(x: float) -> float:
    return math.sqrt(x)


@ppy.export
def add_all(x: Buffer[ppy.i32], value: int) -> None:
    for i in range(len(x)):
        x[i] = x[i] + value


def named(n: int) -> int:
    return 0 if n == 0 else named(n - 1) + 1


print("ran at import")
"""

C = """\
#include <lib-one.h>
#include <stdio.h>
#include <stdint.h>

#define SAY(call, ...) \\
    do { \\
        const int status = (call); \\
        printf("%d", status); \\
        printf(__VA_ARGS__); \\
    } while (0)

int main(void) {
    double x[3] = {1.0, 2.5, -0.0}, out[3], total = 9.0;
    int64_t power = 5, count = 5;
    bool flag = true;
    int32_t numbers[3] = {1, 2, INT32_MAX};
    SAY(lib_one_scale(x, 3, out, 3, 3, 2.0, &total), " %g %g\\n", total, out[1]);
    total = 9.0;
    SAY(lib_one_scale(x, 3, out, 3, 4, 2.0, &total), " %g\\n", total);
    SAY(lib_one_scale(NULL, 3, out, 3, 3, 2.0, &total), "\\n");
    SAY(lib_one_scale(NULL, 0, out, 3, 0, 2.0, &total), " %g\\n", total);
    SAY(lib_one_scale(x, -1, out, 3, 0, 2.0, &total), "\\n");
    SAY(lib_one_scale(x, 3, out, 3, 0, 2.0, NULL), "\\n");
    SAY(lib_one_power(3, 39, &power), " %lld\\n", (long long)power);
    SAY(lib_one_power(3, 40, &power), " %lld\\n", (long long)power);
    SAY(lib_one_pair(2.25, true, &total, &count, &flag), " %g %lld %d\\n", total,
        (long long)count, flag);
    SAY(lib_one_pair(-1.0, true, &total, &count, &flag), " %d\\n", LIB_ONE_ABANDONED);
    SAY(lib_one_add_all(numbers, 3, 1), " %d %d %d\\n", numbers[0], numbers[1], numbers[2]);
    SAY(lib_one_add_all(numbers, 2, 1), " %d %d %d\\n", numbers[0], numbers[1], numbers[2]);
    SAY(lib_one_named(500, &count), " %d\\n", (int)count);
    SAY(lib_one_named(5000, &count), " %d\\n", (int)count);
    return 0;
}
"""
SAID = [
    *("0 7 5", "1 9", "2", "0 0", "2", "2"),
    f"0 {3**39}",
    f"1 {3**39}",
    *("0 1.5 3 0", "1 1", "1 1 2 2147483647", "0 2 3 2147483647", "0 500", "1 500"),
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("library project"))


def make(folder: Path) -> Path:
    manifest = '[entry."lib-one"]\nmodule = "prog"\nexport = ["prog.named"]\n'
    write(folder, {"ppy.toml": manifest, "prog.py": SOURCE})
    done = ppybuild(folder, "package", "lib-one", "--library")
    assert done.returncode == 0, done.stderr
    (made,) = (folder / "dist").iterdir()
    return made.rename(folder / "moved")


def test_the_same_bytes(library: Path, tmp_path: Path) -> None:
    def contents(folder: Path) -> dict[str, bytes]:
        files = (path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}

    assert contents(make(tmp_path / "elsewhere")) == contents(library)


def test_damaged(library: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(library, copy)
    check = ["sha256sum", "--check", "--quiet", "SHA256SUMS"]
    assert subprocess.run(check, cwd=copy, check=False).returncode == 0
    shared = copy / "lib" / "liblib-one.so"
    shared.write_bytes(shared.read_bytes()[:-1] + b"x")
    assert subprocess.run(check, cwd=copy, check=False).returncode != 0
    done = run(sys.executable, "-c", "import lib_one_cffi", PYTHONPATH=str(copy / "python"))
    said = "liblib-one.so is not as it was built; copy the whole folder again"
    assert done.stderr.splitlines()[-1].startswith("ImportError: ")
    assert done.stderr.splitlines()[-1].endswith(said)


def test_from_c(library: Path, tmp_path: Path) -> None:
    (tmp_path / "use.c").write_text(C, encoding="utf-8")
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    found = [f"-I{library}/include", f"-L{library}/lib", "-llib-one"]
    subprocess.run(
        ["gcc", *flags, tmp_path / "use.c", "-o", tmp_path / "use", *found], check=True
    )
    done = subprocess.run(
        [tmp_path / "use"],
        env={"LD_LIBRARY_PATH": f"{library}/lib"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == SAID


def test_pkg_config(library: Path) -> None:
    text = (library / "lib/pkgconfig/lib-one.pc").read_text(encoding="utf-8")
    assert "prefix=${pcfiledir}/../.." in text
    assert "Libs: -L${libdir} -llib-one" in text
    if not shutil.which("pkg-config"):
        pytest.skip("no pkg-config")
    said = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "lib-one"],
        env=os.environ | {"PKG_CONFIG_PATH": f"{library}/lib/pkgconfig"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "-llib-one" in said.stdout


def test_nothing_of_python_inside(library: Path) -> None:
    shared = library / "lib/liblib-one.so"
    needed = subprocess.run(["ldd", shared], capture_output=True, text=True, check=True).stdout
    names = {
        line.split()[0].rpartition("/")[2].partition(".")[0] for line in needed.splitlines()
    }
    assert names <= {"linux-vdso", "libm", "libc", "ld-linux-x86-64", "ld-linux-aarch64"}
    symbols = subprocess.run(["nm", "-D", shared], capture_output=True, text=True, check=True)
    given = {line.split()[2] for line in symbols.stdout.splitlines() if " T " in line}
    names = {"scale", "power", "pair", "add_all", "named"}
    assert given == {f"lib_one_{name}" for name in names}
    assert (library / "LICENCES").read_text(encoding="utf-8").startswith("ppybuild")


def test_from_python(library: Path) -> None:
    code = """
from lib_one_cffi import ffi, lib
x, total = ffi.new("double[]", [0.1, 0.2, 0.3]), ffi.new("double *")
out = ffi.new("double[3]")
print(lib.lib_one_scale(x, 3, out, 3, 3, 3.0, total), total[0].hex(), [o.hex() for o in out])
print(lib.lib_one_scale(x, 3, out, 2, 3, 3.0, total) == lib.LIB_ONE_ABANDONED)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": f"{library}/python"},
        capture_output=True,
        text=True,
        check=True,
    )
    out = [x * 3.0 for x in (0.1, 0.2, 0.3)]
    total = 0.0
    for value in out:
        total += value
    assert math.isfinite(total)
    shown: Any = [value.hex() for value in out]
    assert done.stdout.splitlines() == [f"0 {total.hex()} {shown}", "True"]


@pytest.mark.parametrize(
    ("source", "export", "said"),
    [
        ("print()", "", "exports no function"),
        ("import ppy\n@ppy.export\ndef f(x: int) -> None: print(x)\n", "", "a call of `print`"),
        (
            "import math\ndef f(x: float) -> float: return math.gamma(x)\n",
            "prog.f",
            "`gamma` (line 2) is CPython's own",
        ),
        (
            "from collections.abc import Sequence\nfrom ppy import Buffer\n"
            "def f(x: Sequence[Buffer[int]]) -> int: return x[0][0]\n",
            "prog.f",
            "parameter `x` is a Sequence of Buffers",
        ),
        ("def f(x: int) -> int: return x\n", "prog.g", "no such function"),
        ("class A:\n    def f(self) -> int: return 1\n", "prog.A.f", "inside a class"),
        ("def f(x: int) -> int: return x\n", "other.f", "does not import"),
        (
            "import ppy, other\n@ppy.export\ndef f(x: int) -> int: return x\n",
            "other.f",
            "the same name",
        ),
    ],
)
def test_what_cannot_be_exported(tmp_path: Path, source: str, export: str, said: str) -> None:
    manifest = f"[entry.prog]\nexport = {[export] if export else []}\n"
    other = "def f(x: int) -> int: return x\n"
    write(tmp_path, {"ppy.toml": manifest, "prog.py": source, "other.py": other})
    done = ppybuild(tmp_path, "package", "prog", "--library")
    assert done.returncode == 1
    assert "error[E2111]" in done.stderr
    assert said in done.stderr
    assert not (tmp_path / "dist").exists()


def test_library_is_a_format_of_its_own(tmp_path: Path) -> None:
    write(tmp_path, {"ppy.toml": "[entry.prog]\n", "prog.py": ""})
    done = ppybuild(tmp_path, "package", "prog", "--library", "--format", "dir")
    assert done.returncode == 2
    assert "--library is a format of its own" in done.stderr
