"""The one object that is asked about libraries."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from ppybuild.graph.lattice import join_all
from ppybuild.graph.library import builtin_rules, tensor_rules, tensor_views
from ppybuild.graph.library.calls import Outcome, call, confirmed
from ppybuild.graph.library.classes import (
    Stubs,
    attribute_type,
    class_attribute_type,
    class_of,
    realise,
)
from ppybuild.graph.library.files import Files, find_module, names_in_library
from ppybuild.graph.library.items import infer_entry, infer_item, infer_iteration
from ppybuild.graph.library.operators import infer_binary, infer_unary, tensor_problem
from ppybuild.graph.library.resolve import Definition
from ppybuild.graph.library.tensor_call import Call, Rule
from ppybuild.graph.library.tensor_dtypes import dtype_named
from ppybuild.graph.library.tensor_losses import LOSSES
from ppybuild.graph.library.tensor_shapes import Mismatch
from ppybuild.graph.library.terms import ClassTerm
from ppybuild.graph.library.values import Argument, CallProblem
from ppybuild.graph.types import (
    NONE,
    UNKNOWN,
    Class,
    Function,
    Instance,
    Method,
    Module,
    Tensor,
    Type,
    Union,
    Unknown,
)


class Library:
    """Answers questions about everything that is not the project.

    Names are dotted. A project's own classes are unknown here: for one that derives from a
    library class ask about the base. Answers are cached in the object; it holds no other
    state. `default_dtype` is the dtype of new floating tensors: None for a program that may
    change it.
    """

    def __init__(self, default_dtype: str | None = "float32") -> None:
        self._stubs = Stubs()
        self._default = default_dtype

    def module(self, name: str) -> bool:
        """False where `import name` is certain to fail here."""
        if find_module(name) is not None:
            return True
        parent, _, last = name.rpartition(".")
        if not parent:
            return False
        files = find_module(parent)
        if files is None:
            return self.module(parent) and self._may_make_modules(parent)
        if self._may_make_modules(parent):
            return True
        found = self._stubs.resolver.resolve(parent, last)
        return found is not None and found.kind == "module"

    def _may_make_modules(self, name: str) -> bool:
        """A package that has no text, or that touches the import system as it starts."""
        sources = self._stubs.resolver.sources(name)
        files: Files | None = find_module(name)
        if not sources:
            return files is not None and files.is_package
        return any(
            "sys.modules" in source.text or "__path__" in source.text for source in sources
        )

    def canonical(self, name: str) -> str:
        """The name that everything offering the same thing shares: the outermost package that
        offers it. `torch.nn.modules.linear.Linear` is `torch.nn.Linear`, `posixpath.join` is
        `os.path.join`; what is unknown keeps its name."""
        found = self._stubs.resolver.find(name)
        if found is not None and found.kind != "unknown":
            return self._stubs.resolver.public_name(found)
        owner, _, last = name.rpartition(".")
        holder = self._stubs.resolver.find(owner) if owner else None
        if holder is not None and holder.kind == "class":
            return f"{self._stubs.resolver.public_name(holder)}.{last}"
        return name

    def name(self, name: str) -> Type | None:
        """The type of a dotted name: `builtins.len` is `Function("builtins.len")`; None where
        there is no such thing, `UNKNOWN` where that cannot be told."""
        found = self._stubs.resolver.find(name)
        if found is None:
            return None
        return self._definition_type(found)

    def member(self, owner: Type, attribute: str) -> Type | None:
        """The type of `owner.attribute`; None where the owner is known and has no such
        attribute (so that a checker may say so); `UNKNOWN` where that cannot be told.

        A module gives Function, Class, Module or a constant's type; an instance or built-in
        value gives Method or the attribute's type; a class gives Function for what is a
        function when read off the class.
        """
        match owner:
            case Module(name=name):
                if find_module(name) is None:
                    return UNKNOWN
                found = self._stubs.resolver.resolve(name, attribute)
                return None if found is None else self._definition_type(found)
            case Class(name=name):
                return class_attribute_type(self._stubs, name, attribute)
            case Union(members=members):
                kinds = [self.member(member, attribute) for member in members]
                known = [kind for kind in kinds if kind is not None]
                return join_all(known) if known else None
            case Tensor():
                return self._tensor_member(owner, attribute)
            case _:
                return attribute_type(self._stubs, owner, attribute)

    def _tensor_member(self, owner: Tensor, attribute: str) -> Type | None:
        shape, dtype = owner.shape, owner.dtype
        if attribute == "data":
            return Tensor(dtype, shape)
        if attribute == "grad":
            return join_all([Tensor(dtype, shape), NONE])
        if attribute in ("T", "mT"):
            turned = (shape[1], shape[0]) if shape is not None and len(shape) == 2 else None
            return Tensor(dtype, turned)
        found = attribute_type(self._stubs, owner, attribute)
        if isinstance(found, Unknown) and attribute in tensor_rules.METHODS:
            return Method(owner, attribute)  # bound in torch's sources by a call
        if found is None and (
            attribute.startswith("_") or names_in_library("torch", attribute)
        ):
            return UNKNOWN
        return found

    def _definition_type(self, found: Definition) -> Type:
        match found.kind:
            case "module":
                return Module(found.module)
            case "class":
                return Class(self._stubs.resolver.public_name(found))
            case "function":
                return Function(self._stubs.resolver.public_name(found))
            case "variable":
                return self._variable_type(found)
            case "unknown":
                return UNKNOWN

    def _variable_type(self, found: Definition) -> Type:
        dotted = self._stubs.resolver.public_name(found)
        if dtype_named(dotted):
            return Instance("torch.dtype")
        match found.nodes[-1] if found.nodes else None:
            case ast.Assign(value=ast.Attribute(value=owner, attr=attribute)):
                # `gauss = _inst.gauss`: a method of an object that the module has made.
                made = self._stubs.resolver.resolve_expression(found.module, owner)
                if made.kind == "variable":
                    method = self.member(self._variable_type(made), attribute)
                    return UNKNOWN if method is None else method
        return realise(self._stubs.variable_term(found), {})

    def names(self, owner: Type) -> frozenset[str]:
        """Every attribute that is known of the owner, for suggestions."""
        if isinstance(owner, Module):
            return frozenset(self._stubs.resolver.names(owner.name))
        term = ClassTerm(owner.name) if isinstance(owner, Class) else class_of(owner)
        order = self._stubs.order(term.name) if term else None
        return frozenset(name for info in order or () for name in (*info.members, *info.fields))

    def may_have(self, name: str, word: str) -> bool:
        """False where objects of a class surely lack an attribute that nothing else sets: no
        source of the class, nor of any that it derives from, has the word."""
        order = self._stubs.order(name)
        if order is None:
            return True
        for info in order:
            if info.name == "builtins.object":
                continue
            sources = self._stubs.resolver.sources(info.definition.module)
            if all(source.stub for source in sources):
                return True
            if info.open and info.name not in REGISTERING_CLASSES:
                return True
            if any(re.search(rf"\b{word}\b", source.text) for source in sources):
                return True
        return False

    def call(
        self,
        callee: Type,
        arguments: Sequence[Argument] = (),
        keywords: Mapping[str, Argument] | None = None,
        *,
        unpacked: bool = False,
    ) -> Type:
        """The type of the result of calling a Function, Method, Class, or an Instance with
        `__call__` (an `nn.Module` calls its `forward`). `unpacked`: there is a `**mapping`.
        """
        return self._call(callee, arguments, keywords or {}, unpacked).type

    def problem(
        self,
        callee: Type,
        arguments: Sequence[Argument] = (),
        keywords: Mapping[str, Argument] | None = None,
        *,
        unpacked: bool = False,
    ) -> CallProblem | None:
        """Why that call is certain to raise, or None."""
        found = self._call(callee, arguments, keywords or {}, unpacked).problem
        if found is None or found.kind not in ("count", "name"):
            return found
        seen = confirmed(self._stubs, callee, arguments, keywords or {}, unpacked)
        return found if seen else None

    def _call(
        self,
        callee: Type,
        arguments: Sequence[Argument],
        keywords: Mapping[str, Argument],
        unpacked: bool,
    ) -> Outcome:
        if isinstance(callee, Union):
            results = [self._call(m, arguments, keywords, unpacked) for m in callee.members]
            return Outcome(join_all(result.type for result in results))
        outcome = call(self._stubs, callee, arguments, keywords, unpacked)
        if unpacked or outcome.problem or any(argument.starred for argument in arguments):
            return outcome
        precise = self._builtin(callee, arguments, keywords)
        if precise is not None:
            return Outcome(precise)
        return self._tensor_call(callee, arguments, keywords, outcome)

    def _builtin(
        self, callee: Type, arguments: Sequence[Argument], keywords: Mapping[str, Argument]
    ) -> Type | None:
        if isinstance(callee, Function):
            rule = builtin_rules.FUNCTIONS.get(callee.name)
        elif isinstance(callee, Class):
            rule = builtin_rules.CLASSES.get(callee.name)
        else:
            return None
        if rule is None:
            return None
        asked = builtin_rules.BuiltinCall(self._stubs, arguments, keywords, self._default)
        return rule(asked)

    def _tensor_call(
        self,
        callee: Type,
        arguments: Sequence[Argument],
        keywords: Mapping[str, Argument],
        outcome: Outcome,
    ) -> Outcome:
        """Refine a call that gives a tensor (or a tensor's number) by its operator's rule."""
        match callee:
            case Method(receiver=Tensor(), name=name):
                rule = tensor_rules.METHODS.get(name)
                arguments = [Argument(callee.receiver), *arguments]
            case Function(name=dotted) if dotted.startswith("torch."):
                owner, _, name = dotted.rpartition(".")
                rule = TENSOR_FUNCTIONS.get(owner, {}).get(name)
            case Class(name="torch.nn.Parameter") if arguments:
                data = arguments[0].type
                if isinstance(data, Tensor):
                    return Outcome(Tensor(data.dtype, data.shape, True))
                return outcome
            case _:
                return outcome
        if rule is None:
            return outcome
        try:
            precise = rule(Call(arguments, keywords, self._default))
        except Mismatch as mismatch:
            return Outcome(outcome.type, mismatch_problem(mismatch))
        return outcome if precise is None else Outcome(precise)

    def binary(self, operator: str, left: Argument, right: Argument) -> Type | None:
        """`left operator right` for `+ - * / // % ** @ << >> & | ^` and the comparisons
        `< <= > >= == != in`; None where both types are known and Python raises TypeError.

        With `=` behind it (`+=`), what the augmented assignment leaves in its target: a
        tensor, list or set stays itself."""
        if operator.endswith("=") and operator not in ("==", "!=", "<=", ">="):
            if isinstance(left.type, Tensor):
                return left.type
            operator = operator[:-1]
        return infer_binary(self._stubs, operator, left, right, self._default)

    def binary_problem(
        self, operator: str, left: Argument, right: Argument
    ) -> CallProblem | None:
        """Why two tensors cannot be operands: their shapes or dtypes, where known."""
        found = tensor_problem(operator.rstrip("="), left, right, self._default)
        return None if found is None else mismatch_problem(found)

    def unary(self, operator: str, operand: Argument) -> Type | None:
        """`- + ~ not`; None as for `binary`."""
        return infer_unary(self._stubs, operator, operand.type)

    def item(self, owner: Type, index: Argument) -> Type | None:
        """`owner[index]` (a slice's type is `Instance("builtins.slice")`); None as above."""
        return infer_item(self._stubs, owner, index)

    def iterate(self, owner: Type) -> Type | None:
        """What `for x in owner` binds; None as above."""
        return infer_iteration(self._stubs, owner)

    def enter(self, owner: Type) -> Type | None:
        """What `with owner as x` binds; None as above."""
        return infer_entry(self._stubs, owner)

    def bases(self, name: str) -> tuple[str, ...] | None:
        """The canonical names of a class and all that it derives from, in method resolution
        order; None for what is not a known class or has an unknown base."""
        order = self._stubs.order(name)
        return None if order is None else tuple(info.name for info in order)


def mismatch_problem(found: Mismatch) -> CallProblem:
    return CallProblem("dtype" if found.kind == "dtype" else "shape", found.message)


def takes_tensors(dotted: str) -> int:
    """How many arguments, from the first on, a function of torch takes only as tensors; 0 for
    what is not known to take any."""
    owner, _, name = dotted.rpartition(".")
    if owner == "torch.nn.functional" and name in LOSSES:
        return 2
    return int(name in TENSOR_FUNCTIONS.get(owner, {}) and name in tensor_rules.OF_A_TENSOR)


REGISTERING_CLASSES = frozenset({"torch.nn.Module", "torch.optim.Optimizer"})
"""Classes that compute only such attributes as were set or registered before."""
TENSOR_FUNCTIONS: Mapping[str, Mapping[str, Rule]] = {
    "torch": tensor_rules.FUNCTIONS,
    "torch.nn.functional": {
        **tensor_rules.FUNCTIONS,
        **LOSSES,
        "one_hot": tensor_views.one_hot,
    },
    "torch.special": tensor_rules.UNARY,
}
"""Rules of functions, by the module and their base name."""
