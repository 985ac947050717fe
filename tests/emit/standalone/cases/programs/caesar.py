"""Texts: ciphers, palindromes, run lengths."""


def shift(text: str, by: int) -> str:
    out = []
    for c in text:
        if c.isalpha() and c.isascii():
            base = ord("A") if c.isupper() else ord("a")
            out.append(chr((ord(c) - base + by) % 26 + base))
        else:
            out.append(c)
    return "".join(out)


def runs(text: str) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    for c in text:
        if found and found[-1][0] == c:
            found[-1] = (c, found[-1][1] + 1)
        else:
            found.append((c, 1))
    return found


def is_palindrome(text: str) -> bool:
    plain = [c.lower() for c in text if c.isalnum()]
    return plain == plain[::-1]


secret = shift("Hello, World!", 3)
print(secret, "|", shift(secret, -3))
print(runs("aaabccd"))
print("".join(f"{n}{c}" for c, n in runs("wwwbbbw")))
for text in ["A man, a plan, a canal: Panama", "hello"]:
    print(f"{text!r:40} {is_palindrome(text)}")
words = "the quick brown fox".split()
print(" ".join(w.capitalize() for w in words), "-".join(reversed(words)))
print("the quick brown fox".title().swapcase(), "a-b-c".partition("-"), "x=1=2".rsplit("=", 1))
print("7".zfill(3), "mid".center(9, "*"), "l".ljust(4, "."), "r".rjust(4), "a,b,,c".split(","))
print("one\ntwo\r\nthree".splitlines(), "prefix-x".removeprefix("prefix-"))
