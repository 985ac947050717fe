"""Which units name which, by the last part of their names: an order for what nothing calls."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping

from ppybuild.graph.infer.state import Unit
from ppybuild.graph.syntax import walk


class Mentions:
    """How many of some units' bodies name each of the others."""

    def __init__(self, units: Mapping[str, Unit]) -> None:
        self._by_word: dict[str, list[str]] = {}
        for name in units:
            self._by_word.setdefault(_last(name), []).append(name)
        self._words = {name: self._words_of(unit) for name, unit in units.items()}
        self._counts = Counter(word for words in self._words.values() for word in words)

    def unmentioned(self) -> list[str]:
        """The units that no other names."""
        return [name for name in self._words if not self._mentioned(name)]

    def forget(self, name: str) -> list[str]:
        """Takes a unit's mentions away; gives, sorted, the units that no other names now."""
        words = self._words.pop(name)
        found: list[str] = []
        for word in words:
            self._counts[word] -= 1
            if self._counts[word] > 1:
                continue
            for other in self._by_word[word]:
                if other in self._words and not self._mentioned(other):
                    found.append(other)
        return sorted(found)

    def _mentioned(self, name: str) -> bool:
        """A unit that names itself does not count."""
        word = _last(name)
        return self._counts[word] > (word in self._words[name])

    def _words_of(self, unit: Unit) -> set[str]:
        words = set()
        for node in walk(unit.node):
            if isinstance(node, ast.Name):
                words.add(node.id)
            elif isinstance(node, ast.Attribute):
                words.add(node.attr)
        return words & self._by_word.keys()


def _last(name: str) -> str:
    return name.rpartition(".")[2]
