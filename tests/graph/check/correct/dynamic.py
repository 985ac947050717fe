"""Names and attributes that come about in ways that no statement shows."""

import sys
import types

try:
    import tomllib
except ImportError:
    tomllib = None

try:
    import surely_not_installed
except ImportError:
    surely_not_installed = None

if sys.version_info >= (4, 0):
    import a_module_of_the_future
    from math import a_function_of_the_future

if sys.platform == "win32":
    import winreg

    KEY = winreg.HKEY_CURRENT_USER


def tag(function):
    function.order = 1
    return function


@tag
def work(x, *rest, **options):
    return x, rest, options


def call():
    arguments = (1, 2)
    options = {"a": 1}
    return work(*arguments, **options), work(1, 2, 3, key=4)


class Open:
    def __getattr__(self, name):
        return name


class Base:
    def run(self):
        return self.step(1, 2)

    def step(self, *arguments):
        raise NotImplementedError


class Derived(Base):
    def step(self, a, b):
        return a + b


def duck(value):
    if hasattr(value, "shout"):
        return value.shout()
    return value


def both_ways(value):
    if isinstance(value, str):
        return value.upper()
    return value + 1


def late():
    global LATE
    LATE = 3
    return LATE


def namespace():
    space = types.SimpleNamespace(a=1)
    space.b = 2
    return space.a + space.b


def comprehension(rows):
    return {key: [value for value in values] for key, values in rows.items()}


def closure():
    count = 0

    def add():
        nonlocal count
        count += 1
        return count

    return add() + add()


def overloaded(x=None):
    x = [] if x is None else x
    x.append(1)
    return x


if __name__ == "__main__":
    print(call(), Open().anything, Derived().run(), duck("a"), both_ways("a"), both_ways(1))
    print(late(), namespace(), comprehension({"a": [1]}), closure(), overloaded(), work.order)
