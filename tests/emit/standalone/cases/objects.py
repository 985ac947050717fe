"""Objects inside lists and dicts: compared by `__eq__`, asked for their truth, shown in cycles."""
from dataclasses import dataclass, field
from typing import NamedTuple


class Item(NamedTuple):
    name: str
    price: float
    count: int = 1

    def total(self) -> float:
        return self.price * self.count


class Bag:
    def __init__(self, items: list[int]) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def __eq__(self, other: "Bag") -> bool:
        return sorted(self.items) == sorted(other.items)


@dataclass
class Link:
    name: str
    others: list["Link"] = field(default_factory=list)
    best: "Link | None" = None


items = [Item("apple", 0.5, 10), Item("pear", 0.75, 3), Item("fig", 2.25)]
for i, item in enumerate(items, 1):
    print(f"{i}. {item.name:8} {item.price:>6.2f} x {item.count} = {item.total()}")
print(items[0], items, items[1] == Item("pear", 0.75, 3), Item("fig", 2.25) in items)
name, price, count = items[2]
print(name, price, count, max(items, key=lambda it: it.price).name)
full, empty = Bag([2, 1]), Bag([])
print(bool(full), not empty, "yes" if empty else "no", [full] == [Bag([1, 2])], {"a": full} == {"a": empty})
print((1, full) == (1, Bag([1, 2])), full != empty, full in [empty, Bag([1, 2])])
a, b = Link("a"), Link("b")
a.others.append(b)
a.best = a
b.best = a
print(a, b)
print(Link("c") == Link("c"), [Link("d", best=b)])
