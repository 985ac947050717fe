"""Classes: fields, methods, properties, operators, dataclasses, what may be None."""
from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass
class Ball:
    name: str
    x: float
    y: float
    vx: float = 1.0
    bounces: int = 0
    tags: list[str] = field(default_factory=list)

    def step(self, dt: float) -> None:
        self.x += self.vx * dt
        if self.x > 1.0:
            self.x = -self.x
            self.bounces += 1
            self.tags.append(f"b{self.bounces}")

    @property
    def energy(self) -> float:
        return 0.5 * self.vx**2

    def distance(self, other: Ball) -> float:
        return math.sqrt((self.x - other.x) ** 2 + (self.y - other.y) ** 2)


class Account:
    rate = 0.5

    def __init__(self, owner: str, balance: float = 0.0) -> None:
        self.owner = owner
        self.balance = balance
        self.history: list[tuple[str, float]] = []
        if balance > 50.0:
            self.rich = True

    def deposit(self, amount: float) -> Account:
        if amount <= 0:
            raise ValueError("amount must be positive")
        self.balance += amount
        self.history.append(("deposit", amount))
        return self

    def __str__(self) -> str:
        return f"{self.owner}: {self.balance:,.2f}"

    def __repr__(self) -> str:
        return f"Account({self.owner!r})"

    def __len__(self) -> int:
        return len(self.history)

    @staticmethod
    def fee(amount: float) -> float:
        return amount * Account.rate


@dataclass(frozen=True)
class Vector:
    x: float
    y: float

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, by: float) -> Vector:
        return Vector(self.x * by, self.y * by)

    def __lt__(self, other: Vector) -> bool:
        return self.x < other.x


class Node:
    def __init__(self, value: int, next: Node | None = None) -> None:
        self.value = value
        self.next = next


class Stack:
    def __init__(self) -> None:
        self.items: list[int] = []
        self.head: Node | None = None
        self.seen: dict[int, Node] = {}

    def push(self, value: int) -> None:
        self.items.append(value)
        self.head = Node(value, self.head)
        self.seen[value] = self.head

    def pop(self) -> int:
        if self.head is None:
            raise IndexError("empty")
        value = self.head.value
        self.head = self.head.next
        return value

    def total(self) -> int:
        found = 0
        at = self.head
        while at is not None:
            found += at.value
            at = at.next
        return found


@dataclass
class Tree:
    value: int
    left: Tree | None = None
    right: Tree | None = None

    def insert(self, value: int) -> None:
        if value < self.value:
            if self.left is None:
                self.left = Tree(value)
            else:
                self.left.insert(value)
        elif self.right:
            self.right.insert(value)
        else:
            self.right = Tree(value)

    def walk(self) -> list[int]:
        before = self.left.walk() if self.left else []
        after = self.right.walk() if self.right is not None else []
        return before + [self.value] + after


class Plain:
    pass


def find(balls: list[Ball], name: str) -> Ball | None:
    for ball in balls:
        if ball.name == name:
            return ball
    return None


def churn(n: int) -> int:
    stack = Stack()
    for i in range(n):
        stack.push(i)
        if i % 3 == 2:
            stack.pop()
            stack.seen.pop(i, stack.seen[i])
    return stack.total()


balls = [Ball("red", 0.0, 1.0), Ball("blue", 0.0, 2.0, vx=2.0), Ball(name="green", x=1.0, y=0.5)]
for _ in range(5):
    for ball in balls:
        ball.step(0.3)
for ball in balls:
    print(f"{ball.name:>6} {ball.x:.3f} {ball.y} {ball.bounces} {ball.energy} {ball.tags}")
print(balls[0], balls[0].distance(balls[1]), max(balls, key=lambda b: b.bounces).name)
print(balls[0] == Ball("red", 0.0, 1.0), balls[1] == balls[1], balls[0] != balls[1], balls[0] is balls[0])
print([b.name for b in sorted(balls, key=lambda b: -b.x)], sum(b.y for b in balls))
found = find(balls, "blue")
print(found is None, find(balls, "pink") is None, find(balls, "pink"), found)
if found is not None:
    found.name = "BLUE"
    found.x, found.y = found.y, found.x
    found.tags += ["last"]
print(balls[1].name, balls[1].x, balls[1].tags)
ann = Account("ann", 100.0)
bob = Account(balance=20.5, owner="bob")
ann.deposit(50.0).deposit(1e6)
print(ann, [ann, bob], bob.rate, Account.rate, Account.fee(4.0), len(ann), {"a": ann}, ann == bob, ann == ann)
print(ann.rich, f"{ann} and {bob!r}", str(bob), repr(ann), ann.history)
accounts = {name: Account(name, start) for name, start in [("cy", 1.0), ("di", 2.0)]}
accounts["cy"].deposit(5.5)
for account in accounts.values():
    print(account, account.history, len(account))
try:
    print(bob.rich)
except AttributeError as error:
    print(error)
try:
    bob.deposit(-1.0)
except ValueError as error:
    print(error)
v = Vector(1.0, 2.0) + Vector(0.5, 0.25) * 2.0
print(v, v.x, Vector(1.0, 1.0) < v, Vector(1.0, 2.0) == Vector(1.0, 2.0), sum(p.x for p in [v, v]))
stack = Stack()
for i in (3, 4, 5):
    stack.push(i * i)
print(stack.pop(), stack.total(), stack.items, stack.head is None, len(stack.seen), churn(60000))
tree = Tree(50)
for value in (30, 70, 20, 60, 80, 65, 10):
    tree.insert(value)
print(tree.walk(), tree.left, tree == tree, tree.right != tree.left)
plain, other = Plain(), Plain()
print(plain is other, plain == plain, plain != other)
stack.head = None
try:
    print(stack.head.value)
except AttributeError as error:
    print(error)
print(stack.pop())
