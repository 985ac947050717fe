"""The devices that an entry can be built for: one row each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ppybuild.diagnostics import Diagnostic, Failure
from ppybuild.manifest import Manifest
from ppybuild.targets.cpu import Instructions, choose_instructions
from ppybuild.targets.toolchain import Compiler

Choose = Callable[[Manifest, Compiler], Instructions]


def _cpu(manifest: Manifest, compiler: Compiler) -> Instructions:
    return choose_instructions(manifest.device.cpu.cpu, compiler)


DEVICES: Mapping[str, Choose | None] = {"cpu": _cpu, "cuda": None}
"""What decides a device's instructions; None where this version does not build for it."""


def need_device(name: str) -> Choose:
    choose = DEVICES[name]
    if choose is None:
        available = ", ".join(f"`{known}`" for known, row in DEVICES.items() if row)
        raise Failure(
            Diagnostic(
                "E4005",
                f"this version of ppybuild does not build for the device `{name}`",
                help=f"available: {available}; give `--device`, or `[build] device`",
            ),
            status=2,
        )
    return choose
