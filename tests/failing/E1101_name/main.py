def scale(count: int) -> int:
    return cuont + 1


print(scale(3))
