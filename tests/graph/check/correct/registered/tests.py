from registered.__init__ import testing

print(testing)
