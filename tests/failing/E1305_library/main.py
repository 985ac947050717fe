import math

print(math.sqrt(1.0, 2.0))
