"""The launcher, against a driver without a GPU that writes down and can fail every call."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "fused")]

from graphs import tensor_type, trace  # noqa: E402
from grid import Grid  # noqa: E402

from tests.emit.tensors.cuda.host import RUNTIME, fake_driver  # noqa: E402

DONE, UNUSABLE, MEMORY, BROKEN = range(4)


@pytest.fixture
def driver() -> Iterator[ctypes.CDLL]:
    driver = fake_driver()
    driver.fake_clear()
    yield driver
    driver.fake_fail(b"", 0, 0)


@pytest.fixture
def grid() -> Grid:
    """A sum over rows times a number: more than one kernel."""
    graph = trace(
        lambda t, x, f: t("mul.Scalar", t("sum.dim_IntList", x, [0]), f),
        x=tensor_type("float32", "n", 3),
        f="float",
    )
    return Grid(graph)


def calls(driver: ctypes.CDLL) -> list[str]:
    """The names of the driver's functions that were called since the last look."""
    names = [line.split()[0] for line in driver.fake_log().decode().splitlines()]
    driver.fake_clear()
    return names


def check(grid: Grid, rows: int, factor: float) -> None:
    x = torch.randint(-9, 10, (rows, 3)).float()  # any order of adding gives the same
    (found,) = grid(rows, x, factor)
    assert grid.status == DONE, grid.why
    torch.testing.assert_close(found, x.sum(0) * factor)


def test_kernels_are_launched_one_by_one_and_then_as_a_graph(
    driver: ctypes.CDLL, grid: Grid
) -> None:
    check(grid, 10, 2.0)
    first = calls(driver)
    assert first.count("cuModuleLoadData") == 1
    assert first.count("cuLaunchKernel") == len(grid.launches) > 1
    check(grid, 10, 2.0)
    second = calls(driver)
    assert second.count("cuGraphInstantiateWithFlags") == second.count("cuGraphLaunch") == 1
    assert "cuLaunchKernel" not in second
    assert "cuModuleLoadData" not in second


def test_a_graph_follows_rows_addresses_and_numbers(driver: ctypes.CDLL, grid: Grid) -> None:
    for rows, factor in ((10, 2.0), (10, 3.0), (500, 3.0), (1, -1.0), (20000, 0.5)):
        check(grid, rows, factor)
    done = calls(driver)
    assert done.count("cuGraphInstantiateWithFlags") == 1
    assert done.count("cuGraphLaunch") == 4
    assert done.count("cuGraphExecKernelNodeSetParams_v2") == 3 * len(grid.launches)


def test_the_same_call_again_updates_nothing(driver: ctypes.CDLL, grid: Grid) -> None:
    x = torch.randn(9, 3)
    out = torch.empty(3)
    grid.outputs = [out]
    for _ in range(4):
        grid(9, x, 1.0)
    done = calls(driver)
    assert done.count("cuGraphLaunch") == 3
    assert "cuGraphExecKernelNodeSetParams_v2" not in done


def test_no_graph_in_a_stream_that_is_being_captured(driver: ctypes.CDLL, grid: Grid) -> None:
    grid.stream = 0xCA
    for _ in range(3):
        check(grid, 10, 2.0)
    assert "cuGraphLaunch" not in calls(driver)


def test_no_rows(driver: ctypes.CDLL, grid: Grid) -> None:
    for _ in range(3):
        check(grid, 0, 2.0)
    assert "cuGraphLaunch" not in calls(driver)


def test_each_device_has_its_own_kernels_and_the_current_one_comes_back(
    driver: ctypes.CDLL, grid: Grid
) -> None:
    for device in (0, 3, 0, 3):
        grid.device = device
        check(grid, 10, 2.0)
        assert driver.fake_current() is None
    done = calls(driver)
    assert done.count("cuModuleLoadData") == 2
    assert done.count("cuGraphInstantiateWithFlags") == 2


