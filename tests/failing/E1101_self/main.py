class Counter:
    def __init__(self):
        self.count = 0

    def step():
        self.count += 1

    def later(self):
        def inner(amount):
            return self.count + amount

        return inner, lambda value: value + amount


print(Counter())
