"""The launcher of a bundle: the same text for every one, under the entry's name."""

SCRIPT = """\
#!/bin/sh
''':'
# Runs this program with the Python that $PPY_PYTHON names, or else with python3.
# Started by a Python, as `torchrun` does it, this is a script of Python's.
python=${PPY_PYTHON:-python3}
if ! command -v "$python" >/dev/null 2>&1; then
    echo "${0##*/}: there is no $python here: install Python, or set PPY_PYTHON" >&2
    exit 2
fi
exec "$python" "$(dirname -- "$(readlink -f -- "$0")")/ppy/launch.py" "$@"
'''
import os

__file__ = os.path.join(os.path.dirname(os.path.realpath(__file__)), "ppy", "launch.py")
with open(__file__, "rb") as file:
    exec(compile(file.read(), __file__, "exec"))
"""
