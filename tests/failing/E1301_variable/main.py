def start() -> int:
    count: int = "zero"
    return count
