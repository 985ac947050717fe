import helpers

print(helpers.LIMITS)
