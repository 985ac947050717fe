"""Questions about native code."""


def compiled(function: object) -> bool:
    """Whether calls of `function` run native code.

    True for a native function, for a method made from one, and for what wraps one in the
    way of `functools.wraps`. Under plain Python nothing is.
    """
    seen: list[object] = []
    while not any(function is other for other in seen):
        if hasattr(type(function), "__ppy_region__"):
            return True
        seen.append(function)
        function = getattr(function, "__func__", None) or getattr(
            function, "__wrapped__", function
        )
    return False
