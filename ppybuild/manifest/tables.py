"""`ppy.toml`: the one description of a project, as an immutable `Manifest`.

Every key is documented where it is defined, and here only; `docs/manifest.md` says how
they are used together. Keys are kebab-case in the file and snake_case here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

FILE_NAME = "ppy.toml"

RESERVED_ENTRY_NAMES = frozenset({"app", "native", "data", "ppy", "bundle.json"})
"""An entry's launcher lies beside these in its bundle."""

IDENTIFIER = r"[^\s./\\]+"
"""One part of a dotted name; a script called `train-model.py` is a module too."""
_INSIDE = r"^(?:[^/.][^/]*|\.[^/.][^/]*|\.)(?:/(?:[^/.][^/]*|\.[^/.][^/]*))*/?$"
"""A relative path that does not lead out of the folder."""


def kebab(name: str) -> str:
    return name.replace("_", "-")


class Table(BaseModel):
    """A table of the manifest: fixed keys, exact types, never changed once read."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, alias_generator=kebab)


class Project(Table):
    """`[project]`: what is built."""

    name: str = Field(default="", pattern=r"^[A-Za-z0-9._-]*$")
    """Default: the name of the folder that holds the manifest."""
    version: str = Field(default="0.1.0", pattern=r"^[A-Za-z0-9][A-Za-z0-9.+!_-]*$")
    requires_python: str = ">=3.11"
    """Versions of Python that the program takes, as comparisons joined by commas."""


class Sources(Table):
    """`[sources]`: which files are the program."""

    roots: tuple[Path, ...] = ()
    """Folders where module names start, absolute once loaded.
    Default: `src` if it exists, else the manifest's folder."""
    exclude: tuple[str, ...] = ()
    """Globs, relative to a root, of files that are no part of the program; `**` crosses
    folders."""


class Entry(Table):
    """`[entry.NAME]`: a program that can be run."""

    module: str = Field(default="", pattern=rf"^({IDENTIFIER}(\.{IDENTIFIER})*)?$")
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
    export: tuple[Annotated[str, Field(pattern=rf"^{IDENTIFIER}(\.{IDENTIFIER})+$")], ...] = ()
    """Functions, by module and name, that `package --library` offers beside those that are
    marked `ppy.export`."""


class Cpu(Table):
    """`[device.cpu]`."""

    cpu: str = Field(default="native", pattern=r"^[A-Za-z0-9][A-Za-z0-9.+_-]*$")
    """`native` (the machine that builds), `baseline` (any machine of the architecture), or
    a name that the compiler's `-march` takes."""


class Cuda(Table):
    """`[device.cuda]`."""

    arch: tuple[Annotated[str, Field(pattern=r"^sm_\d+[af]?$")], ...] = ("sm_90",)
    """GPU architectures that kernels are compiled for."""
    without_gpu: Literal["cpu", "error"] = "cpu"
    """What a bundle built for CUDA does where there is no GPU."""


class Devices(Table):
    """`[device]`: one table for each device."""

    cpu: Cpu = Cpu()
    cuda: Cuda = Cuda()


class Build(Table):
    """`[build]`: where and how."""

    dir: Path = Path("build")
    """The folder for everything that is generated, absolute once loaded."""
    device: Literal["cpu", "cuda"] = "cpu"
    """What `build`, `run` and `package` use without `--device`."""
    jobs: int = Field(default=0, ge=0)
    """Compilers at a time; 0: one per core."""
    cache: Path | None = None
    """A folder, shared or not, for compiled objects; `""`: none. Absolute once loaded."""


class Convert(Table):
    """`[convert]`: defaults of `ppybuild convert`."""

    promote_buffers: bool = True
    """Lists of numbers that are only indexed become buffers."""


class Manifest(Table):
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
