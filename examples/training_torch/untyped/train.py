"""Predict how much a machine vibrates next from windows of sensor readings.

Each window is standardised and extended by the slope between neighbouring readings, one
reading at a time (a loop), and a small network is fitted to the result by gradient descent
(tensor operations).
"""

import math
import time

import ppy
import torch


def standardize(readings, features, windows, width):
    """Write `2 * width` features for each window; the result is their sum."""
    checksum = 0.0
    for window in range(windows):
        start = window * width
        target = window * width * 2

        level = 0.0
        for i in range(width):
            level += readings[start + i]
        mean = level / width

        energy = 0.0
        for i in range(width):
            offset = readings[start + i] - mean
            energy += offset * offset
        scale = math.sqrt(energy / width) + 1e-9

        for i in range(width):
            value = (readings[start + i] - mean) / scale
            features[target + i] = value
            checksum += value
        for i in range(width):
            slope = features[target + (i + 1) % width] - features[target + i]
            features[target + width + i] = slope
            checksum += slope * slope
    return checksum


def predict(x, w1, b1, w2, b2):
    hidden = torch.tanh(torch.matmul(x, w1) + b1)
    return torch.matmul(hidden, w2) + b2


def squared_error(predicted, y):
    residual = predicted - y
    return torch.mean(residual * residual)


def train_step(x, y, params, rate):
    loss = squared_error(predict(x, params[0], params[1], params[2], params[3]), y)
    loss.backward()
    with torch.no_grad():
        for parameter in params:
            gradient = parameter.grad
            if gradient is None:
                continue
            parameter -= rate * gradient
            parameter.grad = None
    return loss.item()


def main():
    windows = 8000
    width = 24
    steps = 60

    torch.manual_seed(7)
    readings = torch.randn(windows * width).cumsum(0).tolist()
    features = [0.0] * (windows * width * 2)

    started = time.perf_counter()
    checksum = standardize(readings, features, windows, width)
    prep_ms = (time.perf_counter() - started) * 1000.0

    x = torch.tensor(features, dtype=torch.float32).reshape(windows, width * 2)
    y = x[:, width - 1 : width] * 0.5 + 0.1 * torch.randn(windows, 1)
    params = [
        (0.2 * torch.randn(width * 2, 40)).requires_grad_(),
        torch.zeros(40, requires_grad=True),
        (0.2 * torch.randn(40, 1)).requires_grad_(),
        torch.zeros(1, requires_grad=True),
    ]

    started = time.perf_counter()
    first = 0.0
    last = 0.0
    for step in range(steps):
        last = train_step(x, y, params, 0.05)
        if step == 0:
            first = last
    train_ms = (time.perf_counter() - started) * 1000.0

    print(f"standardize: native {ppy.native.compiled(standardize)}, {prep_ms:.1f} ms, checksum {checksum:.6f}")
    print(f"predict: region {getattr(predict, '__ppy_region__', False)}")
    print(f"train: {steps} steps, {train_ms:.1f} ms, loss {first:.4f} -> {last:.4f}")


main()
