"""Find clusters of points by k-means, and show how many points each of them has."""

import points

CLUSTERS = 4
POINTS_PER_CLOUD = 2500


def assign(xs, ys, center_x, center_y, nearest):
    """Write each point's nearest center; the result is the sum of square distances."""
    total = 0.0
    for i in range(len(xs)):
        best = points.square_distance(xs[i], ys[i], center_x[0], center_y[0])
        place = 0
        for k in range(1, len(center_x)):
            found = points.square_distance(xs[i], ys[i], center_x[k], center_y[k])
            if found < best:
                best = found
                place = k
        nearest[i] = float(place)
        total += best
    return total


def move_centers(xs, ys, center_x, center_y, nearest, sizes):
    """Put each center in the middle of the points that are nearest to it."""
    for k in range(len(center_x)):
        sum_x = 0.0
        sum_y = 0.0
        size = 0.0
        for i in range(len(xs)):
            if nearest[i] == k:
                sum_x += xs[i]
                sum_y += ys[i]
                size += 1.0
        if size > 0.0:
            center_x[k] = sum_x / size
            center_y[k] = sum_y / size
        sizes[k] = size


class Report:
    """Bars of text."""

    def __init__(self, width):
        self.width = width
        self.lines = []

    def add(self, label, share):
        bar = "#" * int(share * self.width)
        self.lines.append(f"{label:>12} {bar}")

    def show(self):
        for line in self.lines:
            print(line)


def main():
    count = CLUSTERS * POINTS_PER_CLOUD
    xs = [0.0] * count
    ys = [0.0] * count
    random = points.Random(7)
    for k in range(CLUSTERS):
        x = (k % 2) * 6.0
        y = (k // 2) * 6.0
        points.make_cloud(random, xs, ys, k * POINTS_PER_CLOUD, POINTS_PER_CLOUD, x, y)

    center_x = [0.0] * CLUSTERS
    center_y = [0.0] * CLUSTERS
    for k in range(CLUSTERS):
        center_x[k] = xs[k * POINTS_PER_CLOUD]
        center_y[k] = ys[k * POINTS_PER_CLOUD]
    nearest = [0.0] * count
    sizes = [0.0] * CLUSTERS
    spread = 0.0
    for turn in range(10):
        spread = assign(xs, ys, center_x, center_y, nearest)
        move_centers(xs, ys, center_x, center_y, nearest, sizes)

    report = Report(40)
    for k in range(CLUSTERS):
        report.add(f"{center_x[k]:.2f},{center_y[k]:.2f}", sizes[k] / count)
    report.show()
    print(f"spread {spread:.6f}")


if __name__ == "__main__":
    main()
