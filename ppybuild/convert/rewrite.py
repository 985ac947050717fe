"""Applies a module's plan to its text, through libcst: what is not touched stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from ppybuild.convert.imports import add_imports
from ppybuild.convert.plan import FunctionEdit, ModuleEdit, Wrap
from ppybuild.graph.recursion import deep_recursion

WIDTH = 100
"""Columns beyond which a `def` is written with one parameter a line."""

LAYOUT = (cst.BaseParenthesizableWhitespace, cst.EmptyLine, cst.TrailingWhitespace)
INNER = (cst.BaseExpression, cst.Parameters)
"""Nodes without statements; only a list to promote is looked for in them."""


def rewrite(text: str, edit: ModuleEdit) -> str:
    """The module's new text."""
    with deep_recursion():
        return _rewrite(text, edit)


def _rewrite(text: str, edit: ModuleEdit) -> str:
    tree = cst.parse_module(text)
    positions: Mapping[cst.CSTNode, CodeRange] = {}
    if edit.wraps:
        wrapper = MetadataWrapper(tree, unsafe_skip_copy=True)
        positions = wrapper.resolve(PositionProvider)
        tree = wrapper.module
    rewriter = _Rewriter(edit, positions, tree.default_indent)
    changed = tree.visit(rewriter)
    assert rewriter.wraps == len(edit.wraps), "an expression to promote was not found"
    return add_imports(changed, edit.names).code


class _Rewriter(cst.CSTTransformer):
    """Numbers functions and assignments as they are met, and edits those with a plan."""

    def __init__(
        self,
        edit: ModuleEdit,
        positions: Mapping[cst.CSTNode, CodeRange],
        indent: str,
    ) -> None:
        super().__init__()
        self.edit = edit
        self.positions = positions
        self.indent = indent
        self.functions = 0
        self.assignments = 0
        self.numbers: dict[cst.CSTNode, int] = {}
        self.depth = 0
        self.wraps = 0

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, LAYOUT) or (not self.edit.wraps and isinstance(node, INNER)):
            return False
        return super().on_visit(node)

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self.numbers[node] = self.functions
        self.functions += 1

    def visit_Assign(self, node: cst.Assign) -> None:
        self.numbers[node] = self.assignments
        self.assignments += 1

    def visit_IndentedBlock(self, node: cst.IndentedBlock) -> None:
        self.depth += 1

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.BaseSuite:
        self.depth -= 1
        return updated_node

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        plan = self.edit.functions.get(self.numbers[original_node])
        if plan is None:
            return updated_node
        return _Definition(plan, self.depth * self.indent, self.indent).apply(updated_node)

    def leave_Assign(
        self, original_node: cst.Assign, updated_node: cst.Assign
    ) -> cst.BaseSmallStatement:
        text = self.edit.assignments.get(self.numbers[original_node])
        if text is None:
            return updated_node
        return cst.AnnAssign(
            target=updated_node.targets[0].target,
            annotation=cst.Annotation(cst.parse_expression(text)),
            value=updated_node.value,
            semicolon=updated_node.semicolon,
        )

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT | cst.RemovalSentinel
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        updated = super().on_leave(original_node, cast("cst.CSTNodeT", updated_node))
        if self.edit.wraps and isinstance(updated, cst.BaseExpression):
            wrap = self.edit.wraps.get(self.span(original_node))
            if wrap is not None:
                self.wraps += 1
                return cast("cst.CSTNodeT", _wrapped(updated, wrap))
        return updated

    def span(self, node: cst.CSTNode) -> tuple[int, int, int, int]:
        found = self.positions.get(node)
        if found is None:
            return (0, 0, 0, 0)
        return (found.start.line, found.start.column, found.end.line, found.end.column)


def _wrapped(value: cst.BaseExpression, wrap: Wrap) -> cst.BaseExpression:
    """`array.array("d", value)`; `array.array("d")` where the value is `[]`."""
    arguments = [cst.Arg(cst.SimpleString(f'"{wrap.typecode}"'))]
    empty = isinstance(value, cst.List) and not value.elements
    if not empty or wrap.function.endswith(".grid"):
        arguments.append(cst.Arg(value))
    return cst.Call(cst.parse_expression(wrap.function), arguments)


class _Definition:
    """Edits one `def`."""

    def __init__(self, plan: FunctionEdit, margin: str, indent: str) -> None:
        self.plan = plan
        self.margin = margin
        self.indent = indent

    def apply(self, node: cst.FunctionDef) -> cst.FunctionDef:
        parameters = self.parameters(node.params)
        changed = node.with_changes(params=parameters)
        if self.plan.result is not None:
            changed = changed.with_changes(returns=_annotation(self.plan.result, arrow=True))
        if self.plan.pure is not None:
            decorator = cst.Decorator(cst.parse_expression(self.plan.pure))
            changed = changed.with_changes(decorators=[*changed.decorators, decorator])
        if self.too_wide(changed):
            changed = self.spread(changed)
        return changed

    def parameters(self, node: cst.Parameters) -> cst.Parameters:
        star = node.star_arg
        return node.with_changes(
            posonly_params=[self.parameter(found) for found in node.posonly_params],
            params=[self.parameter(found) for found in node.params],
            star_arg=self.parameter(star) if isinstance(star, cst.Param) else star,
            kwonly_params=[self.parameter(found) for found in node.kwonly_params],
            star_kwarg=self.parameter(node.star_kwarg) if node.star_kwarg else None,
        )

    def parameter(self, node: cst.Param) -> cst.Param:
        text = self.plan.parameters.get(node.name.value)
        if text is None:
            return node
        changed = node.with_changes(annotation=_annotation(text))
        if node.default is not None:
            space = cst.SimpleWhitespace(" ")
            equal = cst.AssignEqual(whitespace_before=space, whitespace_after=space)
            changed = changed.with_changes(equal=equal)
        return changed

    def too_wide(self, node: cst.FunctionDef) -> bool:
        bare = node.with_changes(
            decorators=[], leading_lines=[], body=cst.SimpleStatementSuite([])
        )
        text = self.margin + cst.Module([bare]).code.strip()
        return "\n" not in text and len(text) > WIDTH and bool(self.plan.parameters)

    def spread(self, node: cst.FunctionDef) -> cst.FunctionDef:
        """One parameter a line, with a trailing comma."""
        parameters = node.params
        if parameters.posonly_params or parameters.kwonly_params or parameters.star_kwarg:
            return node
        if isinstance(parameters.star_arg, cst.Param) or not parameters.params:
            return node
        inner = self.line(self.margin + self.indent)
        listed = list(parameters.params)
        spread = [
            found.with_changes(comma=cst.Comma(whitespace_after=inner)) for found in listed[:-1]
        ]
        last = cst.Comma(whitespace_after=self.line(self.margin))
        spread.append(listed[-1].with_changes(comma=last))
        return node.with_changes(
            whitespace_before_params=inner, params=parameters.with_changes(params=spread)
        )

    @staticmethod
    def line(indent: str) -> cst.ParenthesizedWhitespace:
        return cst.ParenthesizedWhitespace(indent=False, last_line=cst.SimpleWhitespace(indent))


def _annotation(text: str, *, arrow: bool = False) -> cst.Annotation:
    expression = cst.parse_expression(text)
    if arrow:
        return cst.Annotation(expression, whitespace_before_indicator=cst.SimpleWhitespace(" "))
    return cst.Annotation(expression)
