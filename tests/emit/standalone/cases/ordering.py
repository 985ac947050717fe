"""sorted, sort, min and max by keys; sums of floats."""


def rank(word: str) -> int:
    return -len(word)


words = ["pear", "fig", "apple", "kiwi", "Banana"]
print(sorted(words, key=len), sorted(words, key=lambda w: (len(w), w)), sorted(words, key=rank, reverse=True))
print(sorted(words, key=str.lower), sorted(words, key=lambda w: w[-1]), sorted("hello"), sorted({3: "c", 1: "a"}))
words.sort(key=lambda w: -len(w))
print(words, max(words, key=len), min(words, key=len), max(words, key=lambda w: w.lower()))
words.sort(key=len, reverse=True)
pairs = [(1, "b"), (0, "z"), (1, "a"), (0, "y")]
print(words, sorted(pairs, key=lambda p: p[0]), sorted(pairs, key=lambda p: p[0], reverse=True))
counts = {"a": 3, "b": 1, "c": 3}
print(sorted(counts.items(), key=lambda item: (-item[1], item[0])), max(counts, key=lambda k: counts[k]))
print(min(counts.items(), key=lambda kv: kv[1]))
print(min([3, 2], default=0), max((w for w in words if len(w) > 9), default="none"), max((3, 1), (2, 9)))
print(sorted([3, -1, 2], key=abs), sorted([True, False]), max([2.5, 1.5]), max(len(w) for w in words))
values = [0.1] * 10
print(sum(values), sum(v * 2 for v in values), sum([-0.0]), sum([1, 2]), sum(v > 0 for v in values))
lists = [[3, 1], [2], []]
print(sorted(lists), sorted(lists, key=len), sorted(lists, key=lambda xs: sum(xs)))
for group in sorted(set(len(w) for w in words)):
    print(group, [w for w in words if len(w) == group])
empty: list[int] = []
print(max(empty))
