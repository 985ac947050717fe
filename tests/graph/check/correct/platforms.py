"""Names and arguments of another platform, behind tests of this one."""

import mmap
import os
import sys

if os.name == "nt":
    import winreg

    _POSIX = False
else:
    _POSIX = True

WINDOWS: bool = sys.platform == "win32"


def mapped(size):
    if _POSIX:
        return mmap.mmap(-1, size)
    return mmap.mmap(-1, size, tagname="shared")


def named(size):
    if not WINDOWS:
        shared = mmap.mmap(-1, size)
    else:
        shared = mmap.mmap(-1, size, tagname="shared")
    return shared


def root():
    if sys.platform != "win32":
        return None
    return winreg.ConnectRegistry(winreg.COMPUTER, None)


print(len(mapped(16)), len(named(16)), root())
