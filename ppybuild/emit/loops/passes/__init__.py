"""One pass per file; each is a function from a `Function` to a `Function`."""
