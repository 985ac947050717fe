"""Multiply matrices as lists of lists."""


def identity(n: int) -> list[list[float]]:
    return [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]


def multiply(a: list[list[float]], b: list[list[float]]) -> list[list[float]]:
    rows, inner, columns = len(a), len(b), len(b[0])
    out = [[0.0] * columns for _ in range(rows)]
    for i in range(rows):
        for j in range(columns):
            total = 0.0
            for k in range(inner):
                total += a[i][k] * b[k][j]
            out[i][j] = total
    return out


def transpose(a: list[list[float]]) -> list[list[float]]:
    return [[row[j] for row in a] for j in range(len(a[0]))]


def trace(a: list[list[float]]) -> float:
    return sum(a[i][i] for i in range(len(a)))


def main() -> None:
    n = 5
    a = [[(i * 7 + j * 3) % 11 / 4 for j in range(n)] for i in range(n)]
    product = multiply(a, transpose(a))
    for row in product:
        print(" ".join(f"{x:8.3f}" for x in row))
    print("trace", trace(product))
    print("same", multiply(a, identity(n)) == a)
    print("largest", max(max(row) for row in product))


main()
