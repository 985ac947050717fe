"""Conway's game of life on a set of cells."""

Cell = tuple[int, int]


def neighbours(cell: tuple[int, int]) -> list[tuple[int, int]]:
    x, y = cell
    return [(x + dx, y + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if (dx, dy) != (0, 0)]


def step(alive: set[tuple[int, int]]) -> set[tuple[int, int]]:
    counts: dict[tuple[int, int], int] = {}
    for cell in alive:
        for other in neighbours(cell):
            counts[other] = counts.get(other, 0) + 1
    return {cell for cell, n in counts.items() if n == 3 or (n == 2 and cell in alive)}


def show(alive: set[tuple[int, int]], size: int) -> str:
    return "\n".join("".join("#" if (x, y) in alive else "." for x in range(size)) for y in range(size))


alive = {(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)}
for generation in range(3):
    print(f"generation {generation}: {len(alive)} cells")
    print(show(alive, 6))
    alive = step(alive)
print(sorted(alive))
