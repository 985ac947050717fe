"""Dicts: insertion order, keys by value, methods, errors, changes while one goes through."""


def count(words: list[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


def invert(d: dict[str, int]) -> dict[int, list[str]]:
    out: dict[int, list[str]] = {}
    for key, value in d.items():
        out.setdefault(value, []).append(key)
    return out


def churn(n: int) -> tuple[int, int]:
    d: dict[int, int] = {}
    for i in range(n):
        d[i * 7919 % 10007] = i
        if i % 3 == 0:
            d.pop(i * 7919 % 10007 - 1, 0)
        if i % 5 == 0 and d:
            d.popitem()
    total = 0
    for key in d:
        total = (total * 31 + key) % 1000003
    return len(d), total


counts = count("the cat and the dog and the bird".split())
print(counts, len(counts), "cat" in counts, "cow" not in counts, invert(counts))
counts["cow"] = 5
counts["the"] += 10
del counts["and"]
counts["and"] = 0
print(counts, list(counts), list(counts.keys()), list(counts.values()), list(counts.items()))
print(sorted(counts), sorted(counts.items()), max(counts.values()), sum(counts.values()), min(counts))
for i, (word, n) in enumerate(counts.items()):
    print(i, word, n, end="; ")
print()
try:
    print(counts["none"])
except KeyError as error:
    print("KeyError", error)
numbers = {1: "one", 2: "two"}
print(numbers[True], True in numbers, numbers.get(False, "none"), numbers)
floats = {0.5: 1, -0.0: 2, 1e300: 3, 2.0: 4}
floats[0.0] = 20
print(floats, floats[2], 1 in floats)
flags = {x > 2: x for x in range(5)}
print(flags)
points = {(i, j): i * j for i in range(3) for j in range(2) if i != j}
points[(2, 0)] -= 7
print(points, (1, 0) in points, points.get((9, 9), -1))
named = {("a", 1): [1, 2], ("b", 2): []}
named["b", 2].append(5)
print(named, named[("b", 2)][0])
deep = {"x": {"y": 1}, "z": {}}
deep["z"]["w"] = 2
print(deep, deep == {"z": {"w": 2}, "x": {"y": 1}}, deep != {"x": {"y": 1}})
copy = counts.copy()
copy.update({"new": 1, "the": 0})
copy["old"] = 3
print(copy, counts, {**counts, "last": 9}, counts | {"cat": 100})
copy |= {"or": 4}
print(copy.pop("or"), copy.pop("or", -1), copy.popitem(), copy)
copy.clear()
print(copy, not copy, bool(counts), dict([("a", 1), ("b", 2)]), dict(counts) == counts, dict(a=1, b=2))
try:
    print(copy.popitem())
except KeyError as error:
    print(error)
try:
    for word in counts:
        counts[word + "!"] = 1
except RuntimeError as error:
    print(error, counts)
for word in list(counts):
    del counts[word]
print(counts, churn(5000))
zipped = {k: v for k, v in zip(["a", "b"], [1, 2])}
print(zipped, [f"{k}={v}" for k, v in zipped.items()], " ".join(zipped), ",".join(k for k in zipped.keys()))
big = {i: str(i) for i in range(1000)}
for i in range(0, 1000, 2):
    del big[i]
for i in range(0, 50):
    big[i] = "again"
print(len(big), list(big)[:5], list(big.values())[-30:], sum(big))
tables = [{"a": i} for i in range(3)]
tables[1]["b"] = 7
print(tables, [t["a"] for t in tables], any("b" in t for t in tables))
print(big[5000])