FAULTS = {
    "context": (
        "cuDevicePrimaryCtxRetain",
        2,
        0,
        MEMORY,
        "the GPU cannot be used: out of memory",
    ),
    "push": ("cuCtxPushCurrent_v2", 999, 0, BROKEN, "the GPU cannot be used"),
    "image": ("cuModuleLoadData", 2, 0, MEMORY, "cannot be loaded onto the GPU: out of memory"),
    "kernel": ("cuModuleGetFunction", 500, 1, BROKEN, "a kernel cannot be had from its image"),
    "shared": ("cuFuncSetAttribute", 1, 0, BROKEN, "a kernel cannot be had from its image"),
    "launch": ("cuLaunchKernel", 700, 0, BROKEN, "an illegal memory access (CUDA error 700)"),
    "second": ("cuLaunchKernel", 2, 1, MEMORY, "a kernel cannot be launched: out of memory"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_said_and_the_next_call_works(
    name: str, driver: ctypes.CDLL, grid: Grid
) -> None:
    function, code, after, status, message = FAULTS[name]
    if function == "cuDevicePrimaryCtxRetain":
        grid.device = 5
    driver.fake_fail(function.encode(), code, after)
    grid(10, torch.randn(10, 3), 2.0)
    assert grid.status == status
    assert message in grid.why
    assert driver.fake_current() is None
    check(grid, 10, 2.0)


GRAPH_FAULTS = [
    "cuGraphCreate",
    "cuGraphAddKernelNode_v2",
    "cuGraphInstantiateWithFlags",
    "cuGraphExecKernelNodeSetParams_v2",
    "cuGraphLaunch",
]


@pytest.mark.parametrize("function", GRAPH_FAULTS)
def test_a_graph_that_fails_is_said_and_made_again(
    function: str, driver: ctypes.CDLL, grid: Grid
) -> None:
    check(grid, 10, 2.0)
    if function == "cuGraphExecKernelNodeSetParams_v2":
        check(grid, 10, 2.0)
    driver.fake_fail(function.encode(), 700, 0)
    grid(11, torch.randn(11, 3), 2.0)
    assert grid.status == BROKEN
    assert "a graph cannot be" in grid.why
    check(grid, 12, 2.0)


def test_a_graph_half_changed_is_not_launched(driver: ctypes.CDLL, grid: Grid) -> None:
    x, out = torch.randn(9, 3), torch.empty(3)
    other, elsewhere = torch.randn(9, 3), torch.empty(3)
    grid.outputs = [out]
    for _ in range(2):
        grid(9, x, 1.0)
    driver.fake_fail(b"cuGraphExecKernelNodeSetParams_v2", 700, 1)
    grid.outputs = [elsewhere]
    grid(9, other, 1.0)
    assert grid.status == BROKEN
    elsewhere.fill_(7)
    grid.outputs = [out]
    grid(9, x, 1.0)  # as it was before
    torch.testing.assert_close(out, x.sum(0))
    assert (elsewhere == 7).all()
    done = calls(driver)
    assert done.count("cuGraphExecDestroy") == done.count("cuGraphDestroy") == 1


def test_a_card_with_too_little_shared_memory_is_of_no_use(
    driver: ctypes.CDLL, grid: Grid
) -> None:
    driver.fake_shared(0)
    for _ in range(2):
        grid(10, torch.randn(10, 3), 2.0)
        assert grid.status == UNUSABLE
        assert "too little shared memory" in grid.why
    driver.fake_shared(96 << 10)
    assert calls(driver).count("cuModuleUnload") == 1
    grid.device = 1  # another card
    check(grid, 10, 2.0)


@pytest.mark.parametrize(
    ("code", "advice"),
    [(209, "add the card to `[device.cuda] arch`"), (222, "install a newer driver")],
)
def test_an_image_without_code_for_the_card_is_unusable_for_good(
    code: int, advice: str, driver: ctypes.CDLL, grid: Grid
) -> None:
    driver.fake_fail(b"cuModuleLoadData", code, 0)
    for _ in range(2):
        grid(10, torch.randn(10, 3), 2.0)
        assert grid.status == UNUSABLE
        assert "no code for this card (sm_61, driver for CUDA 12.4)" in grid.why
        assert advice in grid.why
    assert calls(driver).count("cuModuleLoadData") == 1


def test_a_device_that_cannot_be(grid: Grid) -> None:
    for device in (-1, 64):
        grid.device = device
        grid(10, torch.randn(10, 3), 2.0)
        assert grid.status == UNUSABLE


ALONE = """
#include "ppy_cuda.c"
static const int numbers[] = {-1};
int main(void) {
    static const ppy_cuda_region region = {
        .numbers = numbers, .tile = 8, .most_chunks = 128, .real = 4};
    static ppy_cuda_program program;
    char why[PPY_CUDA_MESSAGE] = "";
    const int result = ppy_cuda_run(&region, &program, 0, 0, 0, 0, 1, 0, 0, why);
    printf("%d %s", result, why);
}
"""


@pytest.mark.parametrize(
    ("stub", "message"),
    [
        (None, "no NVIDIA driver was found"),
        ("int cuInit(unsigned f) { return f; }", "the NVIDIA driver is too old: it has no cu"),
    ],
)
def test_no_driver_or_an_old_one(stub: str | None, message: str, tmp_path: Path) -> None:
    source = tmp_path / "alone.c"
    source.write_text(ALONE)
    program = tmp_path / "alone"
    subprocess.run(["gcc", "-std=gnu17", f"-I{RUNTIME}", "-o", program, source], check=True)
    if stub is not None:
        (tmp_path / "stub.c").write_text(stub)
        subprocess.run(
            ["gcc", "-shared", "-fPIC", "-o", tmp_path / "libcuda.so.1", tmp_path / "stub.c"],
            check=True,
        )
    run = subprocess.run(
        [program],
        env={"LD_LIBRARY_PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.startswith(f"{UNUSABLE} {message}")
