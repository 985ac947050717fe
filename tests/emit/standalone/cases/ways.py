"""Ways out of `try`, conditions of several kinds, starred prints, places of items."""

from array import array


def numbers(texts: list[str]) -> list[int]:
    found = []
    for text in texts:
        try:
            if text == "end":
                break
            if text == "":
                continue
            found.append(int(text))
        except ValueError as error:
            if "'?'" in str(error):
                print("skipped", error)
                continue
            print(f"stopped at {text!r}")
            break
        found.append(-1)
    else:
        print("all of them")
    return found


def nested(n: int) -> int:
    total = 0
    for i in range(n):
        try:
            total += 10 // (i - 2)
        except ZeroDivisionError:
            try:
                for j in range(5):
                    try:
                        total += [1, 2, 3][j + i]
                    except IndexError as error:
                        text = f"{error} {j}"
                        print(text)
                        break
                if i == 2:
                    continue
            except LookupError:
                break
            total += 1000
        if total > 10**6:
            break
        total += 1
    return total


def lines() -> int:
    count = 0
    while True:
        try:
            text = input()
        except EOFError:
            break
        else:
            if text == "7":
                continue
        count += len(text)
    return count


def after_break() -> None:
    """What an outer handler catches is its own again."""
    try:
        for i in range(3):
            try:
                raise ValueError(str(i))
            except ValueError:
                if i == 1:
                    break
        raise KeyError("outer")
    except KeyError as error:
        print("caught", error)


def conditions(alive: int, n: int, name: str, xs: list[int]) -> str:
    if n == 3 or (alive and n == 2):
        return "lives"
    if not (name and xs) and not alive:
        return "nothing"
    if xs and (size := len(xs)) > 2 and name:
        return f"long {size} {name}"
    value = 1.5 if name or xs else 2.5
    while alive and xs and value < 4:
        value += 1
    assert name or not xs or alive, "name"
    return f"{value} {[x for x in xs if x and name]}"


def walrus(flag: bool) -> int:
    if flag and (found := 5) > 3:
        return found
    return found


def caught_late(texts: list[str]) -> None:
    for _ in range(3000):
        for text in texts:
            try:
                int(text)
            except ValueError as error:
                if str(error):
                    continue
            break


print(numbers(["1", "2", "", "?", "3"]))
print(numbers(["1", "x", "3"]))
print(numbers(["1", "end", "x"]))
print(nested(6), lines())
after_break()
caught_late(["a", "b"])
for case in range(6):
    print(conditions(case % 2, case, "n" * (case % 3), list(range(case))))
try:
    walrus(False)
except UnboundLocalError as error:
    print(error, walrus(True))

words = ["b", "a"]
rows = [[1, 2], [3]]
print(*words)
print("x", *words, 1.5, *rows, sep="-", end="|\n")
print(*range(3), *(str(w) for w in words), *sorted(words), *rows[0][:0], flush=True)
print(*"añb", *(1, 2), sep="")
print("Ab-z@[`{Z".upper(), "aB@[`{Zz 1".lower(), "".upper() + "x", "W".lower() in words)
print(words.index("a"), rows.index([3]), rows[0].index(2), array("q", [4, 5]).index(5))
try:
    words.index("é'")
except ValueError as error:
    print(error)
try:
    array("i", [1]).index(3)
except ValueError as error:
    print(error)
print(rows[0].index(9))
