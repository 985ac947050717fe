"""Tensor regions: functions whose whole body is operators of torch."""

from ppybuild.graph.regions.discover import Regions, discover
from ppybuild.graph.regions.records import Call, Input, Region, SameSize, Step, Unpack

__all__ = ["Call", "Input", "Region", "Regions", "SameSize", "Step", "Unpack", "discover"]
