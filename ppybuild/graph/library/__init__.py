"""What the standard library, torch and other installed packages offer, read from their text.

Nothing is imported: the standard library comes from typeshed's stubs, every other package
from its own `.pyi` files, and from its annotated `.py` files where it has no stub.
"""

from ppybuild.graph.library.library import Library, takes_tensors
from ppybuild.graph.library.values import UNKNOWN_VALUE, Argument, CallProblem, Value

__all__ = ["UNKNOWN_VALUE", "Argument", "CallProblem", "Library", "Value", "takes_tensors"]
