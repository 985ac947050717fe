def check(limit: int) -> bool:
    name = "a"
    if 0 < limit < "9":
        return name in limit
    return name == limit


print(check(3))
