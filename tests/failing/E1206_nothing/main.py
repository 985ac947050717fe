def scale(values):
    for position, value in enumerate(values):
        values[position] = value * 2


def smallest(values):
    ordered = values.sort()
    return ordered[0]


def last():
    found = None
    return found + 1


print(scale([1, 2])[0])
print(smallest([3, 1]), last())
