"""heapq, and the sums and norms that CPython computes in its own way."""
import heapq
import math


def lcg(seed: int, n: int) -> list[int]:
    out = []
    for _ in range(n):
        seed = (seed * 1103515245 + 12345) % 2**31
        out.append(seed // 65536)
    return out


def floats(seed: int, n: int) -> list[float]:
    return [(a - 16384) * 2.0 ** (b % 120 - 60) / 3.0 for a, b in zip(lcg(seed, n), lcg(seed + 1, n))]


heap: list[int] = []
for value in lcg(1, 50):
    heapq.heappush(heap, value % 20)
print(heap)
while len(heap) > 30:
    print(heapq.heappop(heap), end=" ")
print(heapq.heappushpop(heap, 0), heapq.heappushpop(heap, 100), heapq.heapreplace(heap, 3), heap)
names = [(a % 7, f"n{a % 5}") for a in lcg(2, 40)]
heapq.heapify(names)
print(names)
heapq.heappush(names, (3, "n"))
print([heapq.heappop(names) for _ in range(20)], names)
print(heapq.nsmallest(3, lcg(3, 10)), heapq.nlargest(3, names), heapq.nlargest(2, ["aa", "b"], key=len), heapq.nsmallest(-1, [1]))
queue = [(0.5, "a", [1]), (0.25, "b", [2])]
heapq.heapify(queue)
cost, name, path = heapq.heappop(queue)
print(cost, name, path, queue)
numbers = floats(5, 300)
print(math.fsum(numbers), math.fsum([0.1] * 10), math.fsum([1e308, -1e308, 1e-20]), math.fsum(x * 0.1 for x in numbers))
print(math.fsum([1e16, 1.0, 1e-16]), math.fsum([math.inf, 1.0]), math.fsum([-0.0]), math.fsum([2.0**53, 1.0, 2.0**-60]))
for a, b, c in zip(numbers, numbers[1:], numbers[2:]):
    print(math.hypot(a, b), math.hypot(a, b, c), math.dist((a, b), (c, a)))
print(math.hypot(), math.hypot(-3), math.hypot(3, 4), math.hypot(1e-320, 2e-320), math.hypot(math.inf, math.nan), math.hypot(1e308, 1e308))
print(math.dist((1, 2), (4, 6)), math.hypot(math.nan, 1.0))
try:
    print(math.fsum([1e308, 1e308]))
except OverflowError as error:
    print(error)
try:
    print(math.fsum([math.inf, -math.inf]))
except ValueError as error:
    print(error)
heapq.heappop([0] * 0)
