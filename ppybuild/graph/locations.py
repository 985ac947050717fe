"""From syntax nodes to spans of source."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from ppybuild.diagnostics import Location
from ppybuild.graph.program import FunctionNode, Module


def locate(module: Module, node: ast.AST) -> Location:
    """The span of a node; the syntax tree counts bytes of UTF-8, a `Location` characters."""
    line = getattr(node, "lineno", 1)
    end_line = getattr(node, "end_lineno", None) or line
    lines = _lines(module.text) if not module.text.isascii() else ()
    return Location(
        module.path,
        line,
        _character(lines, line, getattr(node, "col_offset", 0)) + 1,
        end_line,
        _character(lines, end_line, getattr(node, "end_col_offset", None) or 0) + 1,
    )


def function_span(module: Module, node: FunctionNode) -> Location:
    """The span of a function, its decorators included."""
    span = locate(module, node)
    first = min([span.line, *(found.lineno for found in node.decorator_list)])
    return replace(span, line=first)


def covers(span: Location, place: Location | None) -> bool:
    """Whether a place lies in the lines of a span."""
    return (
        place is not None
        and span.path == place.path
        and span.line <= place.line
        and place.end_line <= span.end_line
    )


def source_path(module: Module) -> str:
    """A module's path below its source root, the same on every machine."""
    inner = "/__init__" if module.is_package else ""
    return module.name.replace(".", "/") + inner + module.path.suffix


def locate_point(path: Path, line: int, column: int) -> Location:
    """One character, line and column counting from 1."""
    return Location(path, line, column, line, column + 1)


@lru_cache(maxsize=8)
def _lines(text: str) -> tuple[str, ...]:
    """Lines as Python counts them: a form feed or a Unicode separator ends none."""
    return tuple(re.split(r"\r\n|\r|\n", text))


def _character(lines: Sequence[str], line: int, offset: int) -> int:
    if not lines or line > len(lines):
        return offset
    return len(lines[line - 1].encode()[:offset].decode(errors="replace"))
