"""How a bundle that cannot run says so: one line, and status 2."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # as typing's, which would be most of what importing this costs
if TYPE_CHECKING:
    from typing import NoReturn


class Refused(Exception):
    """Why the bundle cannot run here, in one line."""


def refuse(root: str, reason: Refused | str) -> NoReturn:
    """End with the reason, under the name of the bundle's folder."""
    sys.stderr.write(f"{root.rpartition('/')[2]}: {reason}\n")
    sys.exit(2)
