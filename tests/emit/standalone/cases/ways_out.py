"""`finally` on every way out, exceptions of the program's own."""


class Refusal(Exception):
    """Not enough."""


class Deep(Refusal):
    pass


class Missing(KeyError):
    pass


def both(x: int) -> int:
    try:
        if x == 0:
            return x
        if x == 1:
            raise ValueError("one")
        x += 100
    except ValueError as error:
        print("caught", error)
        return -1
    finally:
        x += 1000
        print("finally", x)
    return x


def loops(n: int) -> list[str]:
    seen: list[str] = []
    for i in range(n):
        try:
            if i == 1:
                continue
            if i == 3:
                break
            seen.append(f"body {i}")
        finally:
            seen.append(f"final {i}")
            for k in range(3):
                if k == 1:
                    break
                seen.append(str(k))
    else:
        seen.append("else")
    return seen


def nested(which: int) -> str:
    try:
        try:
            if which == 0:
                raise Deep("zero")
            if which == 1:
                raise Missing("one")
            if which == 2:
                return "early"
            if which == 3:
                raise RuntimeError
        except Missing as error:
            print("missing", error)
            return f"from {error}"
        finally:
            print("inner", which)
        print("after inner")
    except Refusal as error:
        print("refusal", error, type(error).__name__)
        try:
            raise Refusal(f"again {which}") from error
        except Deep:
            print("never")
        finally:
            print("inside")
    finally:
        print("outer", which)
    return "end"


def text(name: str) -> str:
    try:
        return name + "!"
    finally:
        name = "changed"
        print(name)


def in_handler(n: int) -> int:
    while True:
        try:
            n -= 1
            if n % 3 == 0:
                raise IndexError(n)
            if n < 0:
                return n
        except IndexError as error:
            print("handled", error)
            if n < 4:
                break
            continue
        finally:
            print("n", n)
    return n * 10


print(both(0), both(1), both(2))
print(loops(2), loops(6))
for which in range(5):
    try:
        print(nested(which))
    except RuntimeError as error:
        print("runtime", error)
    except Refusal as error:
        print("out", error, repr(error))
print(text("a"), in_handler(9), in_handler(0))
try:
    raise Deep
except (Missing, Refusal) as error:
    print([str(error)], type(error).__name__)
try:
    print({"a": 1}["b"])
except LookupError as error:
    print(type(error).__name__, error)
try:
    try:
        print(1 // 0)
    finally:
        print("cleaned")
except ZeroDivisionError:
    print("zero")
try:
    raise SyntaxError("bad")
except SyntaxError as error:
    print(error)
try:
    raise Deep("the end")
finally:
    print("last")
