"""Statistics of a CSV on standard input: name,group,value."""
import math
import sys


def mean(values):
    return sum(values) / len(values)


def stdev(values):
    m = mean(values)
    return math.sqrt(sum((v - m) ** 2 for v in values) / (len(values) - 1))


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def main():
    header = sys.stdin.readline().strip().split(",")
    groups: dict[str, list[float]] = {}
    bad = 0
    for number, line in enumerate(sys.stdin, start=2):
        fields = line.rstrip("\n").split(",")
        if len(fields) != len(header):
            print(f"line {number}: {len(fields)} fields", file=sys.stderr)
            bad += 1
            continue
        try:
            value = float(fields[2])
        except ValueError as error:
            print(f"line {number}: {error}")
            bad += 1
            continue
        groups.setdefault(fields[1], []).append(value)
    print(header, bad)
    for name in sorted(groups):
        values = groups[name]
        print(f"{name:10s} n={len(values):3d} mean={mean(values):.4f} median={median(values):g}"
              f" min={min(values)} max={max(values)}")
        if len(values) > 1:
            print(f"{'':10s} stdev={stdev(values):.6f}")


if __name__ == "__main__":
    main()
