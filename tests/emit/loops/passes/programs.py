"""Programs that the passes change, and ones that they must leave alone, as Python sources.

Each is run with edge inputs before and after the passes, and in Python.
"""

SOURCES = {
    "standardize": """
def standardize(raw: Buffer[float], out: Buffer[float], rows: int, cols: int) -> float:
    total = 0.0
    for row in range(rows):
        base = row * cols
        target = row * cols * 2
        sum_ = 0.0
        for i in range(cols):
            sum_ += raw[base + i]
        mean = sum_ / cols
        spread = 0.0
        for i in range(cols):
            spread += (raw[base + i] - mean) * (raw[base + i] - mean)
        deviation = math.sqrt(spread / cols) + 1e-8
        for i in range(cols):
            value = (raw[base + i] - mean) / deviation
            out[target + i] = value
            total += value
        for i in range(cols):
            interaction = out[target + i] * out[target + (i + 1) % cols]
            out[target + cols + i] = interaction
            total += interaction
    return total
""",
    "softmax": """
def softmax(a: Buffer[float], out: Buffer[float], rows: int, cols: int) -> float:
    peak = 0.0
    for row in range(rows):
        base = row * cols
        largest = a[base]
        for i in range(1, cols):
            if a[base + i] > largest:
                largest = a[base + i]
        total = 0.0
        for i in range(cols):
            e = 1.0 / (1.0 + (a[base + i] - largest) * (a[base + i] - largest))
            out[base + i] = e
            total += e
        for i in range(cols):
            out[base + i] = out[base + i] / total
        peak += total
    return peak
""",
    "normalise": """
def normalise(a: Buffer[float], out: Buffer[float], rows: int, cols: int) -> float:
    drift = 0.0
    for row in range(rows):
        low = a[row * cols]
        high = low
        for i in range(cols):
            x = a[row * cols + i]
            if x < low:
                low = x
            if x > high:
                high = x
        span = high - low + 1.0
        for i in range(cols):
            out[row * cols + i] = (a[row * cols + i] - low) / span
        drift += span
        drift = drift * 0.5
    return drift
""",
    "accumulate": """
def accumulate(out: Buffer[float], x: Buffer[float], n: int) -> None:
    for i in range(n):
        out[i] += x[i]
""",
    "prefix": """
def prefix(a: Buffer[float], n: int) -> float:
    for i in range(1, n):
        a[i] = a[i - 1] + a[i]
    return a[n - 1]
""",
    "stencil": """
def stencil(a: Buffer[float], out: Buffer[float], h: int, w: int) -> None:
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            at = y * w + x
            out[at] = 0.25 * (a[at - 1] + a[at + 1] + a[at - w] + a[at + w])
""",
    "matmul": """
def matmul(
    a: Buffer[float], b: Buffer[float], c: Buffer[float], n: int, m: int, k: int
) -> None:
    for i in range(n):
        for j in range(m):
            total = 0.0
            for p in range(k):
                total += a[i * k + p] * b[p * m + j]
            c[i * m + j] = total
""",
    "backwards": """
def backwards(a: Buffer[int], n: int) -> int:
    count = 0
    for i in range(n - 1, -1, -1):
        if a[i] > 0:
            count += 1
        a[i] = a[i] // 2 + a[i] % 4 - a[-1]
    return count
""",
    "wrap": """
def wrap(a: Buffer[int], out: Buffer[int], n: int, m: int) -> int:
    total = 0
    for i in range(n):
        out[i] = a[(i + 1) % n] - a[(i - 1) % n] + i // 4 + i % m + (0 - i) % 8
        total += out[i] // m
    return total
""",
    "strides": """
def strides(a: Buffer[float], start: int, stop: int, step: int) -> float:
    total = 0.0
    if step != 0:
        for i in range(start, stop, step):
            total += a[i]
            if total > 100.0:
                break
        else:
            total = total + 1.0
    return total
""",
    "whiles": """
def whiles(a: Buffer[int], n: int) -> int:
    low = 0
    high = n - 1
    while low < high:
        t = a[low]
        a[low] = a[high]
        a[high] = t
        low += 1
        high -= 1
    return low * n
""",
    "scaled": """
def scaled(a: Buffer[float], out: Buffer[float], by: float, n: int) -> float:
    last = 0.0
    for i in range(n):
        out[i] = a[i] / by
        last = math.sqrt(a[i] * a[i]) / (by * by)
    return last
""",
    "histogram": """
def histogram(keys: Buffer[u8], counts: Buffer[int], n: int) -> None:
    for i in range(n):
        counts[keys[i]] += 9000000000000000000
""",
    "caller": """
def bump(out: Buffer[int], at: int, by: int) -> int:
    out[at] = out[at] * by
    return out[at]

def caller(out: Buffer[int], other: Buffer[int], n: int) -> int:
    total = 0
    for i in range(n):
        total += bump(out, i, 3000000000)
        total += bump(other, n - 1 - i, 2)
    return total
""",
    "recurse": """
def recurse(out: Buffer[int], n: int) -> int:
    out[n] = out[n] + 1
    if n > 0:
        return recurse(out, n - 1) * 3
    return out[5]
""",
    "guarded": """
def guarded(a: Buffer[float], out: Buffer[float], n: int, k: int) -> float:
    if n <= 0:
        return 0.0
    total = 0.0
    for i in range(n):
        if i >= k and i + k < n:
            total += a[i - k] / n + a[i + k]
            if a[i] > 0.0:
                total += 1.0 / a[i] + math.log(a[i])
        out[i] = total
    assert total > 0.0
    return total
""",
    "triangle": """
def triangle(a: Buffer[float], n: int) -> float:
    total = 0.0
    for i in range(n):
        for j in range(i):
            a[i * n + j] = a[j * n + i] - total
            total += a[i * n + j]
        total *= 0.5
    return total
""",
    "carried": """
def carried(a: Buffer[float], out: Buffer[float], rows: int, cols: int) -> float:
    best = 0.0
    x = 0.0
    for row in range(rows):
        s = 0.0
        for i in range(cols):
            x = a[row * cols + i]
            s += x
        if s > 1.0:
            best = s
        out[row] = best + x
    return best
""",
    "counters": """
def counters(a: Buffer[float], out: Buffer[float], rows: int, cols: int) -> float:
    i = 7
    x = 0.5
    t = 0.0
    for row in range(rows):
        s = 0.0
        for i in range(cols):
            x = a[row * cols + i]
            s += x
        out[row] = s
        for k in range(3):
            t = t * 0.5 + s
    return x + i + t
""",
    "read_later": """
def read_later(a: Buffer[float], out: Buffer[float], rows: int, cols: int) -> float:
    i = 7
    for row in range(rows):
        s = 0.0
        for i in range(cols):
            s += a[row * cols + i]
        out[row] = s + i
        if s > 0.5:
            i = 100
    return out[0] + i
""",
    "triangle_sums": """
def triangle_sums(a: Buffer[float], out: Buffer[float], rows: int) -> None:
    for row in range(rows):
        s = 0.0
        for i in range(row):
            s += a[i]
        out[row] = s
""",
    "only_sums": """
def only_sums(a: Buffer[float], rows: int, cols: int) -> float:
    total = 1.0
    for row in range(rows):
        s = 0.0
        for i in range(cols):
            s += a[row * cols + i]
        total = total * 0.75 + s
    return total
""",
    "woven": """
def woven(a: Buffer[float], out: Buffer[float], rows: int, cols: int) -> float:
    total = 0.0
    last = 0.0
    for row in range(rows):
        low = 1.0
        s = 0.0
        for i in range(cols):
            s += a[row * cols + i]
            if s < low:
                low = s
        squares = s * 0.5
        for i in range(cols):
            squares += (a[row * cols + i] - s) * low
        last = last * 0.5 + s
        for i in range(cols):
            out[row * cols + i] = a[row * cols + i] - squares
            total += out[row * cols + i]
        for i in range(cols):
            total = total + out[row * cols + i] * last
            last += low
    return total + last
""",
    "woven_from_one": """
def woven_from_one(a: Buffer[float], out: Buffer[float], rows: int, cols: int) -> float:
    total = 0.0
    for row in range(rows):
        s = 0.0
        for i in range(1, cols):
            s += a[row * cols + i] * a[row * cols + i - 1]
        for i in range(1, cols):
            out[row * cols + i] = a[row * cols + i] * s
            total += out[row * cols + i]
        total -= s
    return total
""",
    "end_changes": """
def end_changes(a: Buffer[float], rows: int) -> float:
    total = 0.0
    rows = rows % 16
    for row in range(rows):
        s = 0.0
        for i in range(len(a)):
            s += a[i] * 0.5
        total += s
        rows = 2
    return total + rows
""",
    "counter_changes": """
def counter_changes(a: Buffer[float], rows: int, cols: int) -> float:
    total = 0.0
    i = 0
    for row in range(rows):
        s = 0.0
        for i in range(cols):
            s += a[row * cols + i]
        for i in range(cols):
            total += s
            i = 3
        total = total + i
    return total
""",
    "never_taken": """
def never_taken(a: Buffer[int], n: int) -> int:
    total = a[0]
    for i in range(5, 1):
        total = total + n // i + n % i
        for j in range(i, 0):
            total = total + i // j
    return total
""",
}
