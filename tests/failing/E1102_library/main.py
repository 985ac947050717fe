import numpyy
from math import sqroot

print(numpyy, sqroot)
