"""Primes with a sieve, and factors."""
import math


def sieve(limit: int) -> list[int]:
    flags = [True] * (limit + 1)
    flags[0:2] = [False, False]
    for i in range(2, math.isqrt(limit) + 1):
        if flags[i]:
            for j in range(i * i, limit + 1, i):
                flags[j] = False
    return [i for i, prime in enumerate(flags) if prime]


def factors(n: int) -> dict[int, int]:
    found: dict[int, int] = {}
    p = 2
    while p * p <= n:
        while n % p == 0:
            found[p] = found.get(p, 0) + 1
            n //= p
        p += 1
    if n > 1:
        found[n] = found.get(n, 0) + 1
    return found


primes = sieve(1000)
print(len(primes), primes[:10], primes[-1])
print(sum(primes))
for n in (360, 97, 1001, 2**31 - 1):
    parts = [f"{p}^{e}" if e > 1 else str(p) for p, e in factors(n).items()]
    print(f"{n} = {' * '.join(parts)}")
twins = [(a, b) for a, b in zip(primes, primes[1:]) if b - a == 2]
print(twins[:5], len(twins))
