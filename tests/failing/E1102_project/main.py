from app.prep import standardise

print(standardise(1.0))
