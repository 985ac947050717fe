"""`ppy.toml`: the one description of a project, as an immutable `Manifest`.

Every key is documented where it is defined, and here only; `docs/manifest.md` says how
they are used together. Keys are kebab-case in the file and snake_case here.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ppybuild.diagnostics import Diagnostic, Failure, Location, nearest
from ppybuild.places import by_place, shown_path
from ppybuild.toml_keys import KeyPath, Span, locate_keys

FILE_NAME = "ppy.toml"

RESERVED_ENTRY_NAMES = frozenset({"app", "native", "data", "ppy", "bundle.json"})
"""An entry's launcher lies beside these in its bundle."""

_IDENTIFIER = r"[^\s./\\]+"
"""One part of a dotted name; a script called `train-model.py` is a module too."""
_INSIDE = r"^(?:[^/.][^/]*|\.[^/.][^/]*|\.)(?:/(?:[^/.][^/]*|\.[^/.][^/]*))*/?$"
"""A relative path that does not lead out of the folder."""
_VERSION_CLAUSE = re.compile(r"\s*(>=|<=|>|<|==|!=|~=)\s*(\d+(?:\.\d+)*)(\.\*)?\s*")


def _kebab(name: str) -> str:
    return name.replace("_", "-")


class _Table(BaseModel):
    """A table of the manifest: fixed keys, exact types, never changed once read."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, alias_generator=_kebab)


class Project(_Table):
    """`[project]`: what is built."""

    name: str = Field(default="", pattern=r"^[A-Za-z0-9._-]*$")
    """Default: the name of the folder that holds the manifest."""
    version: str = Field(default="0.1.0", pattern=r"^[A-Za-z0-9][A-Za-z0-9.+!_-]*$")
    requires_python: str = ">=3.11"
    """Versions of Python that the program takes, as comparisons joined by commas."""


class Sources(_Table):
    """`[sources]`: which files are the program."""

    roots: tuple[Path, ...] = ()
    """Folders where module names start, absolute once loaded.
    Default: `src` if it exists, else the manifest's folder."""
    exclude: tuple[str, ...] = ()
    """Globs, relative to a root, of files that are no part of the program; `**` crosses
    folders."""


class Entry(_Table):
    """`[entry.NAME]`: a program that can be run."""

    module: str = Field(default="", pattern=rf"^({_IDENTIFIER}(\.{_IDENTIFIER})*)?$")
    """The module that runs as `__main__`. Default: the entry's name."""
    args: tuple[str, ...] = ()
    """Arguments of a run that gives none."""
    numerics: Literal["fused", "exact"] = "fused"
    """Tensor regions: `fused` kernels within tolerance, or `exact` the same ATen calls."""
    fp: Literal["strict", "relaxed"] = "strict"
    """Float loops: `strict` IEEE in source order, or `relaxed` (the C compiler may
    reorder)."""
    data: tuple[Annotated[str, Field(pattern=_INSIDE)], ...] = ()
    """Globs, relative to the manifest, of files and folders that go along and that
    `ppy.resource` finds; `**` crosses folders."""
    export: tuple[
        Annotated[str, Field(pattern=rf"^{_IDENTIFIER}(\.{_IDENTIFIER})+$")], ...
    ] = ()
    """Functions, by module and name, that `package --library` offers beside those that are
    marked `ppy.export`."""


class Cpu(_Table):
    """`[device.cpu]`."""

    cpu: str = Field(default="native", pattern=r"^[A-Za-z0-9][A-Za-z0-9.+_-]*$")
    """`native` (the machine that builds), `baseline` (any machine of the architecture), or
    a name that the compiler's `-march` takes."""


class Cuda(_Table):
    """`[device.cuda]`."""

    arch: tuple[Annotated[str, Field(pattern=r"^sm_\d+[af]?$")], ...] = ("sm_90",)
    """GPU architectures that kernels are compiled for."""
    without_gpu: Literal["cpu", "error"] = "cpu"
    """What a bundle built for CUDA does where there is no GPU."""


class Devices(_Table):
    """`[device]`: one table for each device."""

    cpu: Cpu = Cpu()
    cuda: Cuda = Cuda()


class Build(_Table):
    """`[build]`: where and how."""

    dir: Path = Path("build")
    """The folder for everything that is generated, absolute once loaded."""
    device: Literal["cpu", "cuda"] = "cpu"
    """What `build`, `run` and `package` use without `--device`."""
    jobs: int = Field(default=0, ge=0)
    """Compilers at a time; 0: one per core."""
    cache: Path | None = None
    """A folder, shared or not, for compiled objects; `""`: none. Absolute once loaded."""


