import ppy


def note(value: float) -> None:
    print(value)


@ppy.pure
def half(value: float) -> float:
    note(value)
    return value / 2.0
