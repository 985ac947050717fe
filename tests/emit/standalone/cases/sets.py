"""Sets: CPython's order of numbers, operators, methods, changes while one goes through."""


def random(seed: int, n: int, span: int) -> list[int]:
    out = []
    for _ in range(n):
        seed = (seed * 1103515245 + 12345) % 2**31
        out.append(seed // 65536 % span - span // 4)
    return out


def show(values: set[int]) -> str:
    return " ".join(str(v) for v in values)


small = {3, 1, 2}
print(small, {100, 5, 37, 2, 9}, {i * 16 for i in range(9)}, set([8, 0, 24, 16]), {-1, -2, 0, 33})
print({1.5, 0.5, -2.0, 1e10}, {True, False}, {(1, 2), (0, 0), (5, -1)}, {(0.5, 1), (2.0, 3)})
x = 40
print({x, x + 8, x + 16, 1, 9}, {x}, {x, 3})
for size in (1, 4, 5, 8, 20, 63, 200):
    for span in (10, 1000, 100000):
        a = set(random(size, size, span))
        b = set(random(size + 1, size * 2, span))
        print(size, span, show(a))
        print(show(a | b), "|", show(a & b), "|", show(a - b), "|", show(a ^ b), "|", show(b - a))
        c = a.copy()
        for v in random(7, size, span):
            c.discard(v)
            c.add(v * 3)
        print(show(c), a <= b, a < a, a >= a, a.isdisjoint(b), a == b, a != c)
        c -= b
        print(show(c))
        c |= a
        c ^= b
        print(show(c))
        c &= a
        print(show(c), c.issubset(a), a.issuperset(c))
        popped = [c.pop() for _ in range(len(c) // 2)]
        print(popped, show(c))
words = set("the cat and the dog".split())
print(sorted(words), len(words), "cat" in words, "cow" in words)
words.add("cow")
words.remove("the")
words.update(["one", "two"])
print(sorted(words), sorted(words & {"one", "cat", "zebra"}), sorted(w.upper() for w in words))
print(not {i for i in range(0)}, {i % 3 for i in range(10)}, True in {1, 2}, len({1, 1}))
for v in {100, 5, 37, 2, 9}:
    print(v, end=" ")
print([v for v in {-1, 5 + 2, 15}])
for letter in sorted({c for c in "mississippi"}):
    print(letter, end=" ")
try:
    words.remove("none")
except KeyError as error:
    print(error)
empty: set[int] = set()
try:
    empty.pop()
except KeyError as error:
    print(error, empty)
growing = {1, 2, 3}
try:
    for v in growing:
        growing.add(v + 100)
except RuntimeError as error:
    print(error)
seen: set[tuple[int, str]] = set()
for i, name in [(1, "a"), (2, "b"), (1, "a")]:
    if (i, name) in seen:
        print("again", i, name)
    seen.add((i, name))
growing.clear()
print(growing, max({3, 9, 4}), sum({1, 2, 3}), list({2, 1}), sorted({(2, "x"), (1, "y")}))
for size in (4, 5, 6, 11, 12, 31, 49, 50, 99, 100, 277, 1001):
    numbers = random(size, size, 100000)
    made = set(numbers)
    keyed = {v: 0 for v in numbers}
    print(size, show(set(made)), "|", show(set(keyed)), "|", show(set(keyed.keys())))
    joined = {5, 1000003}
    joined.update(keyed)
    print(show(joined))
    for v in numbers[: size // 2]:
        made.discard(v)
        keyed.pop(v, 0)
    joined.update(made)
    joined.update(keyed)
    print(show(set(made)), "|", show(set(keyed)), "|", show(joined))
