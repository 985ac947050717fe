"""Operator schemas, read from the copy of `native_functions.yaml` in torch's wheel.

No list of operators is kept here: what torch describes is what may be called.
"""

from ppybuild.graph.schemas.match import Given, Match, Mismatch, match
from ppybuild.graph.schemas.read import Schemas, installed_schemas
from ppybuild.graph.schemas.records import Argument, Operator, SchemaType

__all__ = [
    "Argument",
    "Given",
    "Match",
    "Mismatch",
    "Operator",
    "SchemaType",
    "Schemas",
    "installed_schemas",
    "match",
]
