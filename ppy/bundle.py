"""Run a bundle: read what it is, check that it is whole and fits this machine, start it.

Whatever does not fit is one line on standard error and exit status 2, before any code of
the program has run. Nothing is written inside the bundle.
"""

from __future__ import annotations

import sys

_AT_START = frozenset(sys.modules)

import hashlib  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
from importlib.machinery import EXTENSION_SUFFIXES  # noqa: E402
from importlib.util import find_spec  # noqa: E402
from types import ModuleType, TracebackType  # noqa: E402

from ppy import loader, spawn  # noqa: E402
from ppy.refusal import Refused, refuse  # noqa: E402

TYPE_CHECKING = False  # as typing's, which would double the time that this import takes
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

SCHEMA = 1


# What bundle.json holds


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_table(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


def _is_bindings(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(names, dict)
        and all(_is_texts(target) and len(target) == 2 for target in names.values())
        for names in value.values()
    )


def _is_splices(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(found, list) and all(map(_is_splice, found)) for found in value.values()
    )


def _is_place(value: object) -> bool:
    return isinstance(value, list) and [type(each) for each in value] == [int] * 4


def _is_splice(value: object) -> bool:
    return (
        isinstance(value, dict)
        and all(type(value.get(key)) is int for key in ("line", "column", "count"))
        and all(_is_texts(value.get(key)) for key in ("takes", "gives", "renews", "target"))
        and len(value["target"]) == 2
        and (value.get("value") is None or _is_place(value["value"]))
    )


_KEYS: Mapping[str, Callable[[object], bool]] = {
    "entry": _is_text,
    "version": _is_text,
    "module": _is_text,
    "args": _is_texts,
    "device": _is_text,
    "without_gpu": _is_text,
    "platform": _is_text,
    "python": _is_text,
    "torch": lambda value: value is None or isinstance(value, str),
    "cpu": _is_texts,
    "requires": _is_table,
    "licences": _is_table,
    "extensions": _is_table,
    "bindings": _is_bindings,
    "splices": _is_splices,
    "files": _is_table,
}


def read(root: str) -> dict[str, Any]:
    """What `bundle.json` says, checked for its form."""
    try:
        with open(os.path.join(root, "bundle.json"), "rb") as file:
            description: dict[str, Any] = json.loads(file.read())
    except OSError as error:
        raise Refused(f"bundle.json cannot be read: {error.strerror}; {_AGAIN}") from None
    except ValueError:
        raise Refused(f"bundle.json is damaged; {_AGAIN}") from None
    schema = description.get("schema") if isinstance(description, dict) else None
    if type(schema) is not int:
        raise Refused(f"bundle.json is damaged; {_AGAIN}")
    if schema > SCHEMA:
        raise Refused(
            f"bundle.json has schema {schema} and this runtime reads {SCHEMA}: "
            "run the bundle with the runtime that it came with"
        )
    for key, fits in _KEYS.items():
        if key not in description or not fits(description[key]):
            raise Refused(f"bundle.json is damaged at {key!r}; {_AGAIN}")
    if description.get("digest") != digest(description):
        raise Refused(f"bundle.json is not as it was built; {_AGAIN}")
    return description


def digest(description: Mapping[str, Any]) -> str:
    """SHA-256 of everything that `bundle.json` says beside this digest itself."""
    rest = {key: value for key, value in description.items() if key != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode("ascii")).hexdigest()


_AGAIN = "copy the whole bundle again, or build it again"


# What it was built for


def check_machine(description: Mapping[str, Any]) -> None:
    """Refuse another Python, a library that is missing, another torch, or a CPU without
    what was compiled for."""
    present = soabi()
    if description["python"] != present:
        raise Refused(
            f"built for Python {description['python']} and started by {present}: "
            "set PPY_PYTHON to that Python, or build for this one"
        )
    for module, pin in description["requires"].items():
        if module not in sys.modules and find_spec(module) is None:
            raise Refused(
                f"built with {pin}, which is not installed: python -m pip install '{pin}'"
            )
    if description["torch"] is not None:
        torch = torch_version()
        if torch != description["torch"]:
            found = "is not installed" if torch is None else f"is {torch} here"
            raise Refused(
                f"built for torch {description['torch']}, which {found}: "
                f"install torch=={description['torch']}, or build for this one"
            )
    present_features = cpu_features()
    missing = [one for one in description["cpu"] if one not in (present_features or ())]
    if missing and present_features is not None:
        raise Refused(
            f"built for a CPU with {', '.join(missing)}, which this one does not have: "
            'build here, or with cpu = "baseline" in ppy.toml'
        )
    if description["device"] == "cuda" and description["without_gpu"] == "error":
        reason = without_gpu()
        if reason:
            raise Refused(
                f"built for a GPU, and {reason}: run it where there is one, or build with "
                'without-gpu = "cpu" in ppy.toml'
            )


def without_gpu() -> str:
    """Why the NVIDIA driver (https://docs.nvidia.com/cuda/cuda-driver-api/) offers no GPU
    here; "" where it does."""
    from ctypes import CDLL, byref, c_int

    try:
        driver = CDLL("libcuda.so.1")
    except OSError:
        return "no NVIDIA driver is installed here"
    count = c_int(0)
    code = driver.cuInit(0) or driver.cuDeviceGetCount(byref(count))
    if code:
        return f"the NVIDIA driver does not start here (CUDA error {code})"
    return "" if count.value else "there is none here"


def soabi() -> str:
    """What extension modules of this interpreter are built for: `cpython-311-x86_64-…`."""
    return EXTENSION_SUFFIXES[0].split(".")[1]


def torch_version() -> str | None:
    """The installed torch's version, without importing it."""
    from importlib import metadata

    try:
        return metadata.version("torch")
    except metadata.PackageNotFoundError:
        return None


def cpu_features() -> frozenset[str] | None:
    """This CPU's features by the names in `/proc/cpuinfo`; None where that is not there."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            for line in file:
                name, _, value = line.partition(":")
                if name.strip() in ("flags", "Features"):
                    return frozenset(value.split())
    except OSError:
        pass
    return None


# Whether it is whole


def verify(root: str, description: Mapping[str, Any], whole: bool = False) -> dict[str, bytes]:
    """Check every file's digest, unless all are known to be right. Gives the program's
    sources, by path."""
    sources = {}
    for path, expected in description["files"].items():
        is_source = path.startswith("app/") and path.endswith(loader.SUFFIXES)
        if whole and not is_source:
            continue
        try:
            with open(os.path.join(root, path), "rb") as file:
                if is_source:
                    sources[path] = file.read()
                    found = hashlib.sha256(sources[path])
                else:
                    found = hashlib.file_digest(file, "sha256")
        except OSError as error:
            raise Refused(f"{path} cannot be read: {error.strerror}; {_AGAIN}") from None
        if found.hexdigest() != expected:
            raise Refused(f"{path} is not as it was built; {_AGAIN}")
    return sources


# Running it


def open_bundle(root: str, whole: bool = False) -> tuple[loader.Bundle, dict[str, Any]]:
    """Check the bundle in folder `root`, its files only where they are not known to be
    `whole`, and let its modules be imported."""
    description = read(root)
    check_machine(description)
    bundle = loader.Bundle(
        root,
        verify(root, description, whole),
        description["extensions"],
        description["bindings"],
        description["splices"],
    )
    _check_names(description, bundle)
    loader.install(bundle)
    spawn.install(root)
    _forget_shadowed(bundle)
    return bundle, description


def _check_names(description: Mapping[str, Any], bundle: loader.Bundle) -> None:
    """Refuse a description that names modules or extensions that are not in the bundle."""
    bindings, splices = description["bindings"], description["splices"]
    for name in (description["module"], *bindings, *splices):
        if name not in bundle.modules:
            raise Refused(f"bundle.json names module {name}, which is not in it; {_AGAIN}")
    targets = [target for names in bindings.values() for target in names.values()]
    targets += [found["target"] for several in splices.values() for found in several]
    for extension in {target[0] for target in targets}:
        if extension not in description["extensions"]:
            raise Refused(
                f"bundle.json names extension {extension}, which is not in it; {_AGAIN}"
            )


def _forget_shadowed(bundle: loader.Bundle) -> None:
    """Drop modules of the library that only this package imported, where the program has
    one of that name, which it would import under plain Python."""
    own = {name.partition(".")[0] for name in bundle.modules} - {"ppy"}
    for name in set(sys.modules) - _AT_START:
        if name.partition(".")[0] in own:
            del sys.modules[name]


def attach(root: str) -> None:
    """What a process does that multiprocessing starts for a program in a bundle."""
    if loader.current() is None:
        try:
            open_bundle(root)
        except Refused as reason:
            refuse(root, reason)


def run(root: str, argv: Sequence[str], whole: bool = False) -> None:
    """Run the bundle in folder `root` as the main program, with these arguments, or where
    there are none with its default ones."""
    root = os.path.realpath(root)
    try:
        if os.environ.get("PPY_BUNDLE_INFO") == "1":
            shown = {key: value for key, value in read(root).items() if key != "files"}
            print(json.dumps(shown, indent=2, ensure_ascii=False))
            return
        bundle, description = open_bundle(root, whole)
    except Refused as reason:
        refuse(root, reason)
    name = description["module"]
    spec = bundle.spec(name)
    path = bundle.path(name)
    sys.argv[:] = [path, *(argv or description["args"])]
    sys.path.insert(0, os.path.join(root, "app"))
    main = ModuleType("__main__")
    vars(main).update(
        __package__=spec.parent,
        __loader__=spec.loader,
        __spec__=spec,
        __annotations__={},
        __builtins__=sys.modules["builtins"],
        __file__=path,
        __cached__=None,
    )
    sys.modules["__main__"] = main
    try:
        if spec.parent:
            __import__(spec.parent)
        exec(bundle.code(name), vars(main))
    except SystemExit:
        raise
    except BaseException as error:
        _hide_loader(error, vars(main))
        raise


def _hide_loader(error: BaseException, program: dict[str, object]) -> None:
    """Have the interpreter show `error`, when it ends the program, as it would have without
    a loader: the frames above the program's own are left out."""
    own = error.__traceback__
    while own is not None and own.tb_frame.f_globals is globals():
        own = own.tb_next
    hook = getattr(sys, "excepthook", sys.__excepthook__)

    def excepthook(
        kind: type[BaseException], value: BaseException, traceback: TracebackType | None
    ) -> None:
        sys.excepthook = hook
        sys.last_traceback = traceback = own
        hook(kind, value.with_traceback(own), traceback)

    sys.excepthook = excepthook
