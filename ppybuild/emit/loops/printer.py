"""Loop IR as C that a person can read: one kernel per function.

Kernels need `ppy_kernel.h` and nothing of Python. Their interface is in
`docs/architecture.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import assert_never

from ppybuild.emit.loops import ir
from ppybuild.emit.loops.c_expr import C_ELEMENTS, C_TYPES, Names, print_expr
from ppybuild.emit.loops.c_loops import LoopVariable, plan_counted_loop
from ppybuild.emit.loops.c_names import c_names
from ppybuild.emit.loops.depth import Depth, callees, plan_depths
from ppybuild.emit.loops.fixed import Fixed
from ppybuild.emit.loops.ops import CHECKED
from ppybuild.emit.loops.polling import WHILE_TURNS, is_small, polls, turn_weight
from ppybuild.emit.loops.scopes import Scopes, plan_scopes
from ppybuild.emit.loops.verify import always_fails, flat_parameters, flat_result, has_break
from ppybuild.emit.names import kernel_name

HEADER = "ppy_kernel.h"
_WIDTH = 96  # columns before a parameter list is broken


def print_source(
    names: Sequence[str],
    functions: Mapping[str, ir.Function],
    path: str,
    fixed: Mapping[str, Fixed] = MappingProxyType({}),
) -> str:
    """The C file with the kernels of these functions, all from the source file `path`.

    `functions` holds every native function of the program; `fixed`: see there.
    """
    called = {callee for name in names for callee in callees(functions[name].body)}
    declared = [name for name in functions if name in called or name in names]
    depths = plan_depths(functions, names)
    pieces = [f'#include "{HEADER}"\n']
    pieces.append("".join(f"{print_prototype(functions[name])};\n" for name in declared))
    pieces += [
        print_kernel(functions[name], path, functions, depths, fixed.get(name))
        for name in names
    ]
    return "\n".join(pieces)


def print_prototype(function: ir.Function) -> str:
    """The kernel's declaration, without a semicolon."""
    names = c_names(_all_names(function))
    parameters = ["ppy_run *run"]
    for parameter in flat_parameters(function.parameters):
        if isinstance(parameter, ir.BufferParameter):
            parameters.append(f"ppy_{parameter.element.value} {names[parameter.name]}")
        else:
            parameters.append(f"{C_TYPES[parameter.type]} {names[parameter.name]}")
    results = flat_result(function.result)
    for type_, name in zip(results, _result_names(len(results)), strict=True):
        parameters.append(f"{result_type(type_)} *{name}")
    head = f"int {kernel_name(function.name)}("
    line = f"{head}{', '.join(parameters)})"
    if len(line) <= _WIDTH:
        return line
    return head + "\n    " + ",\n    ".join(parameters) + ")"


def result_type(result: ir.Type | ir.ArrayResult) -> str:
    """The C type that a kernel stores this part of its result in."""
    if isinstance(result, ir.ArrayResult):
        return f"ppy_{result.element.value}"
    return C_TYPES[result]


def print_kernel(
    function: ir.Function,
    path: str,
    functions: Mapping[str, ir.Function],
    depths: Mapping[str, Depth],
    fixed: Fixed | None = None,
) -> str:
    """The kernel's definition."""
    text = _Kernel(function, path, functions, depths).print()
    return text if not fixed else _print_twice(function, text, fixed)


def _print_twice(function: ir.Function, kernel: str, fixed: Fixed) -> str:
    """The kernel as two copies of its body, one for the values that calls pass."""
    names = c_names(_all_names(function))
    parameters = [names[each.name] for each in flat_parameters(function.parameters)]
    results = list(_result_names(len(flat_result(function.result))))
    values = {names[name]: str(value) for name, value in fixed.items()}
    name = kernel_name(function.name)
    known = ["run", *(values.get(each, each) for each in parameters), *results]
    any_ = ["run", *parameters, *results]
    test = " && ".join(f"{name} == {value}" for name, value in values.items())
    return (
        kernel.replace(f"\nint {name}(", f"\nstatic PPY_INLINE int {name}_body(", 1)
        + f"\n{print_prototype(function)} {{\n"
        + "    /* what the program's calls pass */\n"
        + f"    if ({test}) return {name}_body({', '.join(known)});\n"
        + f"    return {name}_body({', '.join(any_)});\n}}\n"
    )


