def find(names: list[str], wanted: str) -> int | None:
    for index in range(len(names)):
        if names[index] == wanted:
            return index
    return None


print(find(["a", "b"], "b") + 1)
