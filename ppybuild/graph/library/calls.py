"""Calls: arguments bound to parameters, overloads chosen, results with variables solved."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ppybuild.graph.lattice import join_all, members_of
from ppybuild.graph.library.binding import Form, FunctionNode, Pair, bind, unknown_keyword
from ppybuild.graph.library.classes import (
    TRANSPARENT_DECORATORS,
    Member,
    Stubs,
    class_of,
    literal_type,
    realise,
    realise_class,
)
from ppybuild.graph.library.files import standard_text
from ppybuild.graph.library.fit import Fit, Fitter, worst
from ppybuild.graph.library.resolve import decorator_names
from ppybuild.graph.library.terms import (
    ANY,
    CallableTerm,
    ClassTerm,
    LiteralTerm,
    SelfTerm,
    Term,
    TupleTerm,
    UnionTerm,
    VariableTerm,
    substitute,
)
from ppybuild.graph.library.values import Argument, CallProblem
from ppybuild.graph.types import (
    UNKNOWN,
    Callable,
    Class,
    Function,
    Instance,
    Literal,
    Method,
    Type,
    Union,
)


@dataclass(frozen=True, slots=True)
class Outcome:
    type: Type
    problem: CallProblem | None = None
    form: Form | None = None
    """The overload, where it is the only one that can be meant."""


NOTHING = Outcome(UNKNOWN)


def call(
    stubs: Stubs,
    callee: Type,
    arguments: Sequence[Argument],
    keywords: Mapping[str, Argument],
    unpacked: bool,
) -> Outcome:
    """The result of a call, and why it cannot be made, where that is certain."""
    if isinstance(callee, Union):
        outcomes = [call(stubs, m, arguments, keywords, unpacked) for m in members_of(callee)]
        return Outcome(join_all(outcome.type for outcome in outcomes))
    if isinstance(callee, Callable):
        return Outcome(callee.result)
    forms = find_forms(stubs, callee)
    if not forms:
        if isinstance(callee, Class) and stubs.class_info(callee.name) is not None:
            return Outcome(realise_class(callee.name, ()))
        return NOTHING
    receiver = form_receiver(callee)
    return choose(stubs, forms, receiver, arguments, keywords, unpacked)


def form_receiver(callee: Type) -> Type:
    match callee:
        case Method(receiver=Class(name=name)):
            return realise_class(name, ())
        case Method(receiver=receiver):
            return receiver
        case Class(name=name):
            return realise_class(name, ())
        case _:
            return UNKNOWN


def find_forms(stubs: Stubs, callee: Type) -> list[Form]:
    match callee:
        case Function(name=name):
            return function_forms(stubs, name)
        case Method(receiver=Class(name=owner), name=name):
            return method_forms(stubs, ClassTerm(owner), Class(owner), name)
        case Method(receiver=receiver, name=name):
            term = class_of(receiver)
            return method_forms(stubs, term, receiver, name) if term else []
        case Class(name=name):
            return constructor_forms(stubs, name)
        case Instance(name=name):
            order = stubs.order(name) or ()
            is_layer = any(info.name == "torch.nn.Module" for info in order)
            method = "forward" if is_layer else "__call__"
            return method_forms(stubs, ClassTerm(name), callee, method)
        case _:
            return []


def readable(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and decorator_names(node) <= TRANSPARENT_DECORATORS


def function_forms(stubs: Stubs, name: str) -> list[Form]:
    definition = stubs.resolver.find(name)
    if definition is not None and definition.kind == "function":
        return [
            Form(name, definition.module, node, {}, stubs.term(definition.module, node.returns))
            for node in definition.nodes
            if isinstance(node, ast.FunctionDef) and readable(node)
        ]
    owner, _, attribute = name.rpartition(".")
    if not owner or stubs.class_info(owner) is None:
        return []
    found = stubs.member(ClassTerm(owner), attribute)
    return member_forms(stubs, found, f"{owner}.{attribute}", None) if found else []


def method_forms(stubs: Stubs, term: ClassTerm, receiver: Type, name: str) -> list[Form]:
    found = stubs.member(term, name)
    return member_forms(stubs, found, f"{term.name}.{name}", receiver) if found else []


def member_forms(
    stubs: Stubs, found: Member | bool, name: str, receiver: Type | None
) -> list[Form]:
    """The overloads of a member; unbound where there is no receiver."""
    if not isinstance(found, Member):
        return []
    statements = found.statements
    if statements and isinstance(statements[-1], ast.Assign):
        value = statements[-1].value
        if isinstance(value, ast.Name):
            statements = found.owner.members.get(value.id, ())
    nodes = [node for node in statements if isinstance(node, ast.FunctionDef)]
    if not nodes or not all(readable(node) for node in nodes):
        return []
    marked = [node for node in nodes if "overload" in decorator_names(node)]
    module = found.owner.definition.module
    forms = []
    for node in marked or nodes[-1:]:
        decorators = decorator_names(node)
        static = "staticmethod" in decorators
        bound = None if static else receiver
        skips = not static and (receiver is not None or "classmethod" in decorators)
        result = stubs.term(module, node.returns)
        forms.append(Form(name, module, node, found.values, result, bound, skips))
    return forms


def constructor_forms(stubs: Stubs, name: str) -> list[Form]:
    order = stubs.order(name)
    if order is None or any(info.name in ("enum.Enum", "typing.NamedTuple") for info in order):
        return []
    info = order[0]
    variables = tuple(VariableTerm(parameter) for parameter in info.parameters)
    instance = ClassTerm(info.name, variables)
    for base in order:
        if base.name == "builtins.object":
            break
        for method in ("__new__", "__init__"):
            if method not in base.members:
                continue
            found = stubs.member(instance, method)
            forms = member_forms(stubs, found, info.name, None) if found else []
            return [constructor_form(stubs, form, method, instance) for form in forms]
    return []


def constructor_form(stubs: Stubs, form: Form, method: str, instance: ClassTerm) -> Form:
    result: Term = instance
    parameters = [*form.node.args.posonlyargs, *form.node.args.args]
    if method == "__new__" and form.node.returns is not None:
        result = form.result
    elif method == "__init__" and parameters and parameters[0].annotation is not None:
        result = stubs.term(form.module, parameters[0].annotation)
    if isinstance(result, SelfTerm):
        result = instance
    return Form(form.name, form.module, form.node, form.values, result, None, True)


def choose(
    stubs: Stubs,
    forms: list[Form],
    receiver: Type,
    arguments: Sequence[Argument],
    keywords: Mapping[str, Argument],
    unpacked: bool,
) -> Outcome:
    """The first overload that fits; the join of those that may, where none surely does."""
    results: list[Type] = []
    chosen: list[Form] = []
    problems: list[CallProblem | None] = []
    for form in forms:
        pairs = bind(form, arguments, keywords, unpacked)
        if isinstance(pairs, CallProblem):
            problems.append(pairs)
            continue
        fitter = Fitter(stubs, receiver)
        answer = fit_pairs(stubs, fitter, form, pairs)
        if answer == "no":
            problems.append(certain_problem(stubs, form, pairs))
            continue
        term = substitute(form.result, dict(form.values))
        results.append(realise(term, fitter.solved, receiver))
        chosen.append(form)
        if answer == "yes":
            break
    if chosen:
        return Outcome(join_all(results), None, chosen[0] if len(chosen) == 1 else None)
    unknown = unknown_keyword(forms, keywords)
    if unknown is not None:
        return Outcome(UNKNOWN, unknown)
    return Outcome(UNKNOWN, combine_problems(forms, problems))


def confirmed(
    stubs: Stubs,
    callee: Type,
    arguments: Sequence[Argument],
    keywords: Mapping[str, Argument],
    unpacked: bool,
) -> bool:
    """Whether the source of a module of the standard library refuses the arguments too: its
    stub may declare fewer of them than the source takes."""
    match callee:
        case Function(name=name) | Class(name=name):
            definition = stubs.resolver.find(name)
        case Method(receiver=receiver):
            term = class_of(receiver)
            definition = stubs.resolver.find(term.name) if term else None
        case _:
            return False
    if definition is None:
        return False
    if not definition.stub or not standard_text(definition.module):
        return True
    source = standard_function(definition.module, definition.name)
    if source is None or definition.kind != "function":
        return False
    form = Form(definition.dotted, definition.module, source, {}, ANY)
    return isinstance(bind(form, arguments, keywords, unpacked), CallProblem)


@functools.cache
def standard_function(module: str, name: str) -> FunctionNode | None:
    """The only definition of a function in a module's source, where nothing decorates it."""
    try:
        tree = ast.parse(standard_text(module))
    except SyntaxError:
        return None
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    return found[0] if len(found) == 1 and not found[0].decorator_list else None


