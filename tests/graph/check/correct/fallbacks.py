"""What stands in for what another version or machine lacks, and names that are asked for."""

import re._constants
import re._parser as parser
import sys

try:
    from collections.abc import Set
except ImportError:
    from collections import Set


def shell():
    try:
        get_ipython
    except NameError:
        return None
    return get_ipython()


PY2 = sys.version_info[0] == 2
if PY2:
    INTEGERS = (int, long)
LIBRARY_VERSION = tuple(map(int, "3.2".split(".")))


class Row:
    def __init__(self):
        self.name = "row"

    def __str__(self):
        return "{self.name}: {other}".format(self=self, other=1)


def grown(names: list[str]) -> list[str]:
    found: list[str] = []
    found += tuple(names)
    if LIBRARY_VERSION < (3,):
        found += len(names)
    return found


def fields(a: dict, b: dict[str, int]) -> set:
    known = {"a": 1}
    return (a | b.keys() | {"c"}) | (known | b.keys() | {"d"})


def keyed(values, key=bool):
    if isinstance(key, str):

        def key_of(value):
            return getattr(value, key, value)

    else:
        key_of = key
    return [key_of(value) for value in values]


if __name__ == "__main__":
    print(
        isinstance({1}, Set), shell(), fields({}, {"b": 2}), keyed([1, 0]), keyed([1], "real")
    )
    print(Row(), grown(["a"]))
    print(parser.parse("a"), re._constants.MAGIC > 0)
