import math

print(math.sqrt("2"), len(3))
