import prep

print(prep.scale(1.0, 2.0))
