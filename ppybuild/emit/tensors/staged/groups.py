"""Which operators of a graph run together: runs that nothing outside has to interrupt.

    a → b → mm → c        {a, b}, mm, {c}       never {a, b, c}, for c waits for mm

Every node is a group at first. A node joins the groups of what it reads where that leaves an
order for all groups, and where the joined group is accepted.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from typing import final

Accept = Callable[[frozenset[int]], bool]


@final
class Groups:
    """`before`: by node, the nodes that must have run; all are earlier ones."""

    def __init__(self, before: Sequence[frozenset[int]], accept: Accept) -> None:
        self._accept = accept
        self._home: dict[int, int] = {}
        self.members: dict[int, frozenset[int]] = {}
        """By the number of its last node."""
        self._needs: dict[int, set[int]] = {}
        """The groups that must have run before each, however indirectly."""
        for node, needed in enumerate(before):
            direct = {self._home[one] for one in needed}
            self._home[node] = node
            self.members[node] = frozenset({node})
            self._needs[node] = direct.union(*(self._needs[group] for group in direct))
            for one in sorted(needed, reverse=True):
                self._try(self._home[one], self._home[node])

    def _try(self, first: int, last: int) -> None:
        if first == last or self._something_between(first, last):
            return
        joined = self.members[first] | self.members[last]
        if not self._accept(joined):
            return
        needs = (self._needs[first] | self._needs[last]) - {first, last}
        self.members[last] = joined
        self._needs[last] = needs
        for one in self.members.pop(first):
            self._home[one] = last
        del self._needs[first]
        for needed in self._needs.values():
            if first in needed or last in needed:
                needed.discard(first)
                needed |= {last} | needs

    def _something_between(self, one: int, other: int) -> bool:
        """Whether another group waits for one of the two, and the other of them for it."""
        return any(
            early in self._needs[between]
            for early, late in ((one, other), (other, one))
            for between in self._needs[late] - {early}
        )

    def in_order(self) -> list[frozenset[int]]:
        """The groups in an order in which they may run, each as near to the place of its
        last node as that allows."""
        waiting: Mapping[int, set[int]] = {g: set(needs) for g, needs in self._needs.items()}
        ready = [group for group, needs in waiting.items() if not needs]
        heapq.heapify(ready)
        done: list[frozenset[int]] = []
        while ready:
            group = heapq.heappop(ready)
            done.append(self.members[group])
            for other, needs in waiting.items():
                if group in needs:
                    needs.discard(group)
                    if not needs:
                        heapq.heappush(ready, other)
        return done
