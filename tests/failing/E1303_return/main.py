def count() -> int:
    return "three"


print(count())
