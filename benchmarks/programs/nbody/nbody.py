"""Five bodies that pull each other, in steps: python nbody.py STEPS"""

import math
import sys
from array import array

from ppy import Buffer


def energy(p: Buffer[float], v: Buffer[float], m: Buffer[float]) -> float:
    total = 0.0
    n = len(m)
    for i in range(n):
        x, y, z = v[3 * i], v[3 * i + 1], v[3 * i + 2]
        total += 0.5 * m[i] * (x * x + y * y + z * z)
        for j in range(i + 1, n):
            x = p[3 * i] - p[3 * j]
            y = p[3 * i + 1] - p[3 * j + 1]
            z = p[3 * i + 2] - p[3 * j + 2]
            total -= m[i] * m[j] / math.sqrt(x * x + y * y + z * z)
    return total


def advance(
    p: Buffer[float], v: Buffer[float], m: Buffer[float], step: float, steps: int
) -> None:
    n = len(m)
    for _ in range(steps):
        for i in range(n):
            for j in range(i + 1, n):
                x = p[3 * i] - p[3 * j]
                y = p[3 * i + 1] - p[3 * j + 1]
                z = p[3 * i + 2] - p[3 * j + 2]
                square = x * x + y * y + z * z
                pull = step / (square * math.sqrt(square))
                v[3 * i] -= x * m[j] * pull
                v[3 * i + 1] -= y * m[j] * pull
                v[3 * i + 2] -= z * m[j] * pull
                v[3 * j] += x * m[i] * pull
                v[3 * j + 1] += y * m[i] * pull
                v[3 * j + 2] += z * m[i] * pull
        for i in range(3 * n):
            p[i] += step * v[i]


def main() -> None:
    steps = int(sys.argv[1])
    places = array("d", [0.0, 0.0, 0.0, 4.8, -1.2, -0.1, 8.3, 4.1, -0.4, 12.9, -15.1, -0.2])
    speeds = array("d", [0.0, 0.0, 0.0, 0.6, 2.8, -0.02, -1.0, 1.8, 0.01, 1.1, 0.9, -0.01])
    masses = array("d", [39.5, 0.037, 0.011, 0.0017])
    places.extend(array("d", [15.4, -25.9, 0.2]))
    speeds.extend(array("d", [1.0, 0.6, -0.03]))
    masses.append(0.002)
    print(f"{energy(places, speeds, masses):.9f}")
    advance(places, speeds, masses, 0.01, steps)
    print(f"{energy(places, speeds, masses):.9f}")


main()
