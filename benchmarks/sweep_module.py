"""What the sweep does with one module or package of the standard library."""

from __future__ import annotations

import ast
import hashlib
import resource
import shutil
import sysconfig
import tempfile
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ppybuild.convert.convert import ConvertedFile, convert
from ppybuild.diagnostics import CODES
from ppybuild.graph.analyse import analyse
from ppybuild.graph.check import check
from ppybuild.graph.load import read_sources
from ppybuild.graph.program import Facts
from ppybuild.graph.recursion import deep_recursion

STANDARD = Path(sysconfig.get_paths()["stdlib"])
MEMORY = 6 << 30
"""Bytes of address space that one worker may take."""

Kind = Literal["convert", "check"]
Outcome = Literal["whole", "partial", "same", "checked", "not Python", "failed"]


@dataclass(frozen=True, slots=True)
class Task:
    """Convert one file alone, or check a module or a whole package."""

    kind: Kind
    name: str
    """Dotted, as it is imported."""
    path: Path
    """A file; of a package that is checked, its folder."""

    @property
    def digest(self) -> str:
        """Of every source that the task reads."""
        found = sorted(self.path.rglob("*.py")) if self.path.is_dir() else [self.path]
        return hashlib.sha256(b"\0".join(path.read_bytes() for path in found)).hexdigest()


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a task; one line of the file of results."""

    kind: Kind
    name: str
    digest: str
    outcome: Outcome
    why: str = ""
    """Of a failure: the last lines of what happened."""
    untyped: int = 0
    """Parameters that nothing types."""
    findings: tuple[str, ...] = ()
    seconds: float = 0.0


def perform(task: Task) -> Result:
    """Runs a task; whatever goes wrong is a result too."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch:
        try:
            outcome, why, untyped, findings = _DO[task.kind](task, Path(scratch))
        except Exception:
            lines = traceback.format_exc().splitlines()
            outcome, why, untyped, findings = "failed", "\n".join(lines[-6:]), 0, ()
    seconds = round(time.perf_counter() - started, 2)
    return Result(task.kind, task.name, task.digest, outcome, why, untyped, findings, seconds)


_Answer = tuple[Outcome, str, int, tuple[str, ...]]


def _convert(task: Task, scratch: Path) -> _Answer:
    """Converts the file, and what that gave once more, with buffers, partially."""
    place = scratch / "before" / Path(*task.name.split(".")).with_suffix(".py")
    if task.path.name == "__init__.py":
        place = place.with_suffix("") / "__init__.py"
    place.parent.mkdir(parents=True)
    shutil.copy(task.path, place)
    program = read_sources([scratch / "before"])
    if not program.modules:
        return "not Python", program.diagnostics[0].message, 0, ()
    conversion = convert(analyse(program), list(program.modules), promote=True, partial=True)
    (file,) = conversion.files
    codes = [found.code for found in conversion.diagnostics]
    untyped = codes.count("W1304")
    failure = _wrong_with(file, promoted="R3002" in codes) or _changes_again(file, scratch)
    if failure:
        return "failed", failure, untyped, ()
    if file.data == place.read_bytes():
        return "same", "", untyped, ()
    return "partial" if untyped else "whole", "", untyped, ()


def _wrong_with(file: ConvertedFile, *, promoted: bool) -> str:
    try:
        with deep_recursion():
            tree = ast.parse(file.text)
            compile(tree, file.target.name, "exec", dont_inherit=True)
            before = ast.dump(erased(ast.parse(file.source.read_bytes())))
            if not promoted and ast.dump(erased(tree)) != before:
                return "the new text is another program"
    except (SyntaxError, ValueError) as error:
        return f"the new text does not compile: {error}"
    return ""


def _changes_again(file: ConvertedFile, scratch: Path) -> str:
    place = scratch / "after" / file.target.relative_to(scratch / "before")
    place.parent.mkdir(parents=True)
    place.write_bytes(file.data)
    program = read_sources([scratch / "after"])
    if program.diagnostics and not program.modules:
        return f"the new text is not read: {program.diagnostics[0].message}"
    again = convert(analyse(program), list(program.modules), promote=True, partial=True)
    if again.files[0].text == file.text:
        return ""
    lines = zip(file.text.splitlines(), again.files[0].text.splitlines(), strict=False)
    first = next(((a, b) for a, b in lines if a != b), ("", "more lines"))
    return f"converting again changes it: {first[0].strip()!r} becomes {first[1].strip()!r}"


def _check(task: Task, scratch: Path) -> _Answer:
    """The findings of `ppybuild check`, with every module of the package there."""
    if task.path.is_dir():
        ignored = shutil.ignore_patterns("test", "tests", "__pycache__")
        shutil.copytree(task.path, scratch / task.name, ignore=ignored)
    else:
        shutil.copy(task.path, scratch / f"{task.name}.py")
    facts = analyse(read_sources([scratch]))
    return "checked", "", 0, _findings(facts, scratch)


def _findings(facts: Facts, folder: Path) -> tuple[str, ...]:
    found = {*facts.program.diagnostics, *facts.diagnostics, *check(facts)}
    return tuple(
        sorted(
            f"{one.code} {one.location.path.relative_to(folder.absolute())}"
            f":{one.location.line} {one.message}"
            for one in found
            if one.location is not None and CODES[one.code].severity == "error"
        )
    )


_DO = {"convert": _convert, "check": _check}


class _Eraser(ast.NodeTransformer):
    """Takes out all that conversion may put in, buffers apart."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.returns = None
        node.decorator_list = [each for each in node.decorator_list if not _is_pure(each)]
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.value is None:
            return None
        self.generic_visit(node)
        return ast.Assign([node.target], node.value)


def _is_pure(decorator: ast.expr) -> bool:
    """`@ppy.pure`, under whatever name the module had to import it."""
    match decorator:
        case ast.Attribute(value=ast.Name(id=name), attr="pure"):
            return name.strip("_") == "ppy"
    return False


def erased(tree: ast.Module) -> ast.Module:
    """The program without annotations, `@ppy.pure` and the imports of its top level."""
    kept: Sequence[ast.stmt] = [
        statement
        for statement in tree.body
        if not isinstance(statement, (ast.Import, ast.ImportFrom))
        and not (
            isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test)
        )
    ]
    return _Eraser().visit(ast.Module(list(kept), []))
