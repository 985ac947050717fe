"""The types of generated functions, and values of them, extreme ones included."""

from __future__ import annotations

import array
from collections.abc import Callable

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[object]], object]

INTS = [
    0,
    1,
    -1,
    2,
    3,
    7,
    -5,
    10,
    2**31,
    -(2**31),
    2**53 + 1,
    2**62,
    2**63 - 1,
    -(2**63),
    2**63,
]
LARGEST = 2**63 - 1
FLOATS = [
    "0.0", "-0.0", "1.0", "-1.5", "0.1", "3.0", "1e-310", "1e308", "-1e308", "4.5e15",
    "9007199254740993.0", "9.3e18", 'float("inf")', 'float("-inf")', 'float("nan")',
]  # fmt: skip
SCALARS = ["int", "float", "bool"]
TYPECODES = {
    "Buffer[float]": "d",
    "Buffer[int]": "q",
    "Buffer[f32]": "f",
    "Buffer[i32]": "i",
    "Buffer[u8]": "B",
    "Buffer[i8]": "b",
}
BUFFERS = list(TYPECODES)
PASSED = [*BUFFERS, "str"]
"""What is passed on by name."""
SLICES = {name: f"slice of {name}" for name in BUFFERS}
ELEMENT = {
    bound: "float" if code in "df" else "int"
    for name, code in TYPECODES.items()
    for bound in (name, SLICES[name])
}
LISTS = {"list[float]": "float", "list[int]": "int"}
ELEMENT |= LISTS
TUPLES = {
    "tuple[int, float]": ("int", "float"),
    "tuple[float, bool, int]": ("float", "bool", "int"),
}
LIMITS = {
    "q": (-(2**63), 2**63 - 1),
    "i": (-(2**31), 2**31 - 1),
    "B": (0, 255),
    "b": (-128, 127),
}


def values(type: str) -> st.SearchStrategy[object]:
    """Arguments of a type, extreme ones included."""
    if type == "int":
        return st.sampled_from(INTS) | st.integers(-20, 20)
    if type == "float":
        return st.sampled_from([float(eval(text)) for text in FLOATS]) | st.floats()
    if type == "bool":
        return st.booleans()
    if type == "str":
        return st.text(st.sampled_from("abzAZ079 \t_éßİ²\u0101\U0001f600"), max_size=7)
    if type in TUPLES:
        return st.tuples(*(values(item) for item in TUPLES[type]))
    code = TYPECODES[type]
    if code in "df":
        width = 64 if code == "d" else 32
        some = st.sampled_from([0.0, -0.0, 1.5, -2.0]) | st.floats(width=width)
        return st.lists(some, max_size=7).map(lambda items: array.array(code, items))
    least, most = LIMITS[code]
    small = st.sampled_from([least, most, 0, 1, 2]) | st.integers(max(-20, least), 20)
    return st.lists(small, max_size=7).map(lambda items: array.array(code, items))
