"""ppybuild: a whole-program build system for Python + PyTorch programs."""

__version__ = "0.1.0"
