"""Reads sources and computes facts about the whole program. Writes no text."""
