"""The fused form: a region as passes over blocks of rows, printed as C."""

from ppybuild.emit.tensors.fused.ir import NotFusible
from ppybuild.emit.tensors.fused.plan import Plan, plan_fused
from ppybuild.emit.tensors.fused.printer import emit_fused
from ppybuild.emit.tensors.fused.variants import emit_variants

__all__ = ["NotFusible", "Plan", "emit_fused", "emit_variants", "plan_fused"]
