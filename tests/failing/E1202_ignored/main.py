count = 3
print("# type: ignore", count.missing)
print(count.absent)  # type: ignore[attr-defined]
print(count.gone)  # type:ignore
