"""Methods of str, and slices of lists that are assigned."""

TEXTS = ["", "a", "Hello, World", "  pad\t\n", "ABC", "abc1", "12", "-42", "a-b-c", "x=1=2", "äöü ß", "a\nb\r\nc\n\nd", "tabs\there"]


def tell(t: str) -> None:
    print(repr(t), t.strip("ab -"), t.lstrip("Hx "), t.rstrip("d\nc "), t.zfill(5), t.zfill(-1), sep="|")
    print(t.center(9, " "), t.center(8, "*"), t.ljust(4, "."), t.rjust(4), t.ljust(20, "ä"), sep="|")
    print(t.partition("-"), t.rpartition("-"), t.partition("="), t.rsplit("=", 1), t.split("-", 1), t.split("b", maxsplit=1))
    print(t.splitlines(), t.removeprefix("a"), t.removesuffix("c"), t.isspace(), t.isascii())
    print(t.find("l", 4), t.find("", 50), t.find("a", -3), t.rfind("l"), t.rfind(""), t.replace("a", "b", 1), t.replace("", "-", 3))
    print(t.startswith(("a", "Hel")), t.endswith(("c", "d")), t.count("l"), "l" in t, t * 2, t[::-1])
    if t.isascii():
        print(t.isalpha(), t.isdigit(), t.isalnum(), t.isupper(), t.islower(), t.isdecimal())
        print(t.capitalize(), t.title(), t.swapcase(), t.upper(), t.lower(), sep="|")


for text in TEXTS:
    tell(text)
for text in TEXTS:
    try:
        print(text.index("b"), text.rindex("b"))
    except ValueError as error:
        print(error)
words = "the quick  brown fox".split()
print(" ".join(w.capitalize() for w in words), "-".join(reversed(words)), "".join(sorted("hello")))
before, _, after = "key: value".partition(": ")
print(before, after, "it's they're 3rd-rate".title())
xs = list(range(10))
xs[2:5] = [20, 30]
print(xs)
xs[1:1] = [7, 8, 9]
print(xs)
xs[-2:] = []
xs[5:2] = [0]
print(xs)
xs[:0] = xs
del xs[3:6]
print(xs, len(xs))
del xs[100:], xs[:1]
print(xs)
names = ["a", "b", "c", "d"]
names[1:3] = ["long name", "other", names[0] * 3]
print(names)
del names[:2]
names[0:0] = names[1:]
print(names)
try:
    print("x".center(5, "ab"))
except TypeError as error:
    print(error)
print("hello".startswith(("x", "he")), "hello".endswith(("x",)), "hello".startswith(()))
print("abc".split(""))
