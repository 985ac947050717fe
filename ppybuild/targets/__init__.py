"""Toolchains, flags, SCons and bundles. Knows nothing of Python semantics."""
