"""Count words on standard input."""
import sys


def main() -> int:
    counts: dict[str, int] = {}
    lines = 0
    for line in sys.stdin:
        lines += 1
        for word in line.lower().split():
            word = word.strip(".,;:!?\"'()")
            if word:
                counts[word] = counts.get(word, 0) + 1
    print(f"{lines} lines, {len(counts)} different words")
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    for word, count in ranked[:10]:
        print(f"{word:<12} {count:>5d}")
    longest = max(counts, key=len)
    print("longest:", longest)
    return 0


if __name__ == "__main__":
    sys.exit(main())
