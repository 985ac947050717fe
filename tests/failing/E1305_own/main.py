def scale(value: float, factor: float = 2.0) -> float:
    return value * factor


print(scale(), scale(1.0, 2.0, 3.0), scale(1.0, facter=3.0))
