"""Where each key of a TOML document stands: `tomllib` keeps no positions."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field

KeyPath = tuple[str | int, ...]
"""Table and key names from the outermost in; an int picks one of an array of tables."""

_TOKEN = re.compile(
    r"""
      (?P<comment> \#[^\n]* )
    | (?P<long>    \"{3}(?:\\.|[^\\])*?\"{3,5} | '{3}.*?'{3,5} )
    | (?P<string>  "(?:\\.|[^"\\\n])*" | '[^'\n]*' )
    | (?P<newline> \n )
    | (?P<mark>    [\[\]{}=,.] )
    | (?P<space>   [^\S\n]+ )
    | (?P<bare>    [^\s\[\]{}=,."'#]+ )
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Span:
    """Characters of one line; lines and columns count from 1, `end_column` is exclusive."""

    line: int
    column: int
    end_column: int


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    span: Span


def locate_keys(text: str) -> dict[KeyPath, Span]:
    """The first place where each table and key of valid TOML is named."""
    return _Scanner(list(_tokens(text.replace("\r\n", "\n")))).document()


def _tokens(text: str) -> Iterator[_Token]:
    line, start = 1, 0
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        column = match.start() - start + 1
        if kind not in ("comment", "space"):
            span = Span(line, column, column + len(match.group()))
            yield _Token(kind, match.group(), span)
        breaks = match.group().count("\n")
        if breaks:
            line += breaks
            start = match.start() + match.group().rindex("\n") + 1


@dataclass(slots=True)
class _Scanner:
    """A walk over the tokens of a document that `tomllib` has accepted."""

    tokens: list[_Token]
    position: int = 0
    found: dict[KeyPath, Span] = field(default_factory=dict)
    arrays: dict[KeyPath, int] = field(default_factory=dict)
    """How many elements each array of tables has so far."""

    def document(self) -> dict[KeyPath, Span]:
        table: KeyPath = ()
        while (token := self.peek()) is not None:
            if token.kind == "newline":
                self.position += 1
            elif token.text == "[":
                table = self.header()
            else:
                self.pair(table)
        return self.found

    def peek(self) -> _Token | None:
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    def at(self, text: str) -> bool:
        token = self.peek()
        return token is not None and token.kind == "mark" and token.text == text

    def skip(self, text: str) -> bool:
        here = self.at(text)
        self.position += here
        return here

    def header(self) -> KeyPath:
        """`[a.b]` or `[[a.b]]`."""
        self.skip("[")
        many = self.skip("[")
        path = self.key((), last_is_new_element=many)
        while self.skip("]"):
            pass
        return path

    def key(self, table: KeyPath, *, last_is_new_element: bool = False) -> KeyPath:
        """A dotted key under `table`, each of its parts recorded where first named."""
        path = table
        while (token := self.peek()) is not None and token.kind in ("bare", "string"):
            self.position += 1
            path = (*path, _key_text(token))
            self.found.setdefault(path, token.span)
            if not self.skip("."):
                if last_is_new_element:
                    self.arrays[path] = self.arrays.get(path, 0) + 1
                if path in self.arrays:
                    path = (*path, self.arrays[path] - 1)
                    self.found.setdefault(path, token.span)
                break
            if path in self.arrays:
                path = (*path, self.arrays[path] - 1)
        return path

    def pair(self, table: KeyPath) -> None:
        """`key = value`."""
        before = self.position
        path = self.key(table)
        self.skip("=")
        self.value(path)
        self.position = max(self.position, before + 1)

    def value(self, path: KeyPath) -> None:
        if self.skip("{"):
            while self.peek() is not None and not self.skip("}"):
                if not self.skip_filler():
                    self.pair(path)
        elif self.skip("["):
            index = 0
            while self.peek() is not None and not self.skip("]"):
                if not self.skip_filler():
                    self.value((*path, index))
                    index += 1
        else:
            # A scalar: one string, or bare pieces (`1.5`, `1979-05-27 07:32:00`).
            self.position += 1
            while (token := self.peek()) is not None and (
                token.kind in ("bare", "string") or token.text == "."
            ):
                self.position += 1

    def skip_filler(self) -> bool:
        """A comma or a line's end between elements."""
        token = self.peek()
        filler = token is not None and (token.kind == "newline" or token.text == ",")
        self.position += filler
        return filler


def _key_text(token: _Token) -> str:
    if token.kind == "bare":
        return token.text
    return str(tomllib.loads(f"key = {token.text}")["key"])
