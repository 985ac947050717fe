"""Where a node stands: what is around it that decides whether a finding there is certain."""

from __future__ import annotations

from dataclasses import dataclass

from ppybuild.graph.program import Function, Module


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node stands."""

    module: Module
    function: Function | None
    """The innermost function around it; None in a module's or class's body."""
    in_class: bool
    """Directly in a class body."""
    caught: frozenset[str]
    """Exceptions that a `try` around the node handles; "*" for all of them."""
    conditional: bool
    """Below a test of the version, the platform, or of what an object has."""
    nested: bool
    """In a lambda or comprehension, whose names belong to another scope."""


def is_caught(place: Place, *names: str) -> bool:
    """True where the program provides for one of these exceptions."""
    caught = place.caught
    return bool(caught) and ("*" in caught or not caught.isdisjoint(names))
