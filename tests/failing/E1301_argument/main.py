def double(count: int) -> int:
    return count * 2


print(double("2"))
