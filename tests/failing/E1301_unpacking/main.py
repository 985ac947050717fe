def split():
    first, second = (1, 2, 3)
    (third, *rest), fourth = (1, 2), 3
    return first, second, third, rest, fourth


print(split())
