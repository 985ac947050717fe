"""The seed's standardize under Numba, and the floor: its ordered additions in C."""

import array
import ctypes
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numba
import numpy
import torch

FLOOR = Path(__file__).with_name("floor.c")


@numba.njit(fastmath=False)
def standardize(raw, out, rows, cols):
    total = 0.0
    for row in range(rows):
        base = row * cols
        target = row * cols * 2
        sum_ = 0.0
        for i in range(cols):
            sum_ += raw[base + i]
        mean = sum_ / cols
        spread = 0.0
        for i in range(cols):
            spread += (raw[base + i] - mean) * (raw[base + i] - mean)
        deviation = math.sqrt(spread / cols) + 1e-8
        for i in range(cols):
            value = (raw[base + i] - mean) / deviation
            out[target + i] = value
            total += value
        for i in range(cols):
            interaction = out[target + i] * out[target + (i + 1) % cols]
            out[target + cols + i] = interaction
            total += interaction
    return total


def ordered_sum(folder):
    library = Path(folder) / "floor.so"
    flags = ["-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, FLOOR, "-o", library], check=True)
    function = ctypes.CDLL(str(library)).ordered_sum
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_void_p, ctypes.c_int64]
    return function


def best(action):
    times = []
    for _ in range(5):
        started = time.perf_counter()
        result = action()
        times.append((time.perf_counter() - started) * 1000.0)
    return min(times), result


def main(which):
    rows, cols = 20000, 16
    torch.manual_seed(0)
    raw = numpy.array(torch.randn(rows * cols).tolist())
    out = array.array("d", [0.0] * (rows * cols * 2))
    view = numpy.frombuffer(out)
    standardize(raw, view, 10, cols)
    fastest, checksum = best(lambda: standardize(raw, view, rows, cols))
    if which == "floor":
        with tempfile.TemporaryDirectory() as folder:
            add = ordered_sum(folder)
            fastest, checksum = best(lambda: add(out.buffer_info()[0], len(out)))
    print(f"# standardize, 20000 rows: {fastest:.4f} ms")
    print(f"{checksum:.4f}")


main(sys.argv[1])
