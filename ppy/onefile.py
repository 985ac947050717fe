"""Starts a program that is one file: its bundle is unpacked, once, and run from there.

The file is an archive of Python's (`zipimport`) that holds this module and, below
`bundle/`, the bundle. It is unpacked to `<cache>/ppy/<digest>/<entry>/`, where `<cache>` is
`$PPY_CACHE`, `$XDG_CACHE_HOME` or `~/.cache`; what lies there is compared with its digests
at every start, and made anew where it differs. Where nothing can be written there, it goes
into a private folder that is removed when the program ends.

This module is read by whatever Python the host has, so it keeps to what old ones take.
"""

import hashlib
import json
import os
import sys
from zipimport import zipimporter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

BUNDLE = "bundle/"
_BLOCK = 1 << 20


def refuse(archive: str, reason: str) -> "NoReturn":
    """End with one line and status 2, as a bundle does."""
    sys.stderr.write(f"{os.path.basename(archive)}: {reason}\n")
    sys.exit(2)


def main(archive: str) -> None:
    """Run the program in the file `archive`, which has been checked."""
    text = zipimporter(archive).get_data(BUNDLE + "bundle.json")
    description = json.loads(text.decode("utf-8"))
    if sys.version_info < (3, 11):  # noqa: UP036  what is unpacked cannot say it
        present = ".".join(map(str, sys.version_info[:2]))
        built = f"built for Python {description['python']} and started by {present}"
        refuse(archive, f"{built}: set PPY_PYTHON to that Python")
    root = unpacked(archive, text, description)
    if not sys.flags.safe_path:
        del sys.path[0]  # the archive, or the working folder
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    sys.path.insert(0, root)
    from ppy import bundle

    del sys.path[0]
    sys.dont_write_bytecode = writes
    bundle.run(root, sys.argv[1:], whole=True)


def unpacked(archive: str, text: bytes, description: "dict[str, Any]") -> str:
    """The folder of the bundle, whole."""
    place = os.path.join(_cache(), description["digest"])
    root = os.path.join(place, description["entry"])
    if _is_whole(root, text, description):
        return os.path.realpath(root)
    try:
        _unpack_once(archive, place, root, text, description)
        return os.path.realpath(root)
    except OSError:
        pass  # no cache: read-only, full, or of a kind without locks
    try:
        return _private(archive, description)
    except OSError as error:
        refuse(archive, f"cannot be unpacked: {error.strerror}; set PPY_CACHE")


def _cache() -> str:
    for name in ("PPY_CACHE", "XDG_CACHE_HOME"):
        folder = os.environ.get(name, "")
        if os.path.isabs(folder):
            break
    else:
        folder = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(folder, "ppy")


def _is_whole(root: str, text: bytes, description: "dict[str, Any]") -> bool:
    try:
        with open(os.path.join(root, "bundle.json"), "rb") as file:
            if file.read() != text:
                return False
        return all(
            _digest(os.path.join(root, path)) == digest
            for path, digest in description["files"].items()
        )
    except OSError:
        return False


def _digest(path: str) -> str:
    found = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(_BLOCK), b""):
            found.update(block)
    return found.hexdigest()


def _unpack_once(
    archive: str, place: str, root: str, text: bytes, description: "dict[str, Any]"
) -> None:
    """Make the folder `place`, unless another process has made it meanwhile."""
    import fcntl

    if not os.path.isabs(place):
        raise OSError("there is no home folder")
    os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
    lock = os.open(place + ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _is_whole(root, text, description):
            return
        beside, before = place + ".new", place + ".old"
        for left in (beside, before):  # by a process that was killed
            _remove(left)
        try:
            _extract(archive, os.path.join(beside, description["entry"]))
        except OSError:
            _remove(beside)
            raise
        if os.path.lexists(place):
            os.rename(place, before)
        os.rename(beside, place)
        _remove(before)
    finally:
        os.close(lock)


def _extract(archive: str, root: str) -> None:
    import shutil
    import zipfile

    with zipfile.ZipFile(archive) as packed:
        for item in packed.infolist():
            if not item.filename.startswith(BUNDLE):
                continue
            path = os.path.join(root, item.filename[len(BUNDLE) :])
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            with packed.open(item) as source, open(path, "wb") as target:
                shutil.copyfileobj(source, target, _BLOCK)
            os.chmod(path, item.external_attr >> 16 & 0o777)


def _remove(folder: str) -> None:
    import shutil

    if os.path.lexists(folder):
        shutil.rmtree(folder)


def _private(archive: str, description: "dict[str, Any]") -> str:
    """The bundle in a folder of this process, which is removed with it."""
    import tempfile

    folder = tempfile.mkdtemp(prefix="ppy-")
    _remove_at_end(folder)
    root = os.path.join(os.path.realpath(folder), description["entry"])
    _extract(archive, root)
    return root


def _remove_at_end(folder: str) -> None:
    """Remove the folder when this process and all that it forked have ended, however: a
    process of its own, no child of the program's, waits for that."""
    import atexit
    import shutil

    owner = os.getpid()
    waited, _held = os.pipe()  # the second end stays open as long as the program runs
    child = os.fork()
    if child == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        limit = os.sysconf("SC_OPEN_MAX")
        os.closerange(0, waited)
        os.closerange(waited + 1, min(limit, 1 << 16) if limit > 0 else 1 << 16)
        os.read(waited, 1)
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)
    os.waitpid(child, 0)
    os.close(waited)

    def remove() -> None:
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
