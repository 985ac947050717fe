"""The one object that is asked about libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ppybuild.graph.library.values import Argument, CallProblem
from ppybuild.graph.types import UNKNOWN, Type


class Library:
    """Answers questions about everything that is not the project.

    Names are dotted and canonical after `canonical`. A project's own classes are unknown
    here: for one that derives from a library class ask about the base.
    Answers are cached in the object; it holds no other state.
    """

    def module(self, name: str) -> bool:
        """True where `import name` finds a module (of the standard library or installed)."""
        return False

    def canonical(self, name: str) -> str:
        """Follow re-exports: `torch.nn.functional.relu`, `collections.abc.Sequence` and so on
        keep their public name; `os.path.join` is `posixpath.join`, `torch.nn.Linear` is
        `torch.nn.modules.linear.Linear`."""
        return name

    def member(self, owner: Type, attribute: str) -> Type | None:
        """The type of `owner.attribute`; None where the owner is known and has no such
        attribute (so that a checker may say so); `UNKNOWN` where that cannot be told.

        A module gives Function, Class, Module or a constant's type; an instance or built-in
        value gives Method or the attribute's type; a class gives Function for what is a
        function when read off the class.
        """
        return UNKNOWN

    def name(self, name: str) -> Type | None:
        """The type of a dotted name: `builtins.len` is `Function("builtins.len")`."""
        return UNKNOWN

    def names(self, owner: Type) -> frozenset[str]:
        """Every attribute that is known of the owner, for suggestions."""
        return frozenset()

    def call(
        self,
        callee: Type,
        arguments: Sequence[Argument] = (),
        keywords: Mapping[str, Argument] | None = None,
        *,
        unpacked: bool = False,
    ) -> Type:
        """The type of the result of calling a Function, Method, Class, or an Instance with
        `__call__` (an `nn.Module` calls its `forward`). `unpacked`: there is a `**mapping`.
        """
        return UNKNOWN

    def problem(
        self,
        callee: Type,
        arguments: Sequence[Argument] = (),
        keywords: Mapping[str, Argument] | None = None,
        *,
        unpacked: bool = False,
    ) -> CallProblem | None:
        """Why that call is certain to raise, or None."""
        return None

    def binary(self, operator: str, left: Argument, right: Argument) -> Type | None:
        """`left operator right` for `+ - * / // % ** @ << >> & | ^` and the comparisons
        `< <= > >= == != in`; None where both types are known and Python raises TypeError."""
        return UNKNOWN

    def unary(self, operator: str, operand: Argument) -> Type | None:
        """`- + ~ not`; None as for `binary`."""
        return UNKNOWN

    def item(self, owner: Type, index: Argument) -> Type | None:
        """`owner[index]` (a slice's type is `Instance("builtins.slice")`); None as above."""
        return UNKNOWN

    def iterate(self, owner: Type) -> Type | None:
        """What `for x in owner` binds; None as above."""
        return UNKNOWN

    def enter(self, owner: Type) -> Type | None:
        """What `with owner as x` binds; None as above."""
        return UNKNOWN

    def bases(self, name: str) -> tuple[str, ...] | None:
        """The canonical names of a class and all that it derives from, in method resolution
        order; None for what is not a known class or has an unknown base."""
        return None
