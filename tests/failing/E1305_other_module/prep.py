def scale(value: float) -> float:
    return value * 2.0
