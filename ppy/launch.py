"""Starts the bundle that it lies in: `python BUNDLE/ppy/launch.py [ARGUMENT...]`."""

import os
import sys

root = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
if sys.version_info < (3, 11):  # noqa: UP036  said before what an older one cannot read
    present = ".".join(map(str, sys.version_info[:2]))
    sys.stderr.write(
        f"{os.path.basename(root)}: started by Python {present}, which is older than the "
        "one that it was built for: set PPY_PYTHON to that Python\n"
    )
    sys.exit(2)
if not sys.flags.safe_path:
    del sys.path[0]  # this file's folder
writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
sys.path.insert(0, root)
from ppy import bundle  # noqa: E402

del sys.path[0]
sys.dont_write_bytecode = writes
bundle.run(root, sys.argv[1:])
