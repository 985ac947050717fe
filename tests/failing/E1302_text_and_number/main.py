def report(loss: float) -> str:
    return "loss: " + loss


print(report(1.5))
