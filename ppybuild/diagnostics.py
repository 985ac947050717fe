"""Diagnostics: the record, and the one table of codes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Severity = Literal["error", "warning", "remark"]


@dataclass(frozen=True, slots=True)
class Location:
    """A span of source. Lines and columns count from 1; `end_column` is exclusive."""

    path: Path
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: a code of `CODES`, where, what is wrong, and what to do."""

    code: str
    message: str
    location: Location | None = None
    help: str = ""
    label: str = ""
    """Said beside the marked span: `Tensor | None`."""


@dataclass(frozen=True, slots=True)
class Code:
    """A row of the table; `ppybuild explain CODE` and `docs/diagnostics.md` print it."""

    severity: Severity
    title: str
    meaning: str
    example: str
    fix: str


CODES: dict[str, Code] = {
    # E1: the program. The numbers shared with other tools mean here what they mean there.
    "E1001": Code(
        "error",
        "syntax error",
        "The file is not valid Python, so nothing about it can be known.",
        "def f(:\n    return 1",
        "Correct the line; `python -m py_compile FILE` shows the same error.",
    ),
    "E1002": Code(
        "error",
        "source cannot be read",
        "A source file is missing, may not be read, or is not in the encoding it declares.",
        "# a file saved as Latin-1, without a coding line",
        "Save it as UTF-8, or declare its encoding in the first line.",
    ),
    "E1003": Code(
        "error",
        "module provided twice",
        "Two files give the same module name, so what `import` finds would be chance.",
        "src/train.py and src/train.ppy",
        "Remove or rename one of them, or exclude it in `[sources]`.",
    ),
    "E1101": Code(
        "error",
        "undefined name",
        "A name is read that no assignment, import or built-in gives.",
        "def f(n: int) -> int:\n    return nn + 1",
        "Correct its spelling, or bind it before it is read.",
    ),
    "E1102": Code(
        "error",
        "import cannot be resolved",
        "The imported module, or the name inside it, is neither the project's nor installed.",
        "from app.prep import standardise",
        "Correct the name, install the library, or add the folder to `[sources] roots`.",
    ),
    "E1202": Code(
        "error",
        "no such attribute",
        "The type of the object is known, and it has no attribute of that name.",
        "torch.matmull(a, b)",
        "Correct the name; the nearest one that exists is offered.",
    ),
    "E1206": Code(
        "error",
        "value may be None",
        "The value can be None here, and what is done with it would raise then.",
        "parameter -= rate * parameter.grad",
        "Test it first: `if parameter.grad is None: continue`.",
    ),
    "E1301": Code(
        "error",
        "wrong type",
        "A value is given where one of another type is needed.",
        "count: int = 1.5",
        "Give a value of the type that is declared, or declare the type that is meant.",
    ),
    "E1302": Code(
        "error",
        "operator does not take these operands",
        "The types of the operands are known, and the operator is not defined for them.",
        "'loss: ' + 1.5",
        "Convert one of the operands: `'loss: ' + str(1.5)`.",
    ),
    "E1303": Code(
        "error",
        "return contradicts the annotation",
        "A value is returned that is not of the declared result type.",
        "def count() -> int:\n    return 1.5",
        "Return what is declared, or declare what is returned.",
    ),
    "E1304": Code(
        "error",
        "type cannot be inferred",
        "Nothing in the whole program says what the parameter or variable holds.",
        "def unused(value):\n    return value",
        "Annotate it, call it somewhere, or pass `--partial` to leave it untyped.",
    ),
    "E1305": Code(
        "error",
        "call does not fit",
        "The arguments do not match the parameters: too few, too many, or an unknown name.",
        "def f(a: int) -> int: ...\nf(1, 2)",
        "Call it with the parameters that it has.",
    ),
    "E1401": Code(
        "error",
        "shapes do not fit",
        "Tensors whose shapes are known are given to an operation that does not take them.",
        "torch.matmul(torch.zeros(8, 16), torch.zeros(32, 4))",
        "Make the sizes agree: another layer width, a transpose, a `reshape`.",
    ),
    "E1402": Code(
        "error",
        "dtypes do not fit",
        "Tensors of different dtypes are given to an operation that takes one dtype.",
        "torch.matmul(x, w.double())    # x is float32",
        "Convert one of them: `w.to(x.dtype)`.",
    ),
    "W1304": Code(
        "warning",
        "parameter left untyped",
        "With `--partial`, a parameter that nothing types is left as it stands.",
        "def unused(value):\n    return value",
        "Annotate it, or call it somewhere in the project.",
    ),
    "E1601": Code(
        "error",
        "not pure",
        "A function promises by `@ppy.pure` to change nothing, and its body does.",
        "@ppy.pure\ndef f(out: Buffer[float]) -> None:\n    out[0] = 1.0",
        "Remove the decorator, or the write.",
    ),
    # E2: the manifest and the command line.
    "E2001": Code(
        "error",
        "manifest cannot be read",
        "There is no `ppy.toml` here or above, it may not be read, or it is not valid TOML.",
        "[entry.train",
        "`ppybuild init` writes a manifest; `--manifest PATH` names one elsewhere.",
    ),
    "E2002": Code(
        "error",
        "unknown key in the manifest",
        "The manifest has a table or key that ppybuild does not know.",
        "[entry.train]\nmodul = 'app.train'",
        "Correct its spelling; docs/manifest.md lists every key.",
    ),
    "E2003": Code(
        "error",
        "wrong value in the manifest",
        "A key of the manifest has a value of another type, or one that it does not take.",
        "[sources]\nroots = 'src'",
        "Give a value that it takes: `roots = ['src']`.",
    ),
    "E2004": Code(
        "error",
        "folder of the manifest does not fit",
        "A source root is not a folder, or the build folder would hold sources.",
        "[sources]\nroots = ['scr']",
        "Name an existing folder, and keep the build folder apart from the sources.",
    ),
    "E2005": Code(
        "error",
        "Python version does not fit",
        "The project says in `requires-python` that this Python is not one for it.",
        "[project]\nrequires-python = '>=3.13'",
        "Run ppybuild under a Python that the program takes.",
    ),
    "E2101": Code(
        "error",
        "unknown entry",
        "The command names an entry that the manifest does not have.",
        "ppybuild run trian",
        "Name an entry of the manifest, or add `[entry.NAME]` to it.",
    ),
    "E2102": Code(
        "error",
        "no entry",
        "The manifest has no entry, so there is nothing to build or run.",
        "[project]\nname = 'training'",
        "Add `[entry.NAME]` with `module = 'package.module'`.",
    ),
    "E2103": Code(
        "error",
        "entry's module not found",
        "No source file of the project gives the module that the entry names.",
        "[entry.train]\nmodule = 'app.trian'",
        "Correct `module`, or add the folder that holds it to `[sources] roots`.",
    ),
    "E2104": Code(
        "error",
        "file exists already",
        "The command would overwrite a file of yours.",
        "ppybuild init    # where there is a ppy.toml",
        "Remove or rename it first.",
    ),
    "E2105": Code(
        "error",
        "no program found",
        "`ppybuild init` found no script and no package that can be run.",
        "ppybuild init empty-folder",
        "Name the folder of the program, or write `[entry.NAME]` by hand.",
    ),
    "E2106": Code(
        "error",
        "nothing to explain",
        "`ppybuild explain` knows no code and no function of the project by this name.",
        "ppybuild explain train.standardise",
        "Give a code (`E1206`), or a function's dotted name (`train.standardize`).",
    ),
    "E2107": Code(
        "error",
        "not a build folder",
        "The build folder holds things that ppybuild did not put there, or is no folder.",
        "[build]\ndir = 'data'",
        "Name another folder in `[build] dir`, or remove this one yourself.",
    ),
    "E2108": Code(
        "error",
        "file cannot be written",
        "The folder may not be written, or something of another kind is in the way.",
        "ppybuild build    # in a folder that is read-only",
        "Correct its permissions, or name another one.",
    ),
    "E2109": Code(
        "error",
        "not a source of the project",
        "A command names a file or folder that lies in none of the manifest's source roots.",
        "ppybuild convert ../elsewhere.py",
        "Name a file below a source root, or add its folder to `roots` in `[sources]`.",
    ),
    "E2110": Code(
        "error",
        "no such data file",
        "A pattern of `data` in an entry matches no file below the manifest's folder.",
        "[entry.train]\ndata = ['weight/*.pt']",
        "Correct the pattern, which is relative to `ppy.toml`, or remove it.",
    ),
    "E2111": Code(
        "error",
        "function cannot be exported",
        "A function that `package --library` should offer to C is not native, is not a "
        "function of a module, or shares its name with another.",
        "@ppy.export\ndef show(x: float) -> None:\n    print(x)",
        "Change what the message names, or export another function.",
    ),
    "E2112": Code(
        "error",
        "recorded shapes cannot be used",
        "`ppy.shapes.toml`, which `ppybuild run --record` writes, cannot be read or is not in "
        "its form.",
        '["train.step"]\nx = "float32[32"',
        "Correct it, or remove it and record again.",
    ),
    "E2113": Code(
        "error",
        "program needs Python",
        "`package --format native` makes an executable without Python, and this part of the "
        "program has no form there.",
        'from collections import Counter\n\nprint(Counter("hello"))',
        "Do what the message says, or package it in another format: `onefile`, `full`.",
    ),
    # E4: the machine, its toolchain, and the run of it.
    "E4001": Code(
        "error",
        "no C compiler",
        "Native code needs a C compiler (gcc or clang), and none was found.",
        "PATH= ppybuild build",
        "Install one (`apt install gcc`), or name one in the environment variable CC.",
    ),
    "E4002": Code(
        "error",
        "no C++ compiler",
        "Tensor regions need a C++20 compiler (g++ or clang++), and none was found.",
        "CXX=missing ppybuild build",
        "Install one (`apt install g++`), or name one in the environment variable CXX.",
    ),
    "E4003": Code(
        "error",
        "no Python headers",
        "`Python.h` of the Python that runs ppybuild is not installed.",
        "apt install --no-install-recommends python3",
        "Install them (`apt install python3-dev`), or use a Python that has them.",
    ),
    "E4004": Code(
        "error",
        "library missing",
        "A Python library that this needs is not installed where ppybuild runs.",
        "ppybuild build    # regions, without torch",
        "Install it with pip, in the environment that ppybuild runs in.",
    ),
    "E4005": Code(
        "error",
        "no CUDA compiler",
        "Kernels for a GPU are compiled by NVIDIA's nvcc, which was not found or does not run.",
        "ppybuild build --device cuda",
        "`pip install ppybuild[cuda]`, put the CUDA toolkit's `bin` on the path, or name the "
        "toolkit in CUDA_HOME; or build with `--device cpu`.",
    ),
    "E4006": Code(
        "error",
        "compiler does not know the CPU",
        "`[device.cpu] cpu` is a name that the compiler's `-march` does not take.",
        "[device.cpu]\ncpu = 'zen9'",
        "Use `native`, `baseline`, or a name from the compiler's manual.",
    ),
    "E4007": Code(
        "error",
        "generated code does not compile",
        "ppybuild wrote code that the compiler refuses. The fault is ppybuild's.",
        "",
        "Please report it, with the log that the message names.",
    ),
    "E4008": Code(
        "error",
        "no space left",
        "The disk, or your share of it, is full. Everything is as it was before.",
        "",
        "Free some space and run the command again.",
    ),
    "E4009": Code(
        "error",
        "build was stopped",
        "The compiler was ended from outside; often the machine had no memory left.",
        "",
        "Run it again with fewer compilers at a time: `--jobs 1`.",
    ),
    "E4010": Code(
        "error",
        "libraries could not be collected",
        "PyInstaller, which collects the libraries of the format `full`, failed.",
        "",
        "Run `python -m PyInstaller` on the program to see what it says.",
    ),
    "E4011": Code(
        "error",
        "compiler does not know the GPU",
        "A card of `[device.cuda] arch` is not one that nvcc compiles for.",
        'arch = ["sm_9"]',
        "Name cards as `nvcc --list-gpu-code` does, or use another CUDA toolkit.",
    ),
    # E9: a fault of ppybuild's own.
    "E9001": Code(
        "error",
        "fault of ppybuild",
        "Something happened that should be impossible. The program is not at fault.",
        "",
        "Please report it, with the file that the message names.",
    ),
    # R3: what was done for the program, and what was not.
    "R3001": Code(
        "remark",
        "optimisation",
        "Says what became native, or what an optimisation did.",
        "",
        "Nothing needs doing.",
    ),
    "R3002": Code(
        "remark",
        "list became a buffer",
        "A list of numbers is held as `Buffer[T]` and made as `array.array`, or a list of "
        "equally long lists as `Sequence[Buffer[T]]` and made as `ppy.grid`; says why no use "
        "of it can tell.",
        "out = [0.0] * n    # → array.array('d', [0.0]) * n",
        "Nothing needs doing.",
    ),
    "R3003": Code(
        "remark",
        "list stays a list",
        "A list of numbers could have been a buffer, or a list of such lists one buffer, but "
        "one use of it could tell.",
        "json.dumps(values)",
        "Change the use that is named, if the loop over it matters.",
    ),
    "R3004": Code(
        "remark",
        "stays in Python",
        "The function, or a part of it, is not native; says which construct and what would "
        "change it.",
        "def f(n: int) -> int:\n    print(n)",
        "Move what cannot be native out of the loop that matters.",
    ),
}


UNREADABLE = frozenset({"E1001", "E1002", "E1003"})
"""A file with one of these is no module: what is said of the program without it would be
wrong. Whatever else is wrong shows when the program runs, as under plain Python."""


class Failure(Exception):
    """What the user did wrong, as diagnostics; the command line prints them and exits.

    `status` is 1 where the program or its build is at fault, 2 for the command line, the
    manifest or the machine.
    """

    def __init__(self, *diagnostics: Diagnostic, status: Literal[1, 2] = 1) -> None:
        super().__init__("; ".join(found.message for found in diagnostics))
        self.diagnostics = diagnostics
        self.status = status


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was most likely meant to be."""
    import difflib  # only where something is wrong

    candidates = sorted(set(known))
    folded = {candidate.lower(): candidate for candidate in reversed(candidates)}
    close = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.6)
    return folded[close[0]] if close else None
