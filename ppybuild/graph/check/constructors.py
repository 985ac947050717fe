"""What making an object of one of the program's classes takes."""

from __future__ import annotations

import ast

from ppybuild.graph.check.arguments import Taker
from ppybuild.graph.check.context import Context
from ppybuild.graph.check.objects import is_plain_class
from ppybuild.graph.check.place import Place
from ppybuild.graph.check.values import annotation_type
from ppybuild.graph.program import Parameter
from ppybuild.graph.types import UNKNOWN

PLAIN_BASES = frozenset(
    {"torch.nn.Module", "torch.utils.data.Dataset", "torch.utils.data.IterableDataset",
     "abc.ABC", "builtins.Exception", "builtins.ValueError", "builtins.RuntimeError"}
)  # fmt: skip
"""Classes of libraries that leave what they are made of to `__init__`."""
DATACLASS_OPTIONS = frozenset({"frozen", "slots", "order", "eq", "repr", "unsafe_hash"})
"""Options of `@dataclass` that leave its `__init__` as it is."""
FIELD_OPTIONS = frozenset({"default", "default_factory", "repr", "compare", "hash", "metadata"})
"""Options of `field` that say no more of `__init__` than the default."""


def constructor_of(context: Context, place: Place, node: ast.Call, name: str) -> Taker | None:
    """What `name(...)` takes; None where that is not certain."""
    hierarchy = context.hierarchy
    order = hierarchy.order(name)
    if not context.sure(place, node.func) or not is_defined_once(context, name):
        return None
    if not all(is_plain_class(context, each) for each in order):
        return None
    if not PLAIN_BASES.issuperset(
        map(context.library.canonical, hierarchy.library_bases(name))
    ):
        return None
    if hierarchy.method(name, "__new__") is not None:
        return None
    spelled = context.facts.program.classes[name].node.name
    if "__init__" in context.stored_attributes:
        return None
    made = hierarchy.method(name, "__init__")
    if any(hierarchy.is_dataclass(each) for each in order):
        return None if made is not None else dataclass_taker(context, name, spelled)
    if made is None:
        return Taker(spelled, (), "") if not hierarchy.library_bases(name) else None
    signature = context.facts.signatures.get(made.name)
    if signature is None or made.node.decorator_list:
        return None
    if context.certainty.is_overloaded(made.name) or made.name.count("#"):
        return None
    shown = f"it is declared as `{spelled}.__init__({ast.unparse(made.node.args)})`"
    return Taker(spelled, signature.parameters[1:], shown)


def is_defined_once(context: Context, name: str) -> bool:
    """True where the module's name is bound by this class statement alone, at its top level."""
    found = context.facts.program.classes[name]
    module = context.facts.program.modules[found.module]
    if found.node not in module.tree.body or f"{name}#2" in context.facts.program.classes:
        return False
    return found.node.name not in context.rebound(module)


def dataclass_taker(context: Context, name: str, spelled: str) -> Taker | None:
    """What the `__init__` that `@dataclass` writes takes."""
    found: dict[str, Parameter] = {}
    for each in reversed(context.hierarchy.order(name)):
        node = context.facts.program.classes[each].node
        if not context.hierarchy.is_dataclass(each) or not has_plain_init(node):
            return None
        if any(isinstance(statement, _COMPOUND) for statement in node.body):
            return None  # it may hold fields
        for statement in node.body:
            if isinstance(statement, ast.AnnAssign) and "ClassVar" not in spelling(statement):
                field = field_of(statement)
                if field is None:
                    return None
                found[field.name] = field
    shown = f"its fields are {', '.join(f'`{field}`' for field in found)}" if found else ""
    return Taker(spelled, tuple(found.values()), shown)


_COMPOUND = ast.If | ast.For | ast.While | ast.With | ast.Try | ast.Match


def spelling(statement: ast.AnnAssign) -> str:
    return ast.unparse(statement.annotation)


def field_of(statement: ast.AnnAssign) -> Parameter | None:
    """The parameter of a dataclass's field; None for what is no plain one."""
    text = spelling(statement)
    if not isinstance(statement.target, ast.Name) or "InitVar" in text or "KW_ONLY" in text:
        return None
    default = statement.value
    match default:
        case ast.Call(func=function) if ast.unparse(function).endswith("field"):
            given = {keyword.arg: keyword.value for keyword in default.keywords}
            if default.args or not given.keys() <= FIELD_OPTIONS:
                return None
            default = given.get("default", given.get("default_factory"))
    declared = annotation_type(statement.annotation) or UNKNOWN
    return Parameter(statement.target.id, declared, "normal", default, annotated=True)


def has_plain_init(node: ast.ClassDef) -> bool:
    """True where nothing said to `@dataclass` changes the `__init__` that it writes."""
    return all(
        not isinstance(each, ast.Call)
        or {keyword.arg for keyword in each.keywords} <= DATACLASS_OPTIONS
        for each in node.decorator_list
    )
