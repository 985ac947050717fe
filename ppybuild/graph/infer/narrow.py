"""What a test settles on each of its two ways."""

from __future__ import annotations

import ast

from ppybuild.graph.infer.annotations import named_type
from ppybuild.graph.infer.visit import Env, Visit, join_envs, path_of
from ppybuild.graph.lattice import base_scalar, join_all, members_of
from ppybuild.graph.types import (
    BOOL,
    INT,
    NEVER,
    NONE,
    STR,
    UNKNOWN,
    Class,
    Collection,
    Dictionary,
    Function,
    Instance,
    Literal,
    Method,
    Module,
    Never,
    Scalar,
    Tensor,
    Tuple,
    Type,
    Unknown,
)


def branch(visit: Visit, test: ast.expr) -> tuple[Env | None, Env | None]:
    """Infers a test; gives what is known where it is true and where it is false."""
    if visit.env is None:
        return None, None
    match test:
        case ast.UnaryOp(op=ast.Not()):
            true, false = branch(visit, test.operand)
            visit.engine.types[test] = BOOL
            return false, true
        case ast.BoolOp():
            return _branch_chain(visit, test)
        case ast.Constant():
            visit.infer(test)
            return (visit.env, None) if test.value else (None, visit.env)
        case ast.Compare(ops=[operator], comparators=[right]):
            visit.infer(test)
            found = _compared(visit, test.left, operator, right)
        case ast.Call(func=ast.Name(id="isinstance"), args=[subject, _], keywords=[]):
            visit.infer(test)
            found = _instance(visit, subject, test.args[1])
        case ast.NamedExpr():
            visit.infer(test)
            found = _truth(visit, test.target)
        case _:
            visit.infer(test)
            found = _truth(visit, test)
    return found


def _branch_chain(visit: Visit, test: ast.BoolOp) -> tuple[Env | None, Env | None]:
    conjunction = isinstance(test.op, ast.And)
    settled: Env | None = None
    going = visit.env
    result: Type = NEVER
    for place, part in enumerate(test.values):
        visit.env = going
        if going is None:
            break
        true, false = branch(visit, part)
        found = visit.engine.types.get(part, UNKNOWN)
        last = place == len(test.values) - 1
        kept = found if last else (falsy_part(found) if conjunction else truthy_part(found))
        result = join_all((result, kept))
        settled = join_envs(settled, false if conjunction else true)
        going = true if conjunction else false
    visit.engine.types[test] = result
    return (going, settled) if conjunction else (settled, going)


def _split(
    visit: Visit, subject: ast.expr, true: Type, false: Type
) -> tuple[Env | None, Env | None]:
    """Both ways, with the subject's type settled on each; a way that no value takes is None."""
    path = path_of(subject)
    env = visit.env
    if env is None:
        return None, None
    if path is None:
        return (
            None if isinstance(true, Never) else env,
            None if isinstance(false, Never) else env,
        )
    return _settled(env, path, true), _settled(env, path, false)


def _settled(env: Env, path: str, found: Type) -> Env | None:
    if isinstance(found, Never):
        return None
    changed = dict(env)
    changed[path] = found
    return changed


def _subject(visit: Visit, node: ast.expr) -> tuple[ast.expr, Type]:
    """What a test is about, and its type; `(name := value)` is about the name."""
    found = visit.engine.types.get(node, UNKNOWN)
    return (node.target if isinstance(node, ast.NamedExpr) else node), found


def _keep(visit: Visit) -> tuple[Env | None, Env | None]:
    return visit.env, visit.env


def _compared(
    visit: Visit, left: ast.expr, operator: ast.cmpop, right: ast.expr
) -> tuple[Env | None, Env | None]:
    if isinstance(left, ast.Constant) and not isinstance(right, ast.Constant):
        left, right = right, left
    subject, found = _subject(visit, left)
    if isinstance(found, Never):
        return _keep(visit)
    if isinstance(right, ast.Constant) and right.value is None:
        if isinstance(operator, ast.Is | ast.Eq):
            return _none_test(visit, subject, found)
        if isinstance(operator, ast.IsNot | ast.NotEq):
            true, false = _none_test(visit, subject, found)
            return false, true
    if isinstance(right, ast.Constant) and isinstance(found, Literal):
        value = right.value
        if isinstance(operator, ast.Eq | ast.NotEq) and isinstance(value, str | int):
            here: Type = Literal(found.base, (value,)) if value in found.values else NEVER
            rest = tuple(each for each in found.values if each != value)
            other: Type = Literal(found.base, rest) if rest else NEVER
            pair = _split(visit, subject, here, other)
            return pair if isinstance(operator, ast.Eq) else (pair[1], pair[0])
    return _keep(visit)


def _none_test(visit: Visit, subject: ast.expr, found: Type) -> tuple[Env | None, Env | None]:
    if isinstance(found, Unknown):
        return _split(visit, subject, NONE, UNKNOWN)
    members = members_of(found)
    rest = join_all(member for member in members if member != NONE)
    return _split(visit, subject, NONE if NONE in members else NEVER, rest)


