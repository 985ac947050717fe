"""What `program.c` does, in Python: the same output, failures and exit statuses."""

import sys


def write(seed):
    for turn in range(400):
        seed = (seed * 1103515245 + 12345) % 2147483648
        size = seed // 65536 % (9000 if turn % 40 == 0 else 300)
        stream = sys.stderr if seed // 7 % 5 == 0 else sys.stdout
        text = chr(97 + turn % 26) * size
        print(
            text,
            turn,
            end="\n" if seed // 11 % 2 else "",
            file=stream,
            flush=seed // 13 % 50 == 0,
        )


def deep(n):
    return deep(n + 1)


def ratio(a, b):
    return a / b


def caught():
    kept = "kept"
    try:
        kept = kept * 2
        ratio(1.0, 0.0)
    except ZeroDivisionError as error:
        print("caught", error, repr(error), kept)
        try:
            raise KeyError("key")
        except LookupError as inner:
            print("inner", inner)
    try:
        deep(0)
    except RecursionError as error:
        print(error)
    try:
        sys.exit(4)
    except SystemExit as error:
        print("exit", error)
    try:
        ratio(2.0, 0.0)
    except ZeroDivisionError:
        raise


def grow():
    text = ""
    for turn in range(100000):
        text += chr(97 + turn % 26)
        if len(text) > 1000:
            text = text[500:]
    print(len(text), text[-3:])
    text += text
    print(len(text), text[-3:])


def echo():
    try:
        while True:
            print(repr(input("? ")))
    except EOFError as error:
        print("end", error)


def main(arguments):
    name = arguments[1]
    if name == "write":
        write(int(arguments[2]))
    if name == "caught":
        caught()
    if name == "deep":
        deep(0)
    if name == "ratio":
        ratio(1.0, 0.0)
    if name == "exit":
        print("before")
        sys.exit(int(arguments[2]))
    if name == "say":
        print("before")
        sys.exit("bye")
    if name == "grow":
        grow()
    if name == "echo":
        echo()
    if name == "surrogate":
        print(repr(arguments[2]), len(arguments[2]))
        print(arguments[2], file=sys.stderr)
        print("before")
        print(arguments[2])
    if name == "parse":
        print(int(arguments[2]))
    if name == "much":
        for turn in range(100000):
            print("abcdefghijk", turn)


main(sys.argv)
