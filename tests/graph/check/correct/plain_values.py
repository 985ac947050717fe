"""Built-in values and everything that may be done with them."""

import array
import math
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence


def arithmetic(a: int, b: float, c: bool, d: complex) -> complex:
    total = a + b * c - a // 2 % 3 + b**2 + (a << 2 | 1) + ~a + -c
    return total + d * a + abs(d) + divmod(a, 2)[0] + round(b) + round(b, 1) + int("3")


def text(name: str, count: int) -> str:
    line = "%s %d" % (name, count) + name * 2 + f"{count:>3}" + "-" * 3 + ",".join([name])
    return line[0] + line[1:3] + line.upper().strip("a").split(",")[0] + str(count)


def sequences(xs: list[int], ys: tuple[int, ...], zs: Sequence[float]) -> list[float]:
    out = xs + [1] * 3 + list(ys) + [*ys]
    out.sort(key=lambda x: -x)
    first, *rest = out
    pair = (1, "a") + (2.0,)
    return [float(first), *map(float, rest), zs[0], zs[-1], pair[2], max(xs), min(1, 2.5)]


def containers(words: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    groups = defaultdict(list)
    for index, word in enumerate(words):
        counts[word] = counts.get(word, 0) + 1
        groups[len(word)].append(index)
    queue = deque(sorted(counts.items()))
    queue.appendleft(("", 0))
    seen = {word for word in counts} | set("ab") - {"a"}
    top = Counter(counts).most_common(1)
    return dict(queue) | {key: len(value) for key, value in zip(seen, groups.values())} | dict(top)


def buffers(n: int) -> float:
    values = array.array("d", [0.0]) * n
    for i in range(n):
        values[i] = math.sqrt(i) + math.floor(1.5) + math.hypot(3, 4)
    return sum(values) + values[-1] + len(values[1:]) + math.fsum(values)


def generate(n: int) -> Iterator[int]:
    yield from range(n)
    yield n


def compare(a: int, b: str) -> bool:
    return a == b or b in "abc" or a in [1, 2] or (1, 2) < (1, 3) or [a] <= [a]


if __name__ == "__main__":
    print(arithmetic(5, 2.5, True, 1j), text("a", 3), sequences([3, 1], (2,), [0.5]))
    print(containers(["a", "bb", "a"]), buffers(4), list(generate(2)), compare(1, "a"))
