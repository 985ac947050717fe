"""The documents against what they describe: links, commands, keys of the manifest, rooms."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from ppybuild.cli.main import COMMANDS
from ppybuild.manifest import Build, Convert, Cpu, Cuda, Entry, Project, Sources

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def text_of(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_listed(command: str) -> None:
    assert f"| `ppybuild {command}" in text_of("cli.md")


@pytest.mark.parametrize("table", [Project, Sources, Entry, Cpu, Cuda, Build, Convert])
def test_every_key_is_listed(table: type[BaseModel]) -> None:
    keys = [name.replace("_", "-") for name in table.model_fields]
    assert [key for key in keys if f"\n{key} = " not in text_of("manifest.md")] == []


@pytest.mark.parametrize("room", ["graph", "emit/loops", "emit/tensors", "emit"])
def test_every_room_is_described(room: str) -> None:
    inside = [path.parent.name for path in (ROOT / "ppybuild" / room).glob("*/__init__.py")]
    assert inside
    architecture = text_of("architecture.md")
    assert [name for name in inside if f"{name}/" not in architecture] == []
