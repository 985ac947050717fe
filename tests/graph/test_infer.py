"""Golden cases of inference: a program in, its facts out.

A case's source is one module, `m`, or several, each after a line `# module NAME`. The facts are
each function's signature and locals, fields of classes, and `reveal_type(expression)`.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from ppybuild.graph.analyse import analyse
from ppybuild.graph.lattice import show
from ppybuild.graph.library import Library
from ppybuild.graph.load import read_sources
from ppybuild.graph.program import Facts
from tests.golden import Case, Golden, cases

CASES = sorted((Path(__file__).parent / "cases").glob("infer_*.txt"))

STARS = {"rest": "*", "keywords": "**"}


@pytest.fixture(scope="module")
def library() -> Library:
    return Library()


def write_modules(folder: Path, source: str) -> None:
    """Writes a case's modules as files."""
    name, lines = "m", []
    files: dict[str, list[str]] = {}
    for line in source.splitlines():
        if line.startswith("# module "):
            name = line.removeprefix("# module ").strip()
        else:
            files.setdefault(name, []).append(line)
    for name, lines in files.items():
        path = folder / (name.replace(".", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n")


def describe(facts: Facts) -> str:
    """The facts as text, in order of the program."""
    lines = []
    for name, fields in facts.fields.items():
        shown = ", ".join(f"{field}: {show(found)}" for field, found in fields.items())
        lines.append(f"class {name}: {shown}")
    for name, signature in facts.signatures.items():
        parameters = ", ".join(
            f"{STARS.get(each.kind, '')}{each.name}: {show(each.type)}"
            for each in signature.parameters
        )
        lines.append(f"{name}({parameters}) -> {show(signature.result)}")
        given = {each.name for each in signature.parameters}
        lines.extend(
            f"    {local}: {show(found)}"
            for local, found in facts.locals[name].items()
            if local not in given
        )
    for module in facts.program.modules.values():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "reveal_type":
                argument = node.args[0]
                found = facts.types.get(argument)
                shown = "unreached" if found is None else show(found)
                lines.append(f"{module.name}:{node.lineno}: {ast.unparse(argument)}: {shown}")
    lines.extend(f"{found.code}: {found.message}" for found in facts.diagnostics)
    return "\n".join(lines)


@cases(*CASES)
def test_infer(case: Case, golden: Golden, tmp_path: Path, library: Library) -> None:
    write_modules(tmp_path, case.source)
    facts = analyse(read_sources([tmp_path]), library)
    golden(case, facts=describe(facts))
