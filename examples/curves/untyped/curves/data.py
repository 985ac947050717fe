"""Noisy samples of a curve, made one at a time."""

import math

SAMPLES = 512


def fill(inputs, targets):
    """Write `SAMPLES` points of a damped wave with a small deterministic disturbance."""
    state = 12345
    for i in range(SAMPLES):
        x = i / SAMPLES * 6.0 - 3.0
        state = (state * 1103515245 + 12345) % 2147483648
        noise = state / 2147483648.0 - 0.5
        inputs[i] = x
        targets[i] = math.exp(-0.2 * x * x) * math.sin(3.0 * x) + 0.05 * noise


def mean(values):
    total = 0.0
    for value in values:
        total += value
    return total / len(values)
