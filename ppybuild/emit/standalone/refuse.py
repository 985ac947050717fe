"""Why a program needs Python."""

from __future__ import annotations

import ast


class Refused(Exception):
    """Raised at a construct that has no form without Python; becomes one diagnostic."""

    def __init__(self, node: ast.AST, reason: str, help: str = "") -> None:
        super().__init__(reason)
        self.node = node
        self.reason = reason
        self.help = help
