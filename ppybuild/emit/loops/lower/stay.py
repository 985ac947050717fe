"""Why a function stays in Python."""

from __future__ import annotations

import ast


class Stay(Exception):
    """Raised at the construct that does not lower; becomes one R3004 for the function."""

    def __init__(self, node: ast.AST, construct: str, help: str = "") -> None:
        super().__init__(construct)
        self.node = node
        self.construct = construct
        self.help = help


class Dead(Exception):
    """Raised where Python always raises, such as at a name that is never bound there."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind
