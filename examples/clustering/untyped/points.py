"""Points in the plane, side by side in flat lists, and a generator of clouds of them."""


class Random:
    """A linear congruential generator: the same numbers everywhere."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state * 1103515245 + 12345) % 2147483648
        return self.state / 2147483648.0


def make_cloud(random, xs, ys, start, count, x, y):
    """Write `count` points around (x, y)."""
    for i in range(start, start + count):
        xs[i] = x + (random.next() - 0.5) * 3.0
        ys[i] = y + (random.next() - 0.5) * 3.0


def square_distance(ax, ay, bx, by):
    dx = ax - bx
    dy = ay - by
    return dx * dx + dy * dy
