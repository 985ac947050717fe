"""What `ppy_cuda.c` says of the driver, against NVIDIA's own header, where there is one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.emit.tensors.cuda.host import RUNTIME
from tests.emit.tensors.cuda.toolkit import find

HEADER = find("include/cuda.h")

CONSTANTS = {
    "SUCCESS": "CUDA_SUCCESS",
    "INVALID_VALUE": "CUDA_ERROR_INVALID_VALUE",
    "OUT_OF_MEMORY": "CUDA_ERROR_OUT_OF_MEMORY",
    "NO_DEVICE": "CUDA_ERROR_NO_DEVICE",
    "NO_BINARY_FOR_GPU": "CUDA_ERROR_NO_BINARY_FOR_GPU",
    "INVALID_PTX": "CUDA_ERROR_INVALID_PTX",
    "UNSUPPORTED_PTX_VERSION": "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
    "CAPABILITY_MAJOR": "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR",
    "CAPABILITY_MINOR": "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR",
    "MAX_DYNAMIC_SHARED_SIZE_BYTES": "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES",
    "MOST_SHARED_BYTES": "CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN",
}

FIELDS = (
    *("func", "gridDimX", "gridDimY", "gridDimZ", "blockDimX", "blockDimY", "blockDimZ"),
    *("sharedMemBytes", "kernelParams", "extra", "kern", "ctx"),
)

TEXT = """
#include <cuda.h>
#include <cstddef>
#include <type_traits>

template <class A, class B>
constexpr bool alike =
    sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;
template <class A, class B> constexpr bool same = false;
template <class R, class... A, class S, class... B>
constexpr bool same<R (*)(A...), S (*)(B...)> = [] {
    if constexpr (sizeof...(A) != sizeof...(B)) return false;
    else return alike<R, S> && (alike<A, B> && ...);
}();

namespace ours {
%s
}

#define CHECK(name, arguments) \\
    static_assert(same<decltype(ours::driver.name), decltype(&::name)>, #name);
DRIVER(CHECK)
static_assert(sizeof(ours::KernelNode) == sizeof(CUDA_KERNEL_NODE_PARAMS));
"""


@pytest.mark.skipif(HEADER is None, reason="no cuda.h")
def test_functions_numbers_and_structures_are_the_drivers(tmp_path: Path) -> None:
    assert HEADER is not None
    source = (RUNTIME / "ppy_cuda.c").read_text()
    start = source.index("typedef int CUresult;")
    said = source[start : source.index("static pthread_mutex_t lock")]
    lines = [TEXT % said]
    lines += [f"static_assert((int)ours::{a} == (int){b});" for a, b in CONSTANTS.items()]
    lines += [
        f"static_assert(offsetof(ours::KernelNode, {name}) == "
        f"offsetof(CUDA_KERNEL_NODE_PARAMS, {name}));"
        for name in FIELDS
    ]
    path = tmp_path / "headers.cpp"
    path.write_text("\n".join(lines))
    command = ["g++", "-std=c++20", "-fsyntax-only", f"-I{HEADER.parent}", path]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    names = source[source.index("enum {\n    SUCCESS") : source.index("};\n\n/* Name, arg")]
    assert {line.split()[0] for line in names.splitlines()[1:] if " = " in line} == set(
        CONSTANTS
    )
