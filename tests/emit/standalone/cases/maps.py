"""map over what is split, unpacked or gone through; standard input by lines."""
import sys


def shout(word: str) -> str:
    print("shout", word)
    return word.upper() + "!"


print(list(map(int, "3 1 2".split())), sum(map(float, ["1.5", "2"])), max(map(len, ["a", "bbb"])))
a, b = map(int, "7 8".split())
print(a, b, sorted(map(abs, [-3, 2])), " ".join(map(str, [1, 2, 3])), ",".join(map(repr, ["a", "b"])), set(map(len, ["x", "y"])))
for word in map(shout, ["one", "two", "three"]):
    print(word)
    if word == "TWO!":
        break
print([w for w in map(lambda s: s * 2, ("a", "b"))], any(map(lambda n: n > 2, [1, 3, 5])))
for text in ("1", "1 2 3", "1 2 3 x", "1 x"):
    try:
        a, b = map(int, text.split())
        print(a, b)
    except ValueError as error:
        print(error)
print([sys.stdin.readline()])
for line in sys.stdin:
    print([line], [line.strip()])
print([sys.stdin.readline()], [sys.stdin.read()], sorted(map(str.lower, ["B", "a"])))