class Convert(_Table):
    """`[convert]`: defaults of `ppybuild convert`."""

    promote_buffers: bool = True
    """Lists of numbers that are only indexed become buffers."""


class Manifest(_Table):
    """A whole `ppy.toml`."""

    path: Path = Field(default=Path(FILE_NAME), exclude=True)
    """The file itself, absolute; not a key."""
    project: Project = Project()
    sources: Sources = Sources()
    entry: Mapping[str, Entry] = Field(default_factory=dict)
    """Entries by name, in the order of the file."""
    device: Devices = Devices()
    build: Build = Build()
    convert: Convert = Convert()

    @property
    def root(self) -> Path:
        """The folder that relative paths start from."""
        return self.path.parent


def find(start: Path) -> Path:
    """The manifest of `start` or of the nearest folder above it."""
    start = start.absolute()
    for folder in (start, *start.parents):
        path = folder / FILE_NAME
        if path.is_file() or path.is_symlink():
            return path
    raise Failure(
        Diagnostic(
            "E2001",
            f"there is no `{FILE_NAME}` in `{start}` or above it",
            help="`ppybuild init` writes one; `--manifest PATH` names one elsewhere",
        ),
        status=2,
    )


def load(path: Path) -> Manifest:
    """Read a manifest; everything wrong with it is reported together."""
    path = path.absolute()
    text = _read(path)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Failure(_syntax(path, text, error), status=2) from None
    spans = locate_keys(text)
    try:
        parsed = Manifest.model_validate(_prepare(document))
    except ValidationError as error:
        found = [_explain(path, spans, fault) for fault in _outermost(error)]
        raise Failure(*sorted(found, key=by_place), status=2) from None
    manifest = _complete(parsed, path)
    if faults := list(_check(manifest, spans)):
        raise Failure(*sorted(faults, key=by_place), status=2)
    return manifest


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        if path.is_symlink():
            message = f"`{path}` is a link to a file that is not there"
            advice = "remove the link, or put the file where it leads"
        else:
            message, advice = f"there is no manifest `{path}`", "`ppybuild init` writes one"
    except UnicodeDecodeError as error:
        message = f"`{path}` is not UTF-8 (byte {error.start})"
        advice = "save it as UTF-8; TOML files are"
    except OSError as error:
        message = f"`{path}` cannot be read: {error.strerror}"
        advice = "a manifest is a file that you may read"
    raise Failure(Diagnostic("E2001", message, help=advice), status=2)