def _truth(visit: Visit, node: ast.expr) -> tuple[Env | None, Env | None]:
    found = visit.engine.types.get(node, UNKNOWN)
    if isinstance(found, Never | Unknown) or path_of(node) is None:
        return _keep(visit)
    return _split(visit, node, truthy_part(found), falsy_part(found))


_NEVER_FALSE = (Function, Method, Class, Module)


def truthy_part(found: Type) -> Type:
    """The members that a true value may be of."""
    return join_all(
        member
        for member in members_of(found)
        if member != NONE and member != Tuple(()) and member != Literal(STR, ("",))
    )


def falsy_part(found: Type) -> Type:
    """The members that a false value may be of."""
    return join_all(
        member for member in members_of(found) if not isinstance(member, _NEVER_FALSE)
    )


def _instance(visit: Visit, node: ast.expr, classes: ast.expr) -> tuple[Env | None, Env | None]:
    subject, found = _subject(visit, node)
    wanted = _class_names(visit, classes)
    if wanted is None or isinstance(found, Never):
        return _keep(visit)
    if isinstance(found, Unknown):
        true = join_all(named_type(name) for name in wanted)
        return _split(visit, subject, true, UNKNOWN)
    yes: list[Type] = []
    no: list[Type] = []
    for member in members_of(found):
        answers = [_is_instance(visit, member, name) for name in wanted]
        if True in answers:
            yes.append(member)
            continue
        no.append(member)
        if None in answers:
            yes.extend(
                _meet(visit, member, name)
                for name, answer in zip(wanted, answers, strict=True)
                if answer is None
            )
    return _split(visit, subject, join_all(yes), join_all(no))


def _class_names(visit: Visit, node: ast.expr) -> list[str] | None:
    if isinstance(node, ast.Tuple):
        parts = [_class_names(visit, part) for part in node.elts]
        return None if None in parts else [name for part in parts for name in part or ()]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        left, right = _class_names(visit, node.left), _class_names(visit, node.right)
        return None if left is None or right is None else left + right
    if isinstance(node, ast.Constant) and node.value is None:
        return ["None"]
    found = visit.engine.types.get(node)
    if isinstance(found, Class):
        return [found.name]
    name = visit.engine.dotted(node, visit.unit)
    if name is None or isinstance(found, Function | Module):
        return None
    return [name] if not isinstance(found, Unknown) or "." in name else None


_ABSTRACT = {
    "Sequence": {"list", "tuple", "range", "Sequence"},
    "Iterable": {"list", "tuple", "range", "set", "frozenset", "Sequence", "Iterable"},
    "Collection": {"list", "tuple", "range", "set", "frozenset", "Sequence"},
    "MutableSequence": {"list"},
    "Sized": {"list", "tuple", "range", "set", "frozenset", "Sequence"},
}


def _is_instance(visit: Visit, member: Type, name: str) -> bool | None:
    """Whether every value of a type is an instance of a class; None for some."""
    if name in ("builtins.object", "object"):
        return True
    if isinstance(member, Instance) and member.name[0] != "#":
        return _derives(visit, member.name, name)
    wanted = named_type(name)
    resolved = visit.resolved(member) if isinstance(member, Instance) else member
    match resolved, wanted:
        case (Unknown(), _) | (_, Unknown()):
            return None
        case (Scalar() | Literal(), Scalar()):
            scalar = base_scalar(resolved)
            return scalar == wanted or (scalar == BOOL and wanted == INT)
        case (Tuple(), Collection()):
            return wanted.kind in ("tuple", "Sequence", "Iterable")
        case (Collection(), Collection()):
            if resolved.kind == wanted.kind:
                return True
            if resolved.kind in _ABSTRACT.get(wanted.kind, set()):
                return True
            return None if resolved.kind in ("Sequence", "Iterable", "Iterator") else False
        case (Dictionary(), Dictionary()):
            return True if wanted.kind in ("Mapping", resolved.kind) else None
        case (Tensor(), Tensor()):
            return True if resolved.parameter or not wanted.parameter else None
        case (Scalar() | Literal() | Tuple(), Instance()):
            return (
                None if wanted.name.startswith(("collections", "typing", "numbers")) else False
            )
        case (_, Instance()):
            return None
    return None if isinstance(resolved, Instance) else False


def _derives(visit: Visit, found: str, name: str) -> bool | None:
    engine = visit.engine
    if found == name:
        return True
    if found in engine.program.classes:
        if engine.hierarchy.derives(found, name):
            return True
        if name in engine.program.classes:
            below = engine.hierarchy.order(name)
            if found in below:
                return None
            return None if engine.hierarchy.library_bases(found) else False
        return None
    bases = engine.library.bases(found)
    if bases is not None and name in bases:
        return True
    return None


def _meet(visit: Visit, member: Type, name: str) -> Type:
    """The type of a value of `member` that is an instance of the class."""
    wanted = named_type(name)
    if isinstance(member, Scalar) and isinstance(wanted, Scalar):
        return wanted
    if isinstance(member, Collection) and isinstance(wanted, Collection):
        return Collection(wanted.kind, member.item)
    if isinstance(member, Dictionary) and isinstance(wanted, Dictionary):
        return Dictionary(wanted.kind, member.key, member.value)
    return wanted