def fit_pairs(stubs: Stubs, fitter: Fitter, form: Form, pairs: list[Pair]) -> Fit:
    fits: list[Fit] = []
    parameters = [*form.node.args.posonlyargs, *form.node.args.args]
    if form.bound is not None and parameters and parameters[0].annotation is not None:
        self_term = substitute(
            stubs.term(form.module, parameters[0].annotation), dict(form.values)
        )
        fits.append(fitter.fit(self_term, form.bound))
    for pair in pairs:
        term = substitute(stubs.term(form.module, pair.annotation), dict(form.values))
        fits.append(fit_argument(fitter, term, pair.argument))
    return worst(fits)


def fit_argument(fitter: Fitter, term: Term, argument: Argument) -> Fit:
    answer = fitter.fit(term, argument.type)
    value = argument.value
    if answer == "maybe" and isinstance(value, bool | int | str | bytes):
        exact = literal_type(value)
        same = isinstance(exact, Literal) and exact.base == argument.type
        if same and fitter.fit(term, exact) != "maybe":
            return fitter.fit(term, exact)
    return answer


def certain_problem(stubs: Stubs, form: Form, pairs: list[Pair]) -> CallProblem | None:
    """The argument whose class, whatever its parts, is not one that the parameter takes."""
    for pair in pairs:
        if any(isinstance(kind, Instance) for kind in members_of(pair.argument.type)):
            continue  # it may be of a subclass
        term = substitute(stubs.term(form.module, pair.annotation), dict(form.values))
        if Fitter(stubs).fit(without_parts(term), pair.argument.type) == "no":
            expected = ast.unparse(pair.annotation) if pair.annotation else ""
            place = f"`{pair.key}`" if isinstance(pair.key, str) else f"argument {pair.key + 1}"
            return CallProblem(
                "type",
                f"`{form.name}` takes no such value as {place}",
                pair.key,
                pair.argument.type,
                expected,
            )
    return None


