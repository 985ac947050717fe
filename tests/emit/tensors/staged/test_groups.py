"""Which nodes run together, and in which order groups run."""

from __future__ import annotations

import random

from ppybuild.emit.tensors.staged.groups import Groups


def grouped(before: list[set[int]], alone: set[int]) -> list[set[int]]:
    needed = [frozenset(found) for found in before]
    return [set(g) for g in Groups(needed, lambda g: not g & alone).in_order()]


def test_a_run_is_one_group() -> None:
    assert grouped([set(), {0}, {1}], set()) == [{0, 1, 2}]


def test_what_waits_for_another_is_a_group_of_its_own() -> None:
    assert grouped([set(), {0}, {1}, {0, 2}], {2}) == [{0, 1}, {2}, {3}]


def test_groups_meet() -> None:
    assert grouped([set(), set(), {0, 1}], set()) == [{0, 1, 2}]


def test_two_groups_never_wait_for_each_other() -> None:
    """Numbers 0 and 3 may join, and 1 and 2, but not both."""
    before = [set(), set(), {0, 1}, {1, 0}]
    rows = [{0, 3}, {1, 2}]
    groups = Groups([frozenset(b) for b in before], lambda g: any(g <= row for row in rows))
    assert groups.in_order() == [{0}, {1, 2}, {3}]


def test_any_graph_is_put_in_order() -> None:
    for seed in range(60):
        r = random.Random(seed)
        count = r.randrange(1, 40)
        before = [
            {r.randrange(place) for _ in range(r.randrange(4))} if place else set()
            for place in range(count)
        ]
        kinds = [r.randrange(3) for _ in range(count)]
        found = Groups(
            [frozenset(b) for b in before],
            lambda g, kinds=kinds: (
                0 not in {kinds[n] for n in g} and len({kinds[n] for n in g}) == 1
            ),
        ).in_order()
        done: set[int] = set()
        for group in found:
            assert not group & done
            assert set().union(*(before[n] for n in group)) <= done | group
            done |= group
        assert done == set(range(count))
