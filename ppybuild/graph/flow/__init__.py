"""Where values go: which variables, parameters, results and fields hold the same lists.

A flow-insensitive, unification-based analysis over the whole program (Steensgaard,
"Points-to analysis in almost linear time", POPL 1996), for lists and tuples only.
"""

from ppybuild.graph.flow.records import Flow, Slot, Use
from ppybuild.graph.flow.walk import trace

__all__ = ["Flow", "Slot", "Use", "trace"]
