"""Derivatives: rules per ATen operator, and reverse-mode differentiation of a graph."""

from ppybuild.emit.tensors.derivatives.builder import Builder, NotDifferentiable
from ppybuild.emit.tensors.derivatives.decompose import decompose, start
from ppybuild.emit.tensors.derivatives.differentiate import differentiate, gradients

__all__ = ["Builder", "NotDifferentiable", "decompose", "differentiate", "gradients", "start"]
