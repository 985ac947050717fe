"""Read `native_functions.yaml` without a YAML parser.

The file is 600 KB, and a region needs a handful of its 2,600 entries. The entries are
split by a regular expression in a few milliseconds, and an entry is parsed when its name
is first asked for. torchgen's own parser takes seconds for the whole file.
"""

from __future__ import annotations

import functools
import importlib.util
import re
from pathlib import Path

from ppybuild.graph.schemas.records import Argument, Operator, SchemaType

_FILE = Path("packaged", "ATen", "native", "native_functions.yaml")
_ENTRY = re.compile(r"^- func: (?P<name>\w+)(?P<schema>.*)\n(?P<keys>(?:[^-\n].*\n|\n)*)", re.M)
_KEY = re.compile(r"^  (variants|python_module|tags): *(.*?)(?: *#.*)?$", re.M)
_SCHEMA = re.compile(
    r"(?P<name>\w+)(?:\.(?P<overload>\w+))?\((?P<arguments>.*)\) -> (?P<returns>.*)"
)
_TYPE = re.compile(
    r"(?P<base>\w+)(?:\((?P<alias>[^)]*)\))?(?P<item>\?)?(?P<list>\[(?P<size>\d*)\])?(?P<optional>\?)?"
)


class Schemas:
    """All operators of one `native_functions.yaml`, by name."""

    def __init__(self, text: str) -> None:
        self._entries: dict[str, list[tuple[str, str]]] = {}
        for entry in _ENTRY.finditer(text):
            name = entry["name"]
            self._entries.setdefault(name, []).append((name + entry["schema"], entry["keys"]))
        self._operators: dict[str, tuple[Operator, ...]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def names(self) -> tuple[str, ...]:
        """Names without overloads, in order of the file."""
        return tuple(self._entries)

    def overloads(self, name: str) -> tuple[Operator, ...]:
        """The operators of this name, in order of the file; none for an unknown name."""
        known = self._operators.get(name)
        if known is None:
            entries = self._entries.get(name, [])
            known = tuple(parse_operator(schema, keys) for schema, keys in entries)
            self._operators[name] = known
        return known

    def operator(self, qualified: str) -> Operator:
        """The operator named `aten::name.overload`; KeyError if there is none."""
        name = qualified.removeprefix("aten::").partition(".")[0]
        for operator in self.overloads(name):
            if operator.qualified == qualified:
                return operator
        raise KeyError(qualified)


@functools.lru_cache(maxsize=4)
def _load(path: Path, stamp: tuple[int, int]) -> Schemas:
    return Schemas(path.read_text("utf-8"))


def installed_schemas() -> Schemas | None:
    """The schemas of the torch that this interpreter would import; None without torch.

    torch is found, not imported.
    """
    spec = importlib.util.find_spec("torchgen")
    if spec is None or not spec.submodule_search_locations:
        return None
    path = Path(spec.submodule_search_locations[0]) / _FILE
    try:
        found = path.stat()
    except OSError:
        return None
    return _load(path, (found.st_size, found.st_mtime_ns))


def parse_operator(schema: str, keys: str = "") -> Operator:
    """Parse a schema (`add.Tensor(Tensor self, ...) -> Tensor`) and its entry's keys."""
    parts = _SCHEMA.fullmatch(schema.strip())
    if parts is None:
        raise ValueError(f"not an operator schema: {schema!r}")
    values = {key: value.strip(" []") for key, value in _KEY.findall(keys)}
    variants = {word.strip() for word in values.get("variants", "function").split(",")}
    return Operator(
        name=parts["name"],
        overload=parts["overload"] or "",
        arguments=_parse_arguments(parts["arguments"]),
        returns=_parse_returns(parts["returns"]),
        function="function" in variants,
        method="method" in variants,
        module=values.get("python_module"),
        tags=frozenset(tag.strip() for tag in values.get("tags", "").split(",") if tag.strip()),
        schema=schema.strip(),
    )


def _parse_arguments(text: str) -> tuple[Argument, ...]:
    arguments: list[Argument] = []
    keyword_only = False
    for part in _split(text):
        if part == "*":
            keyword_only = True
            continue
        declared, equals, default = part.partition("=")
        type_text, name = declared.rsplit(" ", 1)
        arguments.append(
            Argument(name, parse_type(type_text), default if equals else None, keyword_only)
        )
    return tuple(arguments)


def _parse_returns(text: str) -> tuple[SchemaType, ...]:
    text = text.strip()
    parts = _split(text[1:-1]) if text.startswith("(") else [text]
    # `Tensor(a!) values`: a result may bear a name.
    return tuple(parse_type(re.sub(r" \w+$", "", part)) for part in parts)


def parse_type(text: str) -> SchemaType:
    """Parse a type as schemas spell it; ValueError if it is not one."""
    parts = _TYPE.fullmatch(text.strip())
    if parts is None:
        raise ValueError(f"not a schema type: {text!r}")
    is_list = parts["list"] is not None
    item_optional = parts["item"] is not None and is_list
    return SchemaType(
        base=parts["base"],
        optional=parts["optional"] is not None or (parts["item"] is not None and not is_list),
        is_list=is_list,
        size=int(parts["size"]) if parts["size"] else None,
        item_optional=item_optional,
        alias=parts["alias"],
    )


def _split(text: str) -> list[str]:
    """Split at commas that are not inside brackets or a string."""
    parts, depth, start, quoted = [], 0, 0, False
    for position, character in enumerate(text):
        if character in "'\"":
            quoted = not quoted
        elif quoted:
            continue
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]
