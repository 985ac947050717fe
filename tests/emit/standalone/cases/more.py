import math
from array import array

def swap(t: tuple[int, float]) -> tuple[float, int]:
    return t[1], t[0]

def many(n: int) -> list[str]:
    out = []
    for i in range(n):
        s = ""
        for j in range(i % 5):
            s += str(j)
        out.append(s)
    return out

def garbage(n: int) -> int:
    total = 0
    for i in range(n):
        xs = [i] * 100
        ys = xs + [1, 2, 3]
        total += len(ys[1:]) + ys[-1]
    return total

def late() -> int:
    if unset > 3:
        y = 1
    return y

def search(xs: list[int], want: int) -> int:
    for i, x in enumerate(xs):
        if x == want:
            return i
    else:
        return -1

def classify(c: str) -> str:
    if c in "aeiou":
        return "vowel"
    elif c == " ":
        return "space"
    return "other"

def tried(xs: list[float], i: int) -> float:
    total = 0.0
    count = 0
    for k in range(3):
        try:
            total += xs[i + k]
            count += 1
        except IndexError:
            total -= 1.0
    try:
        return total / count
    except ZeroDivisionError as e:
        print("zero:", e)
        return -1.0

print(swap((3, 4.5)))
print(many(7))
print(garbage(3000))
unset = 2
try:
    print(late())
except UnboundLocalError as e:
    print(e)
unset = 5
print(late())
print(search([4, 5, 6], 6), search([9], 1))
print([classify(c) for c in "a bé"])
print(tried([1.0, 2.0], 0), tried([1.0, 2.0], 5))
pts = [(1, 2.5), (3, -0.0)]
for p, qq in pts:
    print(p, qq, end=" ")
pts.append((7, 1e100))
print(pts, len(pts), pts[-1][1])
xs = [1.5, 2.5]
ys = xs
ys.append(3.5)
print(xs, len(xs))
def bump(values: list[int]) -> None:
    for i in range(len(values)):
        values[i] += 1
vs = [1, 2, 3]
bump(vs)
print(vs, vs[-1:], vs[:-1], vs * 2, [0] * 0)
i = 0
while i < 5:
    i += 1
    if i == 2:
        continue
    for k in range(10):
        if k == i:
            break
    else:
        print("never")
    if i == 4:
        break
else:
    print("no break")
print(i, k)
m = [[0.0] * 3 for _ in range(2)]
m[0][1] = 1.0
print(m, [row[:] for row in m], [[j for j in range(i)] for i in range(3)])
s = "héllo wörld"
print(s[1], s[-1], s[2:5], s[::-2], s.find("w"), s.count("l"), s.replace("l", "L"), s * 2, s < "i", s.startswith("hé"))
print(s.split("l"), "".join(["a", "b"]), sorted("hello".split("l")))
print(max(3, 7, 5), min(2.5, 1.5), max([1, 9, 3]), min("b", "a"), sum([1, 2, 3]), sum([0.1] * 10, 0.0), sum(x * x for x in range(5)))
print(int(3.99), int(-3.99), float(3), bool(0), bool("x"), str(1.0), repr("it's"), int("  42 "), float("1e3"), chr(233), ord("é"))
def close(a: float, b: float) -> None:
    print(math.isclose(a, b), math.isclose(a, b, rel_tol=0.5), math.isclose(a, b, abs_tol=1))


for one in (0.0, 1.0, -1.0, 1e308, 1.0 + 1e-10, math.inf, -math.inf, math.nan):
    for other in (0.0, 1.0, 1.7, -1e308, math.inf, math.nan):
        close(one, other)
print(math.floor(-2.5), math.ceil(2.1), math.gcd(12, 18), math.comb(10, 3), math.isqrt(99), 0)
print(2**10, 2.0**0.5, (-2) ** 3, 2**-1, 7 & 3, 7 | 8, 7 ^ 2, ~5, 1 << 10, -17 >> 2, True + True, True & False)
print(1 == 1.0, 2**53 == float(2**53), 2**53 + 1 == float(2**53), 1 < 2.5, "a" == "a", 3 != 4)
print((1, 2) < (1, 3), (1, 2) == (1, 2), [1, 2] == [1, 2], [1] != [2])
def loop() -> str:
    while True:
        try:
            raise ValueError("inner")
        except ValueError as e:
            return f"got {e}"
print(loop())
def nested(n: int) -> int:
    try:
        try:
            return 10 // n
        except ZeroDivisionError:
            raise ValueError("from nested")
    except ValueError as e:
        print(repr(e), e)
        return -1
print(nested(0), nested(3))
q = array("d", [0.5]) * 3
q[1] = 7
q.append(2)
print(q, q[1:3], len(q), sum(q, 0.0), list(q), [x for x in q])
b = array("b", range(-2, 3))
print(b, b[0] + b[1])
print(f"{1.0}", f"{-0.0:+.1f}", f"{1e-7:g}", f"{12345.678:,.2f}", f"{'x':>{3}}|")
z = 5 if s else 6
z += z if z > 3 else 0
print(z, not xs, xs or [1.0], 0 or 7, 3 and 0)
x = y = 3
x, (y, w) = 1, (2, 3)
print(x, y, w)
del vs[0]
vs.insert(1, 99)
vs.remove(99)
vs.extend([8, 9])
vs.reverse()
print(vs, vs.copy(), 9 in vs, 77 not in vs)
lines = []
for n in range(3):
    lines.append("line %d" % n)
print("\n".join(lines))
print(1, 2, sep="", end="!\n")
k = 0
for a in [1, 2, 3]:
    k = k * 10 + a
print(k)
t = (1, 2, 3)
print(t[0], t[-1], len(t), t, (1,), ())
for e in t:
    print(e, end=" ")
print()
def fact(n: int) -> int:
    return 1 if n <= 1 else n * fact(n - 1)
print(fact(20))
print(1 // (fact(3) - 6))
