"""A package that uses a compiled part of itself where there is one."""

FAST = False
try:
    import optional_extension._fast

    FAST = True
except ImportError:
    pass

if FAST:
    from ._fast import width
else:

    def width(text):
        return len(text)
