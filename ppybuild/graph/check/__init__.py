"""Findings: what is certain to be wrong with a program. What is not known is not reported."""

from ppybuild.graph.check.driver import check

__all__ = ["check"]
