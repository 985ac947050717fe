"""The order in which functions that nothing calls are inferred: who is named by whom."""

from __future__ import annotations

import ast
from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from ppybuild.graph.infer.mentions import Mentions
from ppybuild.graph.infer.state import Unit
from ppybuild.graph.program import Module
from ppybuild.graph.scopes import Scope

NAMES = [f"{module}.{function}" for module in "mn" for function in "abcd"]


def unit(name: str, words: list[str]) -> Unit:
    tree = ast.parse("\n".join(words))
    return Unit(name, Module("m", None, "", tree, False), tree, Scope())  # type: ignore[arg-type]


def order(words: dict[str, list[str]]) -> list[str]:
    mentions = Mentions({name: unit(name, found) for name, found in words.items()})
    ready, rest, found = deque(mentions.unmentioned()), deque(words), []
    while ready or rest:
        name = ready.popleft() if ready else rest.popleft()
        if name not in found:
            found.append(name)
            ready.extend(mentions.forget(name))
    return found


def plain_order(words: dict[str, list[str]]) -> list[str]:
    """The same, straight from the definition."""
    named = {
        name: {other for other in words if other != name and other.rpartition(".")[2] in found}
        for name, found in words.items()
    }
    counts = {name: sum(name in found for found in named.values()) for name in words}
    ready = deque(name for name in words if not counts[name])
    rest, result = deque(words), []
    while ready or rest:
        name = ready.popleft() if ready else rest.popleft()
        if name in result:
            continue
        result.append(name)
        for other in sorted(named[name]):
            counts[other] -= 1
            if not counts[other]:
                ready.append(other)
    return result


@given(
    st.dictionaries(
        st.sampled_from(NAMES), st.lists(st.sampled_from("abcd"), max_size=4), max_size=8
    )
)
def test_callers_come_first(words: dict[str, list[str]]) -> None:
    assert order(words) == plain_order(words)
