"""Methods that the class's body wraps after it has defined them."""


def twice(function):
    return lambda *given: function(*given) * 2


class Shape:
    def area(width, height):
        return width * height

    area = staticmethod(area)

    def named(cls, name):
        return cls.__name__ + name

    named = classmethod(named)

    def doubled(self):
        return 2

    doubled = twice(doubled)

    def total(self):
        return self.area(2, 3) + Shape.area(4, 5) + self.doubled()


print(Shape().total(), Shape.named("s"), Shape().named("t"), Shape.area(1, 2))