def without_parts(term: Term) -> Term:
    """The term with every type argument forgotten."""
    match term:
        case ClassTerm(name=name):
            return ClassTerm(name)
        case TupleTerm():
            return ClassTerm("builtins.tuple")
        case UnionTerm(members=parts):
            return UnionTerm(tuple(map(without_parts, parts)))
        case VariableTerm(bound=bound, constraints=constraints):
            if bound is not None:
                return without_parts(bound)
            return UnionTerm(tuple(map(without_parts, constraints))) if constraints else ANY
        case CallableTerm():
            return CallableTerm(None, ANY)
        case LiteralTerm(values=values):
            kinds = {literal_class(value) for value in values}
            return UnionTerm(tuple(sorted(kinds, key=repr)))
        case _:
            return term


def literal_class(value: object) -> Term:
    name = type(value).__name__
    return ClassTerm("types.NoneType" if name == "NoneType" else f"builtins.{name}")


def combine_problems(
    forms: list[Form], problems: list[CallProblem | None]
) -> CallProblem | None:
    """What is wrong with a call that fits no overload, where each surely refuses it."""
    known = [problem for problem in problems if problem is not None]
    if len(known) < len(problems) or not known:
        return None
    if len(forms) == 1:
        return known[0]
    typed = [problem for problem in known if problem.kind == "type"]
    if typed and len({problem.argument for problem in typed}) == 1:
        return typed[-1]
    names = [problem for problem in known if problem.kind == "name"]
    if len(names) == len(known) and len({problem.argument for problem in names}) == 1:
        return names[0]
    return CallProblem(
        known[0].kind if len({problem.kind for problem in known}) == 1 else "type",
        f"no form of `{forms[0].name}` takes these arguments",
    )
