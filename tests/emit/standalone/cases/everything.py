import sys, math, time
from ppy import Buffer
from array import array

def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps

def fib(n: int) -> int:
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def primes(n):
    sieve = [True] * (n + 1)
    found = []
    for i in range(2, n + 1):
        if sieve[i]:
            found.append(i)
            for j in range(i * i, n + 1, i):
                sieve[j] = False
    return found

def deep(n: int) -> int:
    return deep(n + 1) + 1

def greet(name: str, loud: bool = False) -> str:
    text = "hello " + name
    if loud:
        text += "!"
    return text

def work(xs: list[float]) -> tuple[float, float]:
    low, high = xs[0], xs[0]
    for x in xs:
        low = min(low, x)
        high = max(high, x)
    return low, high

def dot(a: Buffer[float], b: Buffer[float]) -> float:
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total

print(collatz(27), fib(20))
print(primes(50), len(primes(1000)))
print(greet("wörld", loud=True), greet("x"), len(greet("wörld")))
print(work([3.0, -1.5, 2.25]))
print(-5 // 2, -5 % 3, 5 % -3, 7.5 // -2, -7.5 % 2, 2**53 / 3, (2**53 + 1) / 1, -0.0, 1e16, 1e-5)
print(0.1 + 0.2, float("nan"), float("inf"), -float("inf"), 1 / 3)
print(f"{3.14159:.2f}|{42:>8d}|{'abc':^9}|{1234567:,}|{255:#x}|{True}|{1.5!r:>6}")
print("%d %5.2f %s %r" % (3, 2.5, "x", "y"), "{} {:>4}".format(1, 2))
for i, c in enumerate("añb"):
    print(i, c, ord(c), end=";")
print()
grid = [[i * j for j in range(3)] for i in range(3)]
grid[1][2] += 10
print(grid, grid[-1][-1], sum(grid[1]), max(grid[2]), [x for row in grid for x in row if x % 2 == 0])
xs = [5, 3, 9, 1]
xs.sort()
print(xs, sorted(xs, reverse=True), xs[1:3], xs[::-1], xs.pop(), xs, 3 in xs)
words = "the quick brown fox".split()
print(words, ", ".join(words), "quick" in words, words[1][::-1], " ".join(w.strip() for w in words))
try:
    print(xs[10])
except IndexError as e:
    print("caught", e)
try:
    n = int("12x")
except (ValueError, TypeError) as e:
    print(type(e).__name__, e)
else:
    print("no")
try:
    deep(0)
except RecursionError as e:
    print(type(e).__name__)
a, b = 1, 2
a, b = b, a
print(a, b, divmod(-7, 2), round(2.5), round(2.675, 2), abs(-3), math.sqrt(2), math.pi)
t = time.perf_counter()
print(t > 0, any(x > 4 for x in xs), all(x > 0 for x in xs))
data = array("d", [1.0, 2.0, 3.0])
print(dot(data, data), data, array("i", [1, 2]), len(data))
total = 0
for k in range(10, 0, -3):
    if k == 4:
        continue
    total += k
else:
    print("else", total)
while True:
    total -= 5
    if total < 0:
        break
print(total, 10 if total else 20, not total, total and 5, 1 < 2 < 3)
assert total < 0, "message"
print(len(sys.argv))
x = 9223372036854775807
print(x, -x - 1)
def ratio(p: float, q: float) -> float:
    return p / q
print(ratio(1.0, 0.0))
