"""A package that gives one of its modules a name of its own, as `os` does."""

import posixpath as path
import sys

sys.modules["registered.path"] = path
from registered.path import join

testing = False

print(join("a", "b"))
