"""The device `cpu`: which instructions native code may use, and what it then needs.

`native` is resolved when building, so that a bundle names the features it was built for
and a shared cache never hands one machine another's code.
"""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass
from pathlib import Path

from ppybuild.diagnostics import CODES, Diagnostic, Failure, nearest
from ppybuild.targets.toolchain import Compiler, compiler_version, run_compiler

# A macro that the compiler defines where it may use a feature → the feature's name in
# /proc/cpuinfo. Features of every x86-64 machine are left out.
FEATURES = {
    "__SSE3__": "pni",
    "__SSSE3__": "ssse3",
    "__SSE4_1__": "sse4_1",
    "__SSE4_2__": "sse4_2",
    "__SSE4A__": "sse4a",
    "__POPCNT__": "popcnt",
    "__LZCNT__": "abm",
    "__AVX__": "avx",
    "__AVX2__": "avx2",
    "__BMI__": "bmi1",
    "__BMI2__": "bmi2",
    "__FMA__": "fma",
    "__FMA4__": "fma4",
    "__XOP__": "xop",
    "__F16C__": "f16c",
    "__MOVBE__": "movbe",
    "__ADX__": "adx",
    "__AES__": "aes",
    "__PCLMUL__": "pclmulqdq",
    "__SHA__": "sha_ni",
    "__GFNI__": "gfni",
    "__VAES__": "vaes",
    "__VPCLMULQDQ__": "vpclmulqdq",
    "__AVX512F__": "avx512f",
    "__AVX512BW__": "avx512bw",
    "__AVX512CD__": "avx512cd",
    "__AVX512DQ__": "avx512dq",
    "__AVX512VL__": "avx512vl",
    "__AVX512IFMA__": "avx512ifma",
    "__AVX512VBMI__": "avx512vbmi",
    "__AVX512VBMI2__": "avx512_vbmi2",
    "__AVX512VNNI__": "avx512_vnni",
    "__AVX512BITALG__": "avx512_bitalg",
    "__AVX512VPOPCNTDQ__": "avx512_vpopcntdq",
    "__AVX512BF16__": "avx512_bf16",
    "__AVX512FP16__": "avx512_fp16",
    "__AVXVNNI__": "avx_vnni",
    # 64-bit Arm.
    "__ARM_FEATURE_CRC32": "crc32",
    "__ARM_FEATURE_ATOMICS": "atomics",
    "__ARM_FEATURE_DOTPROD": "asimddp",
    "__ARM_FEATURE_FP16_VECTOR_ARITHMETIC": "asimdhp",
    "__ARM_FEATURE_SVE": "sve",
    "__ARM_FEATURE_SVE2": "sve2",
    "__ARM_FEATURE_BF16": "bf16",
    "__ARM_FEATURE_MATMUL_INT8": "i8mm",
}

BASELINE = {"x86_64": "x86-64", "aarch64": "armv8-a"}
"""The `-march` that every machine of an architecture runs, by `platform.machine()`."""


@dataclass(frozen=True, slots=True)
class Instructions:
    """What `[device.cpu] cpu` came to."""

    flags: tuple[str, ...]
    features: tuple[str, ...]
    """As /proc/cpuinfo names them, sorted."""
    identity: str
    """Differs where the same flags give other code: another compiler, another machine."""


def choose_instructions(cpu: str, compiler: Compiler) -> Instructions:
    """Resolve `native`, `baseline` or an `-march` name. Runs the compiler."""
    flags = _march(cpu)
    macros = run_compiler(compiler, *flags, "-dM", "-E", "-x", "c", "/dev/null")
    if not macros:
        raise Failure(_refused(cpu, compiler), status=2)
    defined = set(re.findall(r"^#define (\w+) ", macros, re.MULTILINE))
    features = tuple(sorted(name for macro, name in FEATURES.items() if macro in defined))
    tuning = _resolved(compiler, flags) if cpu == "native" else ""
    identity = f"{compiler_version(compiler)}; {' '.join(features)}; {tuning}"
    return Instructions(flags, features, identity)


def _march(cpu: str) -> tuple[str, ...]:
    if cpu == "baseline":
        name = BASELINE.get(platform.machine())
        return (f"-march={name}",) if name else ()
    return (f"-march={cpu}",)


def _resolved(compiler: Compiler, flags: tuple[str, ...]) -> str:
    """What `native` stands for here: the architecture and tuning that gcc reports."""
    told = run_compiler(compiler, *flags, "-Q", "--help=target")
    return " ".join(
        "".join(match)
        for match in re.findall(r"^\s+(-m(?:arch|tune)=)\s+(\S+)", told, re.MULTILINE)
    )


def _refused(cpu: str, compiler: Compiler) -> Diagnostic:
    if not run_compiler(compiler, "-dM", "-E", "-x", "c", "/dev/null"):
        return Diagnostic(
            "E4001",
            f"`{compiler.path}` does not work as a C compiler",
            help=CODES["E4001"].fix,
        )
    told = run_compiler(compiler, "-Q", "--help=target")
    listed = re.search(r"-march= option:\s*\n(.*?)(?:\n\s*\n|\Z)", told, re.DOTALL)
    close = nearest(cpu, listed[1].split() if listed else ())
    return Diagnostic(
        "E4006",
        f"`{compiler.command[0]}` does not know the CPU `{cpu}`",
        help=f"did you mean `{close}`?" if close else "use `native` or `baseline`",
    )


def machine_fingerprint() -> str:
    """What `native` would mean here, cheaply: the processor's model and features."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor()
    first = text.partition("\n\n")[0]
    return " ".join(
        re.findall(
            r"^(?:model name|model|cpu family|flags|Features|CPU part)\s*:.*$",
            first,
            re.MULTILINE,
        )
    )
