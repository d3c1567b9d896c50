"""What xDSL's reader loses or does not know of functions and calls.

It forgets the attributes of the parameters of functions that are declared without names,
`func.func private @f(i32 {llvm.signext})`, and has no property `no_inline`.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser
from xdsl.utils.lexer import Position
from xdsl.utils.mlir_lexer import MLIRTokenKind

__all__ = ["read_no_inline", "read_parameter_attributes"]

# pyright: reportPrivateUsage=false


def read_parameter_attributes(parser: Parser, op: Operation, start: Position) -> None:
    """Set the attributes of the parameters of a function without a body, which was parsed from
    `start` on; the text that follows it is parsed next."""
    if not isinstance(op, FuncOp) or op.body.blocks or "arg_attrs" in op.properties:
        return
    end = parser.pos
    if "{" not in parser.lexer.input.content[start:end]:
        return
    parser._resume_from(start)
    while parser._current_token.kind is not MLIRTokenKind.L_PAREN:
        parser._consume_token()
    paren = parser.Delimiter.PAREN
    found = parser.parse_comma_separated_list(paren, lambda: _parse_parameter(parser))
    parser._resume_from(end)
    if any(found):
        op.properties["arg_attrs"] = ArrayAttr([DictionaryAttr(each) for each in found])


def read_no_inline(op: Operation) -> None:
    """Make the property `no_inline` of a function or call, of the generic form, the attribute that
    it is read as in the custom form."""
    if isinstance(op, FuncOp | CallOp):
        op.attributes["no_inline"] = op.properties.pop("no_inline")


def _parse_parameter(parser: Parser) -> Mapping[str, Attribute]:
    """Parse a parameter, and return its attributes."""
    if parser.parse_optional_argument() is None:  # of those with names, xDSL keeps the attributes
        parser.parse_type()
    attributes = parser.parse_optional_dictionary_attr_dict()
    parser.parse_optional_location()
    return attributes
