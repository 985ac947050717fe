"""The exceptions that a program without Python knows, by name."""

RAISED = frozenset(
    [
        "SystemExit",
        "KeyboardInterrupt",
        "Exception",
        "ArithmeticError",
        "OverflowError",
        "ZeroDivisionError",
        "FloatingPointError",
        "AssertionError",
        "AttributeError",
        "BufferError",
        "EOFError",
        "LookupError",
        "IndexError",
        "KeyError",
        "MemoryError",
        "NameError",
        "OSError",
        "RuntimeError",
        "NotImplementedError",
        "RecursionError",
        "StopIteration",
        "TypeError",
        "ValueError",
        "BaseException",
    ]
)
"""Those that a program may raise."""

CAUGHT = RAISED | {
    "BrokenPipeError",
    "UnboundLocalError",
    "UnicodeDecodeError",
    "UnicodeEncodeError",
    "UnicodeError",
}
"""Those that it may catch: `PPY_EXCEPTIONS`."""