def _all_names(function: ir.Function) -> list[str]:
    parameters = [each.name for each in flat_parameters(function.parameters)]
    own = [each.name for each in function.buffers]
    return [*parameters, *own, *(name for name, _ in function.locals)]


def _result_names(count: int) -> Iterable[str]:
    return ["result"] if count == 1 else [f"result_{number}" for number in range(count)]


class _Kernel:
    """Prints one function; holds the lines so far and their indentation."""

    def __init__(
        self,
        function: ir.Function,
        path: str,
        functions: Mapping[str, ir.Function],
        depths: Mapping[str, Depth],
    ) -> None:
        self.function = function
        self.path = path.replace("*/", "* /")
        self.functions = functions
        self.depths = depths
        parameters = flat_parameters(function.parameters)
        buffers = [each for each in parameters if isinstance(each, ir.BufferParameter)]
        elements = {each.name: each.element for each in buffers}
        elements |= {each.name: each.element for each in function.buffers}
        self.names = Names(c_names(_all_names(function)), elements)
        self.types = dict(function.locals)
        self.scopes: Scopes = plan_scopes(function)
        self.declared: list[set[str]] = []  # per open block of C
        self.breaks: list[str] = []  # per open loop: what leaves it
        self.labels = 0
        self.loops = 0
        results = flat_result(function.result)
        gives_own = any(isinstance(each, ir.ArrayResult) for each in results)
        self.unmakes = bool(function.buffers) and not gives_own
        """Whether what was made goes with the call; else Python's side ends it."""
        self.lines: list[str] = []
        self.indent = 0

    # Lines

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text if text else "")

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.line(f"{head} {{" if head else "{")
        self.indent += 1
        self.declared.append(set())
        yield
        self.declared.pop()
        self.indent -= 1
        self.line("}")

    def at(self, location: ir.Location) -> str:
        return f"{self.path}:{location.line}"

    def expr(self, expr: ir.Expr) -> str:
        return print_expr(expr, self.names)

    # The function

    def print(self) -> str:
        function = self.function
        self.line(f"/* {function.name.replace('*/', '* /')}, {self.at(function.location)} */")
        *first, last = print_prototype(function).split("\n")
        self.lines += first
        with self.block(last):
            body = self.body_lines()
            self.unused_parameters(body)
            self.lines += body
        return "\n".join(self.lines) + "\n"

    def body_lines(self) -> list[str]:
        """The lines of the body, printed apart so that what they use is known."""
        before, self.lines = self.lines, []
        for each in self.function.buffers:
            name = self.names.variables[each.name]
            self.line(f"ppy_{each.element.value} {name} = {{NULL, 0}};")
        if self.unmakes:
            self.line("ppy_made *const made_before = run->made;")
        for name in self.scopes.top:
            zero = {ir.Type.I64: "0", ir.Type.F64: "0.0", ir.Type.BOOL: "false"}
            type_ = self.types[name]
            self.line(f"{C_TYPES[type_]} {self.names.variables[name]} = {zero[type_]};")
            self.void_if_unread(0, name)
        self.enter()
        self.statements(self.function.body)
        if self.function.result is None:
            self.leave()
        body, self.lines = self.lines, before
        return body

    def unused_parameters(self, body: list[str]) -> None:
        text = "\n".join(body)
        names = ["run"] + [
            self.names.variables[each.name]
            for each in flat_parameters(self.function.parameters)
        ]
        names += _result_names(len(flat_result(self.function.result)))
        for name in names:
            if not _mentions(text, name):
                self.line(f"(void){name};")

    def enter(self) -> None:
        depth = self.depths[self.function.name]
        if depth.recursive:
            self.line("PPY_TICK(run, 1);")
        if depth.recursive or depth.height > 0:
            self.line(f"PPY_GUARD(run->depth >= {depth.height}); /* recursion limit */")

    # Statements

    def statements(self, block: ir.Block) -> None:
        for statement in block:
            self.statement(statement)

    def statement(self, statement: ir.Statement) -> None:
        match statement:
            case ir.Assign(target, value, _):
                name = self.names.variables[target]
                if self.declares(statement, target):
                    const = "const " if target in self.scopes.once else ""
                    type_ = C_TYPES[self.types[target]]
                    self.line(f"{const}{type_} {name} = {self.expr(value)};")
                    self.void_if_unread(id(statement), target)
                else:
                    self.line(f"{name} = {self.expr(value)};")
            case ir.Checked():
                self.checked(statement)
            case ir.Guard(condition, kind, location):
                note = f"/* {self.at(location)}: {kind} */"
                if always_fails(statement):
                    self.line(f"return PPY_ABANDON; {note}")
                else:
                    self.line(f"PPY_GUARD({self.expr(condition)}); {note}")
            case ir.Store(buffer, index, value, _):
                element = self.names.elements[buffer]
                plain = element in (ir.Element.F64, ir.Element.I64)
                text = self.expr(value)
                shown = text if plain else f"({C_ELEMENTS[element]})({text})"
                self.line(f"{self.names.variables[buffer]}.data[{self.expr(index)}] = {shown};")
            case ir.Make(buffer, length, _):
                self.line(
                    f"PPY_MAKE(run, {self.names.variables[buffer]}, {self.expr(length)});"
                )
            case ir.Resize(buffer, length, _):
                name = self.names.variables[buffer]
                self.line(f"PPY_RESIZE(run, {name}, {self.expr(length)});")
            case ir.Swap(first, second, _):
                one, two = self.names.variables[first], self.names.variables[second]
                type_ = f"ppy_{self.names.elements[first].value}"
                with self.block(""):
                    self.line(f"const {type_} swapped = {one};")
                    self.line(f"{one} = {two};")
                    self.line(f"{two} = swapped;")
            case ir.Save(buffers):
                for buffer in buffers:
                    name = self.names.variables[buffer]
                    self.line(f"PPY_GUARD(ppy_save(run, {name}.data, PPY_BYTES({name})));")
            case ir.Call():
                self.call(statement)
            case ir.If(condition, then, orelse, _):
                self.branches(self.expr(condition), then, orelse)
            case ir.Versioned(condition, fast, checked, location):
                self.line(f"/* {self.at(location)}: without checks where none can fail */")
                self.branches(self.expr(condition), fast, checked)
            case ir.For():
                self.for_loop(statement)
            case ir.While():
                self.while_loop(statement)
            case ir.Break():
                self.line(self.breaks[-1])
            case ir.Continue():
                self.line("continue;")
            case ir.Return(values, _):
                for name, value in zip(_result_names(len(values)), values, strict=True):
                    self.line(f"*{name} = {self.expr(value)};")
                self.leave()
            case _:
                assert_never(statement)

    def leave(self) -> None:
        if self.unmakes:
            self.line("ppy_unmake(run, made_before);")
        self.line("return PPY_OK;")

    def declares(self, statement: ir.Statement, target: str) -> bool:
        """Whether this statement declares its target; says so only once a block."""
        if target not in self.scopes.first.get(id(statement), ()):
            return False
        if any(target in each for each in self.declared):
            return False
        self.declared[-1].add(target)
        return True

    def declare(self, statement: ir.Statement, target: str) -> None:
        """Declare the target ahead of a statement that stores through its address."""
        if self.declares(statement, target):
            self.line(f"{C_TYPES[self.types[target]]} {self.names.variables[target]};")
            self.void_if_unread(id(statement), target)

    def void_if_unread(self, statement: int, name: str) -> None:
        if (statement, name) in self.scopes.unread:
            self.line(f"(void){self.names.variables[name]};")

    def checked(self, checked: ir.Checked) -> None:
        self.declare(checked, checked.target)
        row = CHECKED[checked.op]
        args = [self.expr(arg) for arg in checked.args]
        if row.many:
            args = [f"(ppy_f64){{(double[]){{{', '.join(args)}}}, {len(args)}}}"]
        if row.asks:
            args.insert(0, "run")
        args.append(f"&{self.names.variables[checked.target]}")
        call = f"{row.c}({', '.join(args)})"
        self.line(f"PPY_GUARD({call}); /* {self.at(checked.location)}: {checked.op} */")

    def call(self, call: ir.Call) -> None:
        """Results pass through fresh variables: locals keep to registers."""
        for target in call.targets:
            self.declare(call, target)
        callee = self.functions[call.function]
        counted = self.depths[call.function].counted
        with self.block("") if call.targets else _no_block():
            results = [f"result_{number}" for number in range(len(call.targets))]
            for name, type_ in zip(results, flat_result(callee.result), strict=True):
                self.line(f"{result_type(type_)} {name};")
            args = ["run"]
            args += [
                self.names.variables[arg] if isinstance(arg, str) else self.expr(arg)
                for arg in call.args
            ]
            args += [f"&{name}" for name in results]
            if counted:
                self.line("run->depth--;")
            kernel = kernel_name(call.function)
            note = f"/* {self.at(call.location)} */"
            self.line(f"PPY_CALL({kernel}({', '.join(args)})); {note}")
            if counted:
                self.line("run->depth++;")
            for target, name in zip(call.targets, results, strict=True):
                self.line(f"{self.names.variables[target]} = {name};")

    def branches(self, condition: str, then: ir.Block, orelse: ir.Block) -> None:
        with self.block(f"if ({condition})"):
            self.statements(then)
        if not orelse:
            return
        self.lines.pop()
        with self.block("} else"):
            self.statements(orelse)

    # Loops

    @contextmanager
    def loop(self, block: ir.Block, orelse: ir.Block, nested: bool) -> Iterator[None]:
        """Around a loop: where `break` goes. `nested`: C has two loops for it."""
        needs_label = (nested or bool(orelse)) and has_break(block)
        if needs_label:
            self.labels += 1
        label = f"done_{self.labels}"
        self.breaks.append(f"goto {label};" if needs_label else "break;")
        yield
        self.breaks.pop()
        self.statements(orelse)
        if needs_label:
            self.line(f"{label}:;")

    def while_loop(self, loop: ir.While) -> None:
        self.loops += 1
        turn = f"while_turn_{self.loops}"
        inside = loop.test + loop.body
        in_blocks = not polls(inside)
        head = f"for (uint64_t {turn} = 1;; {turn}++)" if in_blocks else "for (;;)"
        weight = turn_weight(inside)
        self.line(f"/* {self.at(loop.location)} */")
        with self.loop(loop.body, loop.orelse, nested=False), self.block(head):
            self.statements(loop.test)
            if loop.condition != ir.Const(True, ir.Type.BOOL):
                self.line(f"if (!({self.expr(loop.condition)})) break;")
            if in_blocks:
                charge = f"PPY_TICK(run, {WHILE_TURNS * weight});"
                self.line(f"if ({turn} % {WHILE_TURNS} == 0) {charge}")
            else:
                self.line(f"PPY_TICK(run, {weight});")
            self.statements(loop.body)

    def for_loop(self, loop: ir.For) -> None:
        self.loops += 1
        variable = LoopVariable(
            self.names.variables[loop.target],
            private=loop.target in self.scopes.private,
        )
        shape = plan_counted_loop(loop, variable, self.loops, self.expr)
        small, in_blocks = is_small(loop), not polls(loop.body)
        self.line(f"/* {self.at(loop.location)} */")
        for line in shape.bounds:
            self.line(line)
        with self.loop(loop.body, loop.orelse, nested=in_blocks and not small):
            if small:
                self.turns(loop, shape.plain, shape.bind)
            elif in_blocks:
                with self.block(shape.blocks):
                    for line in shape.block_bounds:
                        self.line(line)
                    self.turns(loop, shape.inner, shape.bind)
                    self.line(shape.block_step)
            else:
                tick = f"PPY_TICK(run, {turn_weight(loop.body)});"
                self.turns(loop, shape.plain, (*shape.bind, tick))

    def turns(self, loop: ir.For, head: str, first: tuple[str, ...]) -> None:
        if loop.independent:
            self.line("#pragma GCC ivdep")
        if loop.unrolled:
            self.line("#pragma GCC unroll 2")
        with self.block(head):
            for line in first:
                self.line(line)
            self.statements(loop.body)


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", text) is not None


@contextmanager
def _no_block() -> Iterator[None]:
    yield
