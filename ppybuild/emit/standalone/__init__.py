"""A program without Python: the whole of what an entry reaches, as C.

`program.emit_standalone` is the way in. Every function has a *checked form*: its statements
one by one, each operation raising what CPython would raise. A function that is also a kernel
(`emit/loops`) runs as one first, and where that abandons, the checked form runs from the
start. What has no form here is refused, with its place and its reason.
"""
