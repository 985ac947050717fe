import ppy


@ppy.pure
def clear(values: list[float]) -> float:
    values[0] = 0.0
    return values[0]
