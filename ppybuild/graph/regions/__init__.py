"""Tensor regions: functions whose whole body is operators of torch, and training steps."""

from ppybuild.graph.regions.discover import Regions, discover
from ppybuild.graph.regions.records import Call, Input, Region, SameSize, Step, Unpack
from ppybuild.graph.regions.step_records import StepRegion
from ppybuild.graph.regions.steps import Steps, discover_steps

__all__ = [
    "Call",
    "Input",
    "Region",
    "Regions",
    "SameSize",
    "Step",
    "StepRegion",
    "Steps",
    "Unpack",
    "discover",
    "discover_steps",
]
