import random

import ppy
import torch


@ppy.pure
def jitter(x: float) -> float:
    return x + random.random()


@ppy.pure
def noisy(x: torch.Tensor) -> torch.Tensor:
    return x + torch.randn_like(x)


@ppy.pure
def seeded(x: float) -> float:
    rng = random.Random(3)
    return x + rng.random()


print(jitter(1.0), noisy(torch.zeros(2)), seeded(1.0))
