"""Packages: what is made of a built bundle to hand it over, one file for each format."""
