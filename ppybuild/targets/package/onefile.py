"""`onefile`: one executable file, for a host that has Python and the program's libraries.

    a script for sh          checks the rest of the file, and runs it with Python
    an archive for Python    `__main__.py`, the code that unpacks, and the bundle
    64 hexadecimal digits    SHA-256 of everything before, as the archive's comment

`python FILE` starts it too.
"""

from __future__ import annotations

import hashlib
import shutil
import zipfile
from pathlib import Path

import ppy
from ppybuild.targets.bundle import bundle_files

_DIGITS = 64

# Refuses a file that is not as it was written. Runs in any Python 3.
_CHECK = """\
import hashlib, os, sys
def check(path):
    digest, left = hashlib.sha256(), os.path.getsize(path) - 64
    with open(path, "rb") as file:
        while left > 0:
            block = file.read(min(left, 1 << 20))
            digest.update(block)
            left -= len(block) or left
        if digest.hexdigest().encode() == file.read():
            return
    sys.stderr.write(os.path.basename(path) + ": is not as it was packaged; copy it again\\n")
    sys.exit(2)
"""

_MAIN = f"""\
{_CHECK}
archive = os.path.realpath(sys.path[0])
check(archive)
from ppy_onefile import main
del sys.modules["ppy_onefile"]
main(archive)
"""

_HEAD = f"""\
#!/bin/sh
# A program packaged by ppybuild. Runs with the Python that $PPY_PYTHON names, or else with
# python3. PPY_BUNDLE_INFO=1 says what it is.
python=${{PPY_PYTHON:-python3}}
if ! command -v "$python" >/dev/null 2>&1; then
    echo "${{0##*/}}: there is no $python here: install Python, or set PPY_PYTHON" >&2
    exit 2
fi
exec "$python" -c '
{_CHECK}
archive = os.path.realpath(sys.argv.pop(1))
check(archive)
from zipimport import zipimporter
names = {{"__name__": "ppy_onefile"}}
exec(zipimporter(archive).get_code("ppy_onefile"), names)
names["main"](archive)
' "$0" "$@"
"""


def write_onefile(bundle: Path, target: Path) -> None:
    """Write the file for a bundle. The same bundle gives the same bytes."""
    with target.open("wb") as file:
        file.write(_HEAD.encode("ascii"))
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            archive.comment = b" " * _DIGITS
            archive.writestr(_item("__main__.py", 0o644), _MAIN)
            unpacker = Path(ppy.__file__).with_name("onefile.py").read_bytes()
            archive.writestr(_item("ppy_onefile.py", 0o644), unpacker)
            for path in bundle_files(bundle):
                name = f"bundle/{path.relative_to(bundle).as_posix()}"
                item = _item(name, path.stat().st_mode & 0o777)
                item.file_size = path.stat().st_size
                with path.open("rb") as source, archive.open(item, "w") as packed:
                    shutil.copyfileobj(source, packed, 1 << 20)
    _sign(target)
    target.chmod(0o755)


def _item(name: str, mode: int) -> zipfile.ZipInfo:
    """Without times, owners, or what the system that writes is."""
    item = zipfile.ZipInfo(name)
    item.create_system = 3  # Unix: the mode is in the upper half
    item.external_attr = (0o100000 | mode) << 16
    item.compress_type = zipfile.ZIP_DEFLATED
    return item


def _sign(target: Path) -> None:
    """Put the digest of the file in the place of the blanks that it ends with."""
    with target.open("r+b") as file:
        digest = hashlib.sha256()
        left = target.stat().st_size - _DIGITS
        while left:
            block = file.read(min(left, 1 << 20))
            digest.update(block)
            left -= len(block)
        file.seek(-_DIGITS, 2)
        file.write(digest.hexdigest().encode("ascii"))
