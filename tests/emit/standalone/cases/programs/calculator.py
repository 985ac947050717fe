"""A calculator for expressions with brackets, by recursive descent."""
import sys


class Parser:
    def __init__(self, text: str) -> None:
        self.tokens = self.tokenize(text)
        self.position = 0

    @staticmethod
    def tokenize(text: str) -> list[str]:
        tokens: list[str] = []
        number = ""
        for c in text:
            if c.isdigit() or c == ".":
                number += c
                continue
            if number:
                tokens.append(number)
                number = ""
            if c in "+-*/()":
                tokens.append(c)
            elif not c.isspace():
                raise SyntaxError(f"unexpected {c!r}")
        if number:
            tokens.append(number)
        return tokens

    def peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.position += 1
        return token

    def expression(self) -> float:
        value = self.term()
        while self.peek() in ("+", "-"):
            if self.take() == "+":
                value += self.term()
            else:
                value -= self.term()
        return value

    def term(self) -> float:
        value = self.factor()
        while self.peek() and self.peek() in "*/":
            if self.take() == "*":
                value *= self.factor()
            else:
                value /= self.factor()
        return value

    def factor(self) -> float:
        token = self.take()
        if token == "(":
            value = self.expression()
            if self.take() != ")":
                raise SyntaxError("missing )")
            return value
        if token == "-":
            return -self.factor()
        if not token:
            raise SyntaxError("unexpected end")
        return float(token)


def main() -> None:
    for text in sys.argv[3:] or ["1 + 2 * 3", "(1 + 2) * -3 / 4", "2 * (3", "1 / 0", "2 $ 3"]:
        try:
            print(text, "=", Parser(text).expression())
        except (SyntaxError, ZeroDivisionError) as error:
            print(f"{text}: {type(error).__name__}: {error}")


main()
