"""The loop IR as text, for golden cases and `--verbose`.

def app.scale(out: buffer f64 writable, by: f64) -> None
  local i: i64
  for i in range(0, len(out), 1):
    check at = index(i, len(out))
    out[at] = mul.f64(out[at], by)
"""

from __future__ import annotations

from typing import assert_never

from ppybuild.emit.loops import ir


def dump(function: ir.Function) -> str:
    """One function, a line per statement, ending in a newline."""
    parameters = ", ".join(_parameter(each) for each in function.parameters)
    lines = [f"def {function.name}({parameters}) -> {_result(function.result)}"]
    lines += [f"  local {name}: {type_.value}" for name, type_ in function.locals]
    lines += [f"  own {each.name}: buffer {each.element.value}" for each in function.buffers]
    lines += _block(function.body, "  ")
    return "\n".join(lines) + "\n"


def dump_expr(expr: ir.Expr) -> str:
    """An expression, operators by their names in `ops`."""
    match expr:
        case ir.Const(value, _):
            return repr(value)
        case ir.Var(name, _):
            return name
        case ir.Op(name, args, _):
            return f"{name}({', '.join(map(dump_expr, args))})"
        case ir.Select(condition, then, orelse, _):
            return f"select({dump_expr(condition)}, {dump_expr(then)}, {dump_expr(orelse)})"
        case ir.Load(buffer, index, _):
            return f"{buffer}[{dump_expr(index)}]"
        case ir.Length(buffer, _):
            return f"len({buffer})"
        case ir.Disjoint(first, second, _):
            return f"disjoint({first}, {second})"
        case ir.Elements(buffer, start, length):
            if start is None or length is None:
                return f"{buffer}[:]"
            return f"{buffer}[{dump_expr(start)}:+{dump_expr(length)}]"
        case _:
            assert_never(expr)


def _parameter(parameter: ir.Parameter) -> str:
    match parameter:
        case ir.ScalarParameter(name, type_):
            return f"{name}: {type_.value}"
        case ir.BufferParameter(name, element, writable, holder):
            notes = f"{' writable' if writable else ''}{f' of a {holder}' if holder else ''}"
            return f"{name}: buffer {element.value}{notes}"
        case ir.GridParameter(name, element, writable):
            return f"{name}: grid {element.value}{' writable' if writable else ''}"
        case ir.TupleParameter(name, items):
            return f"{name}: ({', '.join(map(_parameter, items))})"
        case _:
            assert_never(parameter)


def _result(result: ir.Result) -> str:
    match result:
        case None:
            return "None"
        case ir.TupleResult(items):
            return f"({', '.join(map(_result, items))})"
        case ir.ArrayResult(element, holder):
            return f"{holder} of {element.value}"
        case _:
            return result.value


def _block(block: ir.Block, indent: str) -> list[str]:
    if not block:
        return [f"{indent}pass"]
    return [line for statement in block for line in _statement(statement, indent)]


def _statement(statement: ir.Statement, indent: str) -> list[str]:
    match statement:
        case ir.If(condition, then, orelse, _):
            lines = [f"if {dump_expr(condition)}:", *_block(then, "  ")]
            lines += ["else:", *_block(orelse, "  ")] if orelse else []
        case ir.For(target, start, stop, step, body, orelse, _, independent, unrolled):
            bounds = ", ".join(map(dump_expr, (start, stop, step)))
            notes = ("independent",) * independent + ("unrolled",) * unrolled
            note = f"  # {', '.join(notes)}" if notes else ""
            lines = [f"for {target} in range({bounds}):{note}", *_block(body, "  ")]
            lines += ["else:", *_block(orelse, "  ")] if orelse else []
        case ir.While(test, condition, body, orelse, _):
            lines = ["while:", *(_block(test, "  ") if test else [])]
            lines += [f"test {dump_expr(condition)}:", *_block(body, "  ")]
            lines += ["else:", *_block(orelse, "  ")] if orelse else []
        case ir.Versioned(condition, fast, checked, _):
            lines = [f"fast if {dump_expr(condition)}:", *_block(fast, "  ")]
            lines += ["checked:", *_block(checked, "  ")]
        case _:
            return [indent + _simple(statement)]
    return [indent + line for line in lines]


def _simple(
    statement: ir.Assign
    | ir.Checked
    | ir.Guard
    | ir.Store
    | ir.Make
    | ir.Resize
    | ir.Swap
    | ir.Save
    | ir.Call
    | ir.Break
    | ir.Continue
    | ir.Return,
) -> str:
    match statement:
        case ir.Assign(target, value, _):
            return f"{target} = {dump_expr(value)}"
        case ir.Checked(target, op, args, _):
            return f"check {target} = {op}({', '.join(map(dump_expr, args))})"
        case ir.Guard(condition, kind, _):
            return f"guard {dump_expr(condition)}  # {kind}"
        case ir.Store(buffer, index, value, _):
            return f"{buffer}[{dump_expr(index)}] = {dump_expr(value)}"
        case ir.Make(buffer, length, _):
            return f"make {buffer}[{dump_expr(length)}]"
        case ir.Resize(buffer, length, _):
            return f"resize {buffer}[{dump_expr(length)}]"
        case ir.Swap(first, second, _):
            return f"swap {first}, {second}"
        case ir.Save(buffers):
            return f"save {', '.join(buffers)}"
        case ir.Call(targets, function, args, _):
            shown = ", ".join(
                each if isinstance(each, str) else dump_expr(each) for each in args
            )
            return (
                f"{', '.join(targets)} = call {function}({shown})"
                if targets
                else f"call {function}({shown})"
            )
        case ir.Break():
            return "break"
        case ir.Continue():
            return "continue"
        case ir.Return(values, _):
            return f"return {', '.join(map(dump_expr, values))}".rstrip()
        case _:
            assert_never(statement)
