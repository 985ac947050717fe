"""The program map as one HTML page that needs nothing else."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ppybuild.cli.common import counted
from ppybuild.cli.graph_formats import COLOURS, WORDS
from ppybuild.cli.program_map import MappedFunction, MappedModule, ProgramMap
from ppybuild.cli.region_text import heading, operators

if TYPE_CHECKING:
    from ppybuild.emit.emission import DescribedRegion

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 68rem; }}
body {{ padding: 0 1rem; }}
table {{ border-collapse: collapse; width: 100%; margin-bottom: 2rem; }}
th, td {{ text-align: left; vertical-align: top; padding: .35rem .6rem; }}
th, td {{ border-bottom: 1px solid #ddd; }}
code {{ font: 13px/1.4 ui-monospace, monospace; }}
.kind {{ border-radius: .3rem; padding: .1rem .5rem; white-space: nowrap; color: #111; }}
.why {{ color: #666; }}
details table {{ margin: .5rem 0; }} details p {{ margin: .4rem 0; }}
{colours}
@media (prefers-color-scheme: dark) {{
  body {{ background: #16181c; color: #ddd; }} a {{ color: #8ab4f8; }} .why {{ color: #aaa; }}
  th, td {{ border-color: #333; }}
}}
</style>
<h1>{name}</h1>
<p>{count}, {functions}; {native} native.</p>
{modules}
</html>
"""


def write_page(program: ProgramMap) -> str:
    """Modules with their functions, each linked to what it calls."""
    colours = "\n".join(f".{kind} {{ background: {it}; }}" for kind, it in COLOURS.items())
    return _PAGE.format(
        name=escape(program.name),
        colours=colours,
        count=counted(len(program.modules), "module"),
        functions=counted(len(program.functions), "function"),
        native=sum(found.kind != "python" for found in program.functions),
        modules="\n".join(_module(program, module) for module in program.modules),
    )


def _module(program: ProgramMap, module: MappedModule) -> str:
    inside = [found for found in program.functions if found.module == module.name]
    imports = ", ".join(
        f'<a href="#{escape(name)}">{escape(name)}</a>' for name in module.imports
    )
    said = f"{escape(module.path)}, {module.lines} lines" + (
        f"; imports {imports}" if imports else ""
    )
    head = (
        f'<h2 id="{escape(module.name)}">{escape(module.name)}</h2>\n<p class="why">{said}</p>'
    )
    if not inside:
        return head
    rows = "\n".join(_function(found, module.name) for found in inside)
    columns = "<tr><th>function<th>line<th>what it is<th>calls</tr>"
    return f"{head}\n<table>\n{columns}\n{rows}\n</table>"


def _region(found: DescribedRegion) -> str:
    """What it is made of, folded away."""
    through = ", ".join(
        f"<code>{escape(name)}</code> ({escape(file)}:{line})"
        for name, file, line in found.through
    )
    inputs = "".join(
        f"<tr><td><code>{escape(given.name)}</code><td>{escape(given.what)}<td>{given.role}</tr>"
        for given in found.inputs
    )
    parts = [
        f"<p>{escape(found.numerics)}</p>",
        f'<p class="why">The fused form does not hold {escape(found.unfused)}.</p>'
        if found.unfused
        else "",
        f"<p>Through {through}</p>" if through else "",
        f"<p>Operators: <code>{escape(operators(found))}</code></p>",
        f"<table><tr><th>input<th>what<th>is</tr>{inputs}</table>",
        "<p>Python runs it where</p><ul>",
        *(f"<li>{escape(guard)}</li>" for guard in found.guards),
        "</ul>",
    ]
    return f"<details><summary>{escape(heading(found))}</summary>{''.join(parts)}</details>"


def _function(found: MappedFunction, module: str) -> str:
    calls = ", ".join(
        f'<a href="#{escape(name)}"><code>{escape(name)}</code></a>' for name in found.calls
    )
    why = f'<br><span class="why">{escape(found.why)}</span>' if found.why else ""
    kind = f'<span class="kind {found.kind}">{WORDS[found.kind]}</span>{why}'
    if found.region is not None:
        kind += _region(found.region)
    name = f"<code>{escape(found.name[len(module) + 1 :])}</code>"
    return f'<tr id="{escape(found.name)}"><td>{name}<td>{found.line}<td>{kind}<td>{calls}</tr>'
