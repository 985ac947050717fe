"""Let the processes that `multiprocessing` spawns import from the bundle.

Such a process is a new interpreter, which is told by a pickle what to prepare. The pickle
gets one more item, which attaches the bundle when it is read.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

_ATTACH = """
import sys
writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
sys.path.insert(0, root)
from ppy import bundle
sys.path.remove(root)
sys.dont_write_bytecode = writes
bundle.attach(root)
"""


class Attachment:
    """An object that is read from a pickle by attaching a bundle."""

    def __init__(self, root: str) -> None:
        self.root = root

    def __reduce__(self) -> tuple[object, ...]:
        return exec, (_ATTACH, {"root": self.root})


class SpawnFinder:
    """Finds `multiprocessing.spawn`, once, to add to what it prepares."""

    def __init__(self, root: str) -> None:
        self.root = root

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: object = None
    ) -> ModuleSpec | None:
        if name != "multiprocessing.spawn":
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = SpawnLoader(name, spec.loader.path, self.root)
        return spec


class SpawnLoader(SourceFileLoader):
    """Loads `multiprocessing.spawn`, and changes what `get_preparation_data` gives."""

    def __init__(self, name: str, path: str, root: str) -> None:
        super().__init__(name, path)
        self.root = root

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        prepare = module.get_preparation_data

        def get_preparation_data(name: str) -> dict[str, object]:
            return {"ppy": Attachment(self.root), **prepare(name)}

        vars(module)["get_preparation_data"] = get_preparation_data


def install(root: str) -> None:
    sys.meta_path.insert(0, SpawnFinder(root))
