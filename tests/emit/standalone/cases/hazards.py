"""What is easily got wrong: order of evaluation, borrowed texts, shared lists, deep objects."""
from dataclasses import dataclass
import sys

@dataclass
class N:
    v: int
    next: "N | None" = None

@dataclass
class P:
    name: str
    other: str = "o"
    inner: "R | None" = None

class R:
    def __init__(self, bad: bool) -> None:
        self.bad = bad
    def __repr__(self) -> str:
        if self.bad:
            raise ValueError("bad repr")
        return "R()"

class Log:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0
    @property
    def next(self) -> int:
        self.count += 1
        return self.count
    def add(self, text: str) -> str:
        self.lines.append(text)
        return text

def chain(n: int) -> N:
    head = N(0)
    for i in range(n):
        head = N(i, head)
    return head

try:
    print(len(repr(chain(5000))))
except RecursionError:
    print("deep")
try:
    print(chain(5000) == chain(5000))
except RecursionError:
    print("deep eq")
print(chain(2), chain(3) == chain(3), chain(3) == chain(4))
p = P("a", "b", R(True))
try:
    print(p)
except ValueError as e:
    print(e)
p.inner = R(False)
print(p)
p.name, p.other = p.other, p.name
print(p)
log = Log()
print(log.next + log.next * 10, log.next, log.next, f"{log.next}{log.next}")
d = {"a": "x", "b": "y"}
d["a"], d["b"] = d["b"], d["a"]
s = d["a"]
d["a"] = s + s
print(s, d, (d["a"], d.pop("a"), len(d)))
xs = ["p", "q"]
xs[0], xs[1] = xs[1], xs[0]
t = (xs[0], xs)
xs[0] = "changed"
print(t, t[0], xs)
pairs = [("k", [1])]
name, inner = pairs[0]
inner.append(2)
pairs.append(("z", inner))
print(pairs, name)
order: list[str] = []
def put(x: str) -> str:
    order.append(x)
    return x
e = {put("k1"): put("v1"), put("k2"): put("v2")}
e[put("k3")] = put("v3")
print(order, e, 2 in {2.0, 3.5}, 9007199254740993 in {1, 2})
nested = [[0] * 3 for _ in range(2)]
nested[0][1] = 5
nested[1] = nested[0]
nested[1][2] += 7
print(nested, nested[0] is nested[1])
m = {}
for w in "a b a".split():
    m[w] = m.get(w, 0) + 1
print(m, {v: k for k, v in m.items()}, sorted(m, reverse=True))
def gen(n: int) -> list[tuple[int, str]]:
    return sorted(((i * 7 % 5, str(i)) for i in range(n)), key=lambda q: q[0])
print(gen(6), sum(len(w) for _, w in gen(12)), next_id := 5, next_id)
a = b = [1]
a += [2]
a, (c, f) = [9], (1, "t")
print(a, b, c, f)


@dataclass
class Box:
    items: list[int]
    seen: set[int]


g = [1]
h = {1}
k = {1: 2}
box = Box([1], {1})


def again() -> list[int]:
    global g
    g = [100, 200]
    return [2]


def again_set() -> set[int]:
    global h
    h = {100}
    return {2}


def again_dict() -> dict[int, int]:
    global k
    k = {100: 0}
    return {3: 4}


def again_box() -> list[int]:
    box.items = [100]
    return [2]


def again_seen() -> set[int]:
    box.seen = {100}
    return {2}


def zero() -> int:
    global g
    g = [7, 8, 9]
    return 0


def one() -> int:
    global k
    k = {1: 5, 6: 6}
    return 1


def in_function() -> None:
    global g
    held = g
    g += again()
    print(g, held, g is held)


old, old_set, old_dict, old_items, old_seen = g, h, k, box.items, box.seen
g += again()
h |= again_set()
k |= again_dict()
box.items += again_box()
box.seen |= again_seen()
print(g, h, k, box, old, old_set, old_dict, old_items, old_seen)
in_function()
old = g = [1, 2, 3]
del g[zero()]
print(g, old)
old = g = [1, 2, 3]
del g[zero() : 2]
print(g, old)
del k[one()]
print(k)


def bound() -> str:
    text = "a"
    text += (text := "b")
    held = [1]
    held += (held := [2])
    return f"{text} {held}"


print(bound())
