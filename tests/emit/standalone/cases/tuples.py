"""Tuples that hold texts and lists: kept, passed, returned, compared, sorted, shown."""


def swap(pair: tuple[str, int]) -> tuple[int, str]:
    name, count = pair
    return count, name + "!"


def runs(text: str) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    for c in text:
        if found and found[-1][0] == c:
            found[-1] = (c, found[-1][1] + 1)
        else:
            found.append((c, 1))
    return found


def split(text: str) -> tuple[str, list[str]]:
    first, rest = text[0], [c for c in text[1:]]
    whole = (first * 2, rest)
    return whole


def nested(n: int) -> tuple[tuple[str, list[int]], float]:
    return (f"n={n}", [n] * n), n / 2


def pick(pairs: list[tuple[str, float]], first: bool) -> str:
    pair = pairs[0] if first else pairs[-1]
    return f"{pair[0]}:{pair[1]}"


def garbage(n: int) -> int:
    kept = [("", [0])]
    for i in range(n):
        row = (str(i), [i] * 100)
        if i % 100 == 0:
            kept.append(row)
        else:
            kept[-1] = row
    return sum(len(text) + len(items) + items[-1] for text, items in kept)


best = ("none", -1)
for pair in runs("aaabbbbccdddd"):
    if pair[1] > best[1]:
        best = pair
print(best, swap(best), runs(""), runs("äää"))
first, rest = split("hello")
print(first, rest, split("ab"))
(name, items), half = nested(3)
print(name, items, half, nested(0))
pairs = [("b", 2.0), ("a", 3.5), ("a", -1.0), ("c", 0.0)]
print(sorted(pairs), max(pairs), min(pairs), pick(pairs, True), pick(pairs, False))
pairs.sort(reverse=True)
print(pairs, ("a", 3.5) in pairs, pairs.index(("c", 0.0)), ("z", 1.0) in pairs)
pairs[0], pairs[1] = pairs[1], pairs[0]
pairs[0] = (pairs[1][0], pairs[0][1])
print(pairs, pairs.pop(), len(pairs), pairs[::-1], pairs + [("x", 1.0)], pairs * 2)
pairs.insert(1, ("new", 0.5))
pairs.remove(("a", 3.5))
print(pairs, pairs == [("a", 3.5)], [p for p in pairs if p > ("b", 1.0)])
print([1.5, 2.0] == [1.5, 2.0], (1, "a", 2.5) < (1, "a", 2.75), (1.0, "b") >= (1, "a"), 2.5 in [1.0, 2.5])
print([[1, 2], [1]] > [[1, 1, 5]], sorted([[3], [1, 2], [1]]), [3.0, 1.0].index(1.0), ("a", [1]) == ("a", [1]))
table = [(i, str(i) * 2, [(i, "x")]) for i in range(3)]
print(table, table[1][2][0][1])
words = ["one", "two"]
for number, (word, length) in enumerate([(w, len(w)) for w in words], 1):
    print(number, word, length, end="; ")
print()
for letter in ("x", "y"):
    print(letter, end=" ")
choice = ("p", "q", "r")
print([choice[i % 3] for i in range(4)], choice[-1], choice[1:], garbage(30000))
text = "k"
text, other = text + "1", text
print(text, other, (text, other)[len(other)], "q" in choice, ("p", "z") < choice)
try:
    unknown = pairs[9]
    print(unknown)
except IndexError as error:
    print(error)
