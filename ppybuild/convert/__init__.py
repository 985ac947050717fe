"""Turns facts into `.ppy` text through libcst. Infers nothing."""
