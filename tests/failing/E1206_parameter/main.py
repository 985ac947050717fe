def after(count: int | None) -> int:
    return count + 1


print(after(1))
