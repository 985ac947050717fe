"""Shortest ways in a graph."""
import heapq

EDGES = [("a", "b", 7.0), ("a", "c", 9.0), ("a", "f", 14.0), ("b", "c", 10.0), ("b", "d", 15.0),
         ("c", "d", 11.0), ("c", "f", 2.0), ("d", "e", 6.0), ("e", "f", 9.0)]


def build(edges: list[tuple[str, str, float]]) -> dict[str, list[tuple[str, float]]]:
    graph: dict[str, list[tuple[str, float]]] = {}
    for a, b, weight in edges:
        graph.setdefault(a, []).append((b, weight))
        graph.setdefault(b, []).append((a, weight))
    return graph


def dijkstra(graph: dict[str, list[tuple[str, float]]], start: str) -> tuple[dict[str, float], dict[str, str]]:
    distance = {start: 0.0}
    before: dict[str, str] = {}
    done: set[str] = set()
    heap = [(0.0, start)]
    while heap:
        d, node = heapq.heappop(heap)
        if node in done:
            continue
        done.add(node)
        for other, weight in graph[node]:
            new = d + weight
            if other not in distance or new < distance[other]:
                distance[other] = new
                before[other] = node
                heapq.heappush(heap, (new, other))
    return distance, before


def path(before: dict[str, str], goal: str) -> list[str]:
    way = [goal]
    while way[-1] in before:
        way.append(before[way[-1]])
    return way[::-1]


graph = build(EDGES)
distance, before = dijkstra(graph, "a")
for node in sorted(distance):
    print(f"{node}: {distance[node]:5.1f}  {' -> '.join(path(before, node))}")
print(distance)
