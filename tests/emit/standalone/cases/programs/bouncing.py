"""Balls under gravity, with a dataclass."""
from dataclasses import dataclass
import math


@dataclass
class Ball:
    name: str
    x: float
    y: float
    vx: float = 1.0
    vy: float = 0.0
    bounces: int = 0

    def step(self, dt: float) -> None:
        self.vy -= 9.81 * dt
        self.x += self.vx * dt
        self.y += self.vy * dt
        if self.y < 0.0:
            self.y = -self.y
            self.vy = -self.vy * 0.9
            self.bounces += 1

    @property
    def energy(self) -> float:
        return 9.81 * self.y + 0.5 * (self.vx**2 + self.vy**2)

    def distance(self, other: "Ball") -> float:
        return math.hypot(self.x - other.x, self.y - other.y)


def simulate(balls: list[Ball], steps: int, dt: float = 0.01) -> None:
    for _ in range(steps):
        for ball in balls:
            ball.step(dt)


balls = [Ball("red", 0.0, 1.0), Ball("blue", 0.0, 2.0, vx=2.0), Ball(name="green", x=1.0, y=0.5)]
simulate(balls, 500)
for ball in balls:
    print(f"{ball.name:>6}: x={ball.x:.3f} y={ball.y:.3f} bounces={ball.bounces} E={ball.energy:.4f}")
print(balls[0])
print(balls[0].distance(balls[1]))
print(max(balls, key=lambda b: b.bounces).name)
print(balls[0] == Ball("red", 0.0, 1.0), balls[1] == balls[1])
