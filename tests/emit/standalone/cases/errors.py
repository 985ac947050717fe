"""Each exception's last line, by the number on standard input."""

import math
from array import array


def pick(xs: list[int], i: int) -> int:
    return xs[i]


def store(xs: list[int], i: int) -> None:
    xs[i] = 1


def fail(which: int, zero: int, nothing: float) -> None:
    data = array("B", [1])
    numbers = [1, 2]
    if which == 0:
        print(1 / zero)
    elif which == 1:
        print(1 // zero)
    elif which == 2:
        print(1 % zero)
    elif which == 3:
        print(1.0 / nothing, 2)
    elif which == 4:
        print(1.0 // nothing)
    elif which == 5:
        print(1.0 % nothing)
    elif which == 6:
        print(divmod(1.0, nothing))
    elif which == 7:
        print(nothing**-1.0)
    elif which == 8:
        print(pick(numbers, 2), pick(numbers, -3))
    elif which == 9:
        store(numbers, -3)
    elif which == 10:
        numbers.clear()
        numbers.pop()
    elif which == 11:
        data[0] = 256
    elif which == 12:
        data[5] = 1
    elif which == 13:
        print(math.sqrt(nothing - 1.0))
    elif which == 14:
        print(math.exp(1e5 + nothing))
    elif which == 15:
        print(math.log(nothing))
    elif which == 16:
        print(int(nothing / 1.0 + math.nan))
    elif which == 17:
        print(1 << (zero - 1))
    elif which == 18:
        print(int("1_000") + int("zz"))
    elif which == 19:
        print(float("1e"))
    elif which == 20:
        raise ValueError(f"number {which}")
    elif which == 21:
        assert zero, "zero it is"
    elif which == 22:
        raise SystemExit(3)
    elif which == 23:
        raise SystemExit("text")
    elif which == 24:
        raise KeyError("key")
    elif which == 25:
        print(f"{which:.2d}")
    elif which == 26:
        print("abc"[zero + 3])
    elif which == 27:
        for i in range(0, 5, zero):
            print(i)
    elif which == 28:
        print((1e300 + nothing) ** 2.0)
    elif which == 29:
        a, b = numbers[:1]
        print(a, b)
    elif which == 30:
        print(max(numbers[2:]))
    elif which == 31:
        print(math.factorial(zero - 1))
    elif which == 32:
        raise NotImplementedError
    elif which == 33:
        print(input())
    elif which == 34:
        assert zero
    elif which == 35:
        print(chr(-1 - zero))
    print("done")


print("start", end=" ")
fail(int(input("which? ")), 0, 0.0)
