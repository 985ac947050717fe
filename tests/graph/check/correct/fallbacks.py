"""What stands in for what another version or machine lacks, and names that are asked for."""

import re._constants
import re._parser as parser

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
    print(parser.parse("a"), re._constants.MAGIC > 0)
