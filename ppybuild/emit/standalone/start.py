"""Where a program starts: what it was built for is looked at first."""

from __future__ import annotations

from collections.abc import Sequence

from ppybuild.emit.standalone.values import c_string

_ASKED = {
    "pni": "sse3", "ssse3": "ssse3", "sse4_1": "sse4.1", "sse4_2": "sse4.2",
    "popcnt": "popcnt", "avx": "avx", "avx2": "avx2", "bmi1": "bmi", "bmi2": "bmi2",
    "fma": "fma", "avx512f": "avx512f", "avx512bw": "avx512bw", "avx512cd": "avx512cd",
    "avx512dq": "avx512dq", "avx512vl": "avx512vl",
}  # fmt: skip
"""Features of x86-64 as /proc/cpuinfo names them, by the compiler's own names. One that is
not here comes with processors that have one that is."""


def start_source(information: str, features: Sequence[str]) -> str:
    """C for `main`; it is compiled for any CPU of the architecture.

    With PPY_SEALED defined, the program wants its hash behind it (`ppy_intact.h`).
    """
    names = [_ASKED[each] for each in features if each in _ASKED]
    tests = "\n".join(
        f"    if (!__builtin_cpu_supports({c_string(name)})) return lacks(argv[0], "
        f"{c_string(name)});"
        for name in names
    )
    lacks = """
static int lacks(const char *program, const char *feature) {
    fprintf(stderr, "%s: built for a CPU with %s, which this one does not have: build it with "
                    "`cpu = \\"baseline\\"` in `[device.cpu]`\\n", program, feature);
    return 2;
}
"""
    return f"""\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef PPY_SEALED
#include "ppy_intact.h"
#endif

int ppy_run_program(int argc, char **argv);
{lacks if names else ""}
int main(int argc, char **argv) {{
#ifdef PPY_SEALED
    if (!ppy_is_intact()) {{
        fprintf(stderr, "%s: this file is not as it was built; copy it again\\n", argv[0]);
        return 2;
    }}
#endif
    const char *asked = getenv("PPY_BUNDLE_INFO");
    if (asked && strcmp(asked, "1") == 0) return fputs({c_string(information)}, stdout) < 0;
{"    __builtin_cpu_init();" if names else ""}
{tests}
    return ppy_run_program(argc, argv);
}}
"""
