"""What the machine refuses while something is written, as diagnostics."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ppybuild.diagnostics import CODES, Diagnostic, Failure

_FULL = (errno.ENOSPC, errno.EDQUOT)
_REFUSED = (
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.EEXIST,
    errno.ENAMETOOLONG,
    errno.ELOOP,
)


@contextmanager
def machine_faults(place: Path) -> Iterator[None]:
    """Inside, an `OSError` about writing below `place` becomes a `Failure` with status 2."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            found = Diagnostic(
                "E4008", f"no space is left in `{place}`", help=CODES["E4008"].fix
            )
        elif error.errno in _REFUSED:
            found = Diagnostic(
                "E2108",
                f"`{error.filename or place}` cannot be written: {error.strerror}",
                help=CODES["E2108"].fix,
            )
        else:
            raise
        raise Failure(found, status=2) from error