def _prepare(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with immutable values, and paths where a path is meant."""
    prepared: dict[str, Any] = _freeze(dict(document))
    sources, build = prepared.get("sources"), prepared.get("build")
    if isinstance(sources, dict) and isinstance(sources.get("roots"), tuple):
        sources["roots"] = tuple(_path(root) for root in sources["roots"])
    if isinstance(build, dict):
        for key in ("dir", "cache"):
            if key in build:
                build[key] = None if build[key] == "" and key == "cache" else _path(build[key])
    if "path" in prepared:  # a field of ours, not a key of the file's
        prepared["path "] = prepared.pop("path")
    return prepared


def _freeze(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _freeze(item) for key, item in value.items()}
    if isinstance(value, list):
        return tuple(_freeze(item) for item in value)
    return value


def _path(value: Any) -> Any:
    return Path(value) if isinstance(value, str) else value


def _complete(parsed: Manifest, path: Path) -> Manifest:
    """Fill in the defaults that depend on the folder, and make every path absolute."""
    folder = path.parent
    name = parsed.project.name or re.sub(r"[^A-Za-z0-9._-]+", "-", folder.name) or "project"
    src = folder / "src"
    roots = parsed.sources.roots or ((src,) if src.is_dir() else (folder,))
    cache = parsed.build.cache
    entries = {
        name: entry if entry.module else entry.model_copy(update={"module": name})
        for name, entry in parsed.entry.items()
    }
    build = {"dir": _absolute(folder, parsed.build.dir)}
    if cache is not None:
        build["cache"] = _absolute(folder, cache)
    return parsed.model_copy(
        update={
            "path": path,
            "project": parsed.project.model_copy(update={"name": name}),
            "sources": parsed.sources.model_copy(
                update={
                    "roots": tuple(dict.fromkeys(_absolute(folder, each) for each in roots))
                }
            ),
            "entry": MappingProxyType(entries),
            "build": parsed.build.model_copy(update=build),
        }
    )


def _absolute(folder: Path, path: Path) -> Path:
    """Absolute, without `.` and `..`, symbolic links left as they are."""
    return Path(os.path.normpath(folder / os.path.expanduser(path)))  # noqa: PTH111 `~nobody` stays


def _check(manifest: Manifest, spans: Mapping[KeyPath, Span]) -> Iterator[Diagnostic]:
    """What single values cannot show: missing folders, names that collide, versions."""
    path = manifest.path

    def at(*keys: str | int) -> Location:
        return _location(path, spans, keys)

    for index, root in enumerate(manifest.sources.roots):
        if not root.is_dir():
            yield Diagnostic(
                "E2004",
                f"the source root `{shown_path(root, manifest.root)}` is not a folder",
                at("sources", "roots", index),
                help="`roots` names the folders where module names start",
            )
        elif root.is_relative_to(manifest.build.dir):
            yield Diagnostic(
                "E2004",
                f"the build folder `{shown_path(manifest.build.dir, manifest.root)}` holds the "
                f"source root `{shown_path(root, manifest.root)}`",
                at("build", "dir"),
                help="`ppybuild clean` removes the build folder: keep sources out of it",
            )
    for name in manifest.entry:
        if name in RESERVED_ENTRY_NAMES:
            yield Diagnostic(
                "E2003",
                f"an entry cannot be called `{name}`: its bundle has a part of that name",
                at("entry", name),
                help="give it another name; `module` says what it runs",
            )
        elif not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", name):
            yield Diagnostic(
                "E2003",
                f"`{name}` cannot be an entry's name",
                at("entry", name),
                help="use letters, digits, `.`, `_` and `-`: it becomes a file's name",
            )
        elif not re.fullmatch(rf"{_IDENTIFIER}(\.{_IDENTIFIER})*", manifest.entry[name].module):
            yield Diagnostic(
                "E2003",
                f"the entry `{name}` needs `module`: its name is no module's name",
                at("entry", name),
                help='add `module = "package.module"`',
            )
    yield from _check_python(manifest.project.requires_python, at("project", "requires-python"))


def _check_python(required: str, where: Location) -> Iterator[Diagnostic]:
    clauses = [
        match
        for clause in required.split(",")
        if (match := _VERSION_CLAUSE.fullmatch(clause)) and _takes_star(*match.groups())
    ]
    running = sys.version_info[:3]
    shown = ".".join(map(str, running))
    if len(clauses) < len(required.split(",")):
        yield Diagnostic(
            "E2003",
            f"`requires-python = {required!r}` is not a list of comparisons",
            where,
            help='as in `">=3.11"` or `">=3.11,<3.14"`',
        )
    elif not all(_satisfies(running, *match.groups()) for match in clauses):
        yield Diagnostic(
            "E2005",
            f"the program takes Python {required}, and this is Python {shown}",
            where,
            help="run ppybuild under a Python that the program takes",
        )


def _takes_star(comparison: str, version: str, star: str | None) -> bool:
    """`==3.11.*` is a family of versions; `>=3.11.*` is nothing."""
    return star is None or comparison in ("==", "!=")


def _satisfies(
    running: tuple[int, ...], comparison: str, version: str, star: str | None
) -> bool:
    wanted = tuple(map(int, version.split(".")))
    if comparison == "~=":
        return running >= wanted and running[: len(wanted) - 1] == wanted[:-1]
    if star:
        same = running[: len(wanted)] == wanted
        return same if comparison == "==" else not same
    padded = wanted + (0,) * (3 - len(wanted))
    return {
        ">=": running >= padded,
        "<=": running <= padded,
        ">": running > padded,
        "<": running < padded,
        "==": running == padded,
        "!=": running != padded,
    }[comparison]


def _outermost(error: ValidationError) -> list[Any]:
    """One fault for each place, without those inside or about the same value."""
    faults: dict[tuple[int | str, ...], Any] = {}
    for fault in error.errors(include_url=False):
        location = tuple(part for part in fault["loc"] if part != "[key]")
        faults.setdefault(location, {**fault, "loc": location})
    return list(faults.values())


def _explain(path: Path, spans: Mapping[KeyPath, Span], fault: Any) -> Diagnostic:
    keys: KeyPath = tuple(key.strip() if isinstance(key, str) else key for key in fault["loc"])
    where = _location(path, spans, keys)
    if fault["type"] == "extra_forbidden":
        return _unknown_key(keys, where)
    shown = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)[1:]
    if len(keys) == 2 and keys[0] == "entry":
        return Diagnostic(
            "E2003",
            f"`entry.{keys[1]}` should be a table",
            where,
            help="each entry is a table of its own: `[entry.NAME]`",
        )
    message = str(fault["msg"]).removeprefix("Value error, ")
    if fault["type"] == "string_pattern_mismatch":
        message = f"cannot be `{fault['input']}`"
    for old, new in _WORDING:
        message = message.replace(old, new)
    return Diagnostic("E2003", f"`{shown}` {message}", where, help=_value_help(fault, keys))


_WORDING = (
    ("Input should", "should"),
    ("a valid tuple", "a list"),
    ("a valid dictionary or instance of", "a table, as"),
    ("a valid dictionary", "a table"),
    ("a valid mapping", "a table"),
    ("a valid string", "a string"),
    ("a valid integer", "a whole number"),
    ("a valid boolean", "true or false"),
    ("an instance of Path", "a string"),
)


def _value_help(fault: Any, keys: Sequence[str | int]) -> str:
    expected = str(fault.get("ctx", {}).get("expected", ""))
    given = fault.get("input")
    if expected and isinstance(given, str):
        close = nearest(given, re.findall(r"'([^']*)'", expected))
        if close:
            return f'did you mean `"{close}"`?'
    if fault["type"] == "tuple_type" and isinstance(given, str):
        return f'write it as a list: `["{given}"]`'
    key = next(key for key in reversed(keys) if isinstance(key, str))
    return _EXAMPLES.get(key, "")


_EXAMPLES = {
    "name": "use letters, digits, `.`, `_` and `-`",
    "version": 'as in `version = "1.2.0"`',
    "module": 'a dotted name, as imported: `module = "app.train"`',
    "jobs": "0: one per core",
    "data": 'as in `data = ["weights/*.pt"]`: below the folder of the manifest',
    "export": 'as in `export = ["app.prep.standardize"]`',
    "cpu": '`"native"`, `"baseline"` or a name that `-march` takes',
    "arch": 'as in `arch = ["sm_90"]`',
}


def _unknown_key(keys: KeyPath, where: Location) -> Diagnostic:
    *table, key = keys
    known = _known_keys(table)
    close = nearest(str(key), known)
    kind = "table" if not table else "key"
    inside = f" in `[{'.'.join(map(str, table))}]`" if table else ""
    advice = f"did you mean `{close}`?" if close else f"known here: {', '.join(known)}"
    return Diagnostic("E2002", f"unknown {kind} `{key}`{inside}", where, help=advice)


_TABLES: Mapping[tuple[str, ...], type[_Table]] = {
    (): Manifest,
    ("project",): Project,
    ("sources",): Sources,
    ("entry",): Entry,
    ("device",): Devices,
    ("device", "cpu"): Cpu,
    ("device", "cuda"): Cuda,
    ("build",): Build,
    ("convert",): Convert,
}


def _known_keys(table: Sequence[str | int]) -> list[str]:
    path = tuple(map(str, table))
    model = _TABLES[path[:1] if path[:1] == ("entry",) else path]
    return [_kebab(name) for name in model.model_fields if name != "path"]


def _location(path: Path, spans: Mapping[KeyPath, Span], keys: Sequence[str | int]) -> Location:
    """Where the key stands, or the nearest table around it, or the file's start."""
    for length in range(len(keys), 0, -1):
        span = spans.get(tuple(keys[:length]))
        if span is not None:
            return Location(path, span.line, span.column, span.line, span.end_column)
    return Location(path, 1, 1, 1, 1)


def _syntax_help(message: str) -> str:
    for said, advice in _SYNTAX.items():
        if said in message:
            return advice
    return "strings need quotes, and each table its own `[name]` line"


_SYNTAX = {
    "at the end of a table declaration": "a table's line ends with `]`: `[entry.train]`",
    "Unclosed array": "a list ends with `]`",
    "Cannot overwrite a value": "the key stands twice; remove one",
    "Cannot declare": "the table stands twice; put its keys together",
    "Unterminated string": "a string ends with the quote that it starts with",
}
"""What `tomllib` says of a fault, and what to do."""


def _syntax(path: Path, text: str, error: tomllib.TOMLDecodeError) -> Diagnostic:
    """`tomllib` says where in words."""
    match = re.search(r" \(at line (\d+), column (\d+)\)$", str(error))
    if match:
        line, column = int(match[1]), int(match[2])
    else:
        lines = text.split("\n")
        line, column = len(lines), len(lines[-1]) + 1
    message = re.sub(r" \(at .*\)$", "", str(error))
    return Diagnostic(
        "E2001",
        f"not valid TOML: {message[:1].lower()}{message[1:]}",
        Location(path, line, column, line, column + 1),
        help=_syntax_help(message),
    )
