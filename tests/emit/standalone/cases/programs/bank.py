"""Accounts: a class with errors."""


class InsufficientFunds(Exception):
    pass


class Account:
    rate = 0.02

    def __init__(self, owner: str, balance: float = 0.0) -> None:
        self.owner = owner
        self.balance = balance
        self.history: list[tuple[str, float]] = []

    def deposit(self, amount: float) -> None:
        if amount <= 0:
            raise ValueError("amount must be positive")
        self.balance += amount
        self.history.append(("deposit", amount))

    def withdraw(self, amount: float) -> None:
        if amount > self.balance:
            raise InsufficientFunds(f"{self.owner} has only {self.balance:.2f}")
        self.balance -= amount
        self.history.append(("withdraw", amount))

    def __str__(self) -> str:
        return f"{self.owner}: {self.balance:,.2f}"


accounts = {name: Account(name, start) for name, start in [("ann", 100.0), ("bob", 20.5)]}
accounts["ann"].deposit(50.0)
accounts["bob"].deposit(1e6)
for who, amount in [("ann", 30.0), ("bob", 1e7), ("ann", -1.0)]:
    try:
        if amount < 0:
            accounts[who].deposit(amount)
        else:
            accounts[who].withdraw(amount)
    except InsufficientFunds as error:
        print("refused:", error)
    except ValueError as error:
        print("wrong:", error)
    finally:
        print("looked at", who)
for account in accounts.values():
    print(account, account.history)
print(sum(a.balance for a in accounts.values()))
