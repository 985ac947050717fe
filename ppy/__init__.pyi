"""The types that a checker sees: a buffer is whatever is indexed and has a length."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, Protocol, TypeVar, overload

from ppy import native as native
from ppy.resources import resource as resource

_Element = TypeVar("_Element")
_Function = TypeVar("_Function", bound=Callable[..., object])

f32 = float
i32 = int
u8 = int
i8 = int

class Buffer(Protocol[_Element]):
    def __getitem__(self, index: int, /) -> _Element: ...
    def __setitem__(self, index: int, value: _Element, /) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[_Element]: ...

def pure(function: _Function) -> _Function: ...
def export(function: _Function) -> _Function: ...
@overload
def grid(
    typecode: Literal["d"], rows: Iterable[Iterable[float]], /
) -> Sequence[Buffer[float]]: ...
@overload
def grid(typecode: Literal["q"], rows: Iterable[Iterable[int]], /) -> Sequence[Buffer[int]]: ...
