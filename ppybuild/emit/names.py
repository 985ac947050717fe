"""The names of things in generated C."""

from __future__ import annotations

import re


def mangle(name: str) -> str:
    """A dotted Python name as a C identifier; injective.

    >>> mangle("app.train.main.<locals>.step_1")
    'app_train_main_Zlocals_step__1'
    """
    pieces = []
    for piece in re.findall(r"\.<locals>\.|_\.(?!<)|[A-Za-z0-9]|.", name):
        if piece == ".<locals>.":
            pieces.append("_Zlocals_")
        elif piece == "_.":  # `a_.b`, which else would be `a._b`
            pieces.append("Zd")
        elif piece == ".":
            pieces.append("_")
        elif piece == "_":
            pieces.append("__")
        elif piece == "Z":
            pieces.append("ZZ")
        elif piece.isascii() and piece.isalnum():
            pieces.append(piece)
        else:
            pieces.append(f"Zu{ord(piece):x}Z")
    return "".join(pieces)


def kernel_name(name: str) -> str:
    """The C function that holds the body of a native loop function."""
    return f"k_{mangle(name)}"


def wrapper_name(name: str) -> str:
    """The C function that Python calls, which checks arguments and calls the kernel."""
    return f"w_{mangle(name)}"
