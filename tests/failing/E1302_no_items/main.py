def first(count: int) -> int:
    for index in count:
        return index
    return count[0]
