"""A little of everything."""
import sys
from dataclasses import dataclass, field

@dataclass
class Account:
    name: str
    log: dict[str, list[int]] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)
    pos: tuple[int, str] = (0, "start")

class Grid:
    def __init__(self, w: int, h: int) -> None:
        self.w, self.h = w, h
        self.cells = [[0] * w for _ in range(h)]
        self.names: dict[tuple[int, int], str] = {}
    def set(self, x: int, y: int, name: str) -> None:
        if not (0 <= x < self.w and 0 <= y < self.h):
            raise IndexError(f"({x}, {y})")
        self.cells[y][x] += 1
        self.names[x, y] = name
    def show(self) -> str:
        return "\n".join("".join(self.names.get((x, y), ".") for x in range(self.w)) for y in range(self.h))

def find(xs: list[str], want: str) -> int:
    try:
        return xs.index(want)
    except ValueError:
        return -1
    finally:
        print("looked for", want)

def tries(n: int) -> str:
    out = ""
    for i in range(n):
        try:
            try:
                if i % 2:
                    raise KeyError(f"k{i}")
                out += f"<{i}>"
            finally:
                out += "F"
                if i == 4:
                    raise ValueError("in finally")
        except KeyError as e:
            out += str(e)
        except ValueError as e:
            out += f"[{e}]"
            return out
    return out

a = Account("ann")
a.log.setdefault("x", []).append(1)
a.log["x"].append(2)
a.seen.add(3)
a.seen |= {1, 2}
a.pos = (a.pos[0] + 1, a.pos[1] + "!")
print(a, a.pos, len(a.seen), a.log == {"x": [1, 2]})
b = Account("bob", {"y": [9]}, {5}, (7, "z"))
print(b, [x.name for x in (a, b)], {x.name: x for x in [a, b]}["bob"].pos)
g = Grid(4, 3)
g.set(1, 2, "#")
g.set(3, 0, "ö")
print(g.show())
try:
    g.set(9, 9, "x")
except IndexError as e:
    print("out", e)
print(find(["a", "b"], "b"), find(["a"], "q"), tries(9), tries(3))
words = "to be or not to be".split()
index: dict[str, list[int]] = {}
for i, w in enumerate(words):
    index.setdefault(w, []).append(i)
print(index, sorted(index.items(), key=lambda kv: (len(kv[1]), kv[0])))
table = [{"name": n, "team": t} for n, t in (("x", "red"), ("y", "blue"))]
for row in table:
    row["name"] += "!"
    print(row["name"], row, sep=" | ", end=";\n")
matrix = {(r, c): r * 3 + c for r in range(2) for c in range(3)}
print(sum(v for (r, c), v in matrix.items() if r == c), max(matrix.items(), key=lambda kv: kv[1]))
stack = [("root", 0)]
while stack:
    name, depth = stack.pop()
    print("  " * depth + name)
    if depth < 2:
        stack.extend((f"{name}.{i}", depth + 1) for i in range(2))
primes = {n for n in range(2, 30) if all(n % d for d in range(2, n))}
print(primes, sorted(primes - {2, 3}), {1, 2} <= {1, 2, 3}, primes & set(range(10)))
total, best = 0.0, ("", -1.0)
for n, s in [("a", 1.5), ("b", 2.5)]:
    total += s
    if s > best[1]:
        best = (n, s)
print(total, best, f"{best[0]!r:>5}|{best[1]:08.3f}|{len(words):>+4d}")
sys.stdout.write("done\n")
print(*words[:3], sep="-", file=sys.stderr)
sys.exit("stop")
