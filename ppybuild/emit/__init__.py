"""Lowers facts to the loop and tensor IRs, transforms them, and prints C and C++."""
