"""Lower functions of the program to loop IR: from here on nothing looks at Python syntax."""

from __future__ import annotations

from ppybuild.emit.loops.lower.program import lower

__all__ = ["lower"]
