"""`python -m ppy MODULE [ARGUMENT...]`: as `python -m MODULE`, for `.ppy` modules too."""

import runpy
import sys

if len(sys.argv) < 2:
    sys.exit("usage: python -m ppy MODULE [ARGUMENT...]")
del sys.argv[0]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
