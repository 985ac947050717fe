"""Starts the bundle that it lies in: `python BUNDLE/ppy/launch.py [ARGUMENT...]`."""

import os
import sys

if not sys.flags.safe_path:
    del sys.path[0]  # this file's folder
root = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
sys.path.insert(0, root)
from ppy import bundle  # noqa: E402

del sys.path[0]
sys.dont_write_bytecode = writes
bundle.run(root, sys.argv[1:])
