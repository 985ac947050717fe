"""Lists, dicts and fields of objects that may be None."""
class Node:
    def __init__(self, v: int) -> None:
        self.v = v
        self.kids: list[Node | None] = [None, None]

n = Node(1)
n.kids[0] = Node(2)
print(n.kids[1] is None, n.kids[0].v)
n.kids.append(None)
print(len(n.kids), [k.v for k in n.kids if k is not None], n.kids[2] is None)
m: dict[str, Node | None] = {"a": None, "b": n}
print(m["a"] is None, m["b"] is n)
p: Node | None = None
for v in (3, 4):
    q = Node(v)
    q.kids[0] = p
    p = q
print(p.v, p.kids[0].v)
