def shout(text: str) -> str:
    return text.uper()


print(shout("a"))
