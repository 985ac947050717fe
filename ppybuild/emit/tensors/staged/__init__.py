"""The staged form: runs of operators as kernels of their own, between calls of ATen."""

from ppybuild.emit.tensors.staged.plan import plan_staged

__all__ = ["plan_staged"]
