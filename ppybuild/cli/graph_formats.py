"""The program map as text, JSON and DOT (the Graphviz language)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

from ppybuild.cli.common import counted
from ppybuild.cli.program_map import MappedFunction, ProgramMap
from ppybuild.cli.region_text import region_lines

COLOURS = {"loop": "#cfe8cf", "region": "#cfdcf3", "python": "#eeeeee"}
WORDS = {"loop": "native loop", "region": "tensor region", "python": "Python"}


def write_text(program: ProgramMap) -> str:
    """For reading in a terminal."""
    return "\n".join(_text(program)) + "\n"


def _text(program: ProgramMap) -> Iterator[str]:
    native = sum(found.kind != "python" for found in program.functions)
    modules = counted(len(program.modules), "module")
    functions = counted(len(program.functions), "function")
    yield f"{program.name}: {modules}, {functions}, {native} native"
    for module in program.modules:
        yield ""
        imports = f", imports {', '.join(module.imports)}" if module.imports else ""
        yield f"{module.name} ({module.path}, {module.lines} lines{imports})"
        for found in program.functions:
            if found.module == module.name:
                name = found.name[len(module.name) + 1 :]
                yield f"  {name}:{found.line}  {WORDS[found.kind]}"
                if found.why:
                    yield f"      {found.why}"
                if found.region is not None:
                    yield from (f"      {line}" for line in region_lines(found.region))
                if found.calls:
                    yield f"      calls {', '.join(found.calls)}"


def write_json(program: ProgramMap) -> str:
    """`ProgramMap` field by field."""
    return json.dumps(asdict(program), indent=2) + "\n"


def write_dot(program: ProgramMap) -> str:
    """A digraph of calls; functions lie in a cluster for each module."""
    lines = ["digraph program {", "  rankdir=LR;", "  node [shape=box, style=filled];"]
    for number, module in enumerate(program.modules):
        lines.append(f"  subgraph cluster_{number} {{")
        lines.append(f"    label={json.dumps(module.name)};")
        inside = [found for found in program.functions if found.module == module.name]
        lines += [f"    {_node(found, module.name)}" for found in inside]
        lines.append("  }")
    for found in program.functions:
        lines += [f"  {json.dumps(found.name)} -> {json.dumps(name)};" for name in found.calls]
    return "\n".join([*lines, "}"]) + "\n"


def _node(found: MappedFunction, module: str) -> str:
    label = json.dumps(found.name[len(module) + 1 :])
    said = "" if found.region is None else "\n".join(region_lines(found.region))
    tooltip = f", tooltip={json.dumps(said, ensure_ascii=False)}" if said else ""
    colour = COLOURS[found.kind]
    return f'{json.dumps(found.name)} [label={label}, fillcolor="{colour}"{tooltip}];'
