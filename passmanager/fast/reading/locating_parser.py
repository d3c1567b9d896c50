"""A parser of IR that adds to xDSL's: source locations of ops, and positions in error messages.

It uses the protected members that xDSL's parser offers to subclasses: the tokens, and the methods
that are called at the start of an op's name, a block argument, an operand, a type or a resource.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NoReturn, cast

from xdsl.context import Context
from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    DictionaryAttr,
    FileLineColLoc,
    FusedLoc,
    LocationAttr,
    ModuleOp,
    NoneAttr,
    UnregisteredOp,
)
from xdsl.ir import (
    Attribute,
    AttributeInvT,
    Block,
    BlockArgument,
    Data,
    Operation,
    ParametrizedAttribute,
    SSAValue,
)
from xdsl.irdl import IRDLOperation
from xdsl.parser import ForwardDeclaredValue, ParserState, UnresolvedOperand
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Position, Span
from xdsl.utils.mlir_lexer import MLIRToken, MLIRTokenKind

from ...ir.text.custom_forms import add_implicit_terminators
from ...ir.text.printer import ELIDED, dense_of, wants_dense
from ...ir.text.syntax_errors import end_of_code, not_a_number, with_note
from ...limits import DEFAULT_MAX_ELEMENTS
from ...names import closest_name, did_you_mean
from .declarations import read_no_inline, read_parameter_attributes
from .line_table import Lines
from .literal_parser import LiteralParser

# pyright: reportPrivateUsage=false


MAX_SIZE = 1 << 20
"""The limit on the types and attributes that an alias stands for."""

MAX_DISTANCE = 1 << 16
"""The number of characters before a name in which similar names are looked for."""


class LocatingParser(LiteralParser):
    """A parser that gives ops and block arguments their source locations, as mlir-opt does.

    The location of an op is that of its name. A `loc(...)` in the text takes precedence.
    """

    max_elements = DEFAULT_MAX_ELEMENTS
    """The most elements of a constant."""

    def __init__(self, ctx: Context, text: str, name: str, line_offset: int = 0) -> None:
        self._lines = Lines(text, name, line_offset)
        self._names: list[int] = []  # the starts of the names of the ops being parsed, outer first
        self._parsed_name = 0  # the start of the name of the op that was parsed last
        self._parsed_location: LocationAttr | None = None  # its location, if the text gives one
        self._first_uses: dict[SSAValue, Span] = {}  # of values that are not defined yet
        self._handles: dict[tuple[str, str], str] = {}  # of resources: (dialect, name in the file)
        self._references: dict[str, Span] = {}  # the first reference to each handle
        self._waiting: list[tuple[IRDLOperation, str]] = []  # properties that need a resource
        self._alias_sizes: dict[int, int] = {}
        super().__init__(ctx, text, name)

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        """Return the module of the whole input, which may be empty; an error for a value without
        definition.
        """
        ops = self._parse_top_level()
        self._check_defined()
        self._set_elements()
        if len(ops) == 1 and isinstance(module := ops[0], ModuleOp):
            return module
        if not allow_implicit_module:
            self.raise_error("builtin.module operation expected", 0)
        module = ModuleOp(ops)
        module.location = self._lines.start_of_file
        return module

    def _parse_top_level(self) -> list[Operation]:
        ops: list[Operation] = []
        while (kind := self._current_token.kind) is not MLIRTokenKind.EOF:
            if kind in (MLIRTokenKind.HASH_IDENT, MLIRTokenKind.EXCLAMATION_IDENT):
                self._parse_alias_def()
            elif kind is MLIRTokenKind.FILE_METADATA_BEGIN:
                self._parse_file_metadata_dictionary()
            elif (op := self.parse_optional_operation()) is not None:
                ops.append(op)
            else:
                found = self._current_token
                self.raise_error(f"expected an operation, but found '{found.text}'", found.span)
        return ops

    # Errors

    @property
    def open_ops(self) -> Sequence[Position]:
        """The starts of the names of the ops being parsed, outer ones first."""
        return self._names

    @property
    def token_span(self) -> Span:
        """The place of the next token."""
        return self._current_token.span

    def span_of_op(self) -> Span:
        """Return the place of the name of the op being parsed."""
        start = self._names[-1] if self._names else self.pos
        match = _op_name(self.lexer.input.content, start)
        return Span(start, start if match is None else match.end(), self.lexer.input)

    def parse_alias_at(self, position: Position) -> None:
        """Parse the definition of an alias at a position, after an error."""
        self.restart_at(position)
        self._parse_alias_def()

    def restart_at(self, position: Position) -> None:
        """Forget all names of values and blocks, and parse from a position on, after an error."""
        lexer = type(self.lexer)(self.lexer.input)
        lexer.pos = position
        self._names.clear()
        self.ssa_values.clear()
        self.forward_ssa_references.clear()
        self.blocks, self.forward_block_references = {}, defaultdict(list)
        self._parser_state = ParserState(lexer)

    def raise_error(
        self,
        msg: str,
        at_position: Span | Position | None = None,
        end_position: Position | None = None,
    ) -> NoReturn:
        if at_position is None and self._current_token.kind is not MLIRTokenKind.CARET_IDENT:
            # What is expected and missing at the end of a line is reported there.
            start = self._current_token.span.start
            if (end := end_of_code(self.lexer.input.content, start)) < start:
                at_position = end
        if end_position is not None and isinstance(at_position, int):
            super().raise_error(msg, at_position, end_position)
        super().raise_error(msg, at_position)

    def _parse_token(self, expected_kind: MLIRTokenKind, error_msg: str) -> MLIRToken:
        if (token := self._parse_optional_token(expected_kind)) is None:
            self.raise_error(error_msg)
        return token

    def _raise_defined(self, message: str, span: Span, first: Span | None) -> NoReturn:
        raise with_note(message, span, first, "first defined here")

    def _raise_not_in_region(self) -> NoReturn:
        """Raise the error for a token in a region that begins no op and no block."""
        token, text = self._current_token, self.lexer.input.content
        opened = self._open_brace(token.span.start)
        span, message = token.span, f"expected an operation or '}}', but found '{token.text}'"
        if token.kind is MLIRTokenKind.EOF:
            end = end_of_code(text, span.start)
            span, message = Span(end, end, self.lexer.input), "expected '}', but the file ends"
        raise with_note(message, span, opened, "the region begins here")

    def _open_brace(self, end: Position) -> Span | None:
        """Return the last brace before `end` that is not closed, of the ops being parsed."""
        lexer = type(self.lexer)(self.lexer.input)
        lexer.pos, braces = self._names[-1] if self._names else 0, list[Span]()
        while (token := lexer.lex()).span.start < end:
            if token.kind is MLIRTokenKind.L_BRACE:
                braces.append(token.span)
            elif token.kind is MLIRTokenKind.R_BRACE:
                del braces[-1:]
        return braces[-1] if braces else None

    def _check_defined(self, start: Position = 0) -> None:
        """Raise ParseError for the first use, from `start` on, of a value that is not defined."""
        undefined = [
            span
            for values in self.forward_ssa_references.values()
            for value in values.values()
            if (span := self._first_uses[value]).start >= start
        ]
        if undefined:
            span = min(undefined, key=lambda span: span.start)
            message = f"use of undeclared SSA value name {span.text}"
            self.raise_error(f"{message}{self._defined_name(span, start)}", span)

    def _defined_name(self, span: Span, start: Position) -> str:
        """Return `, did you mean '%x'?` with the nearest defined name between `start` and a use."""
        if span.text[1:].isdigit():  # all numbers are near each other
            return ""
        before = max(start, span.start - MAX_DISTANCE)
        names = {*_value_name(self.lexer.input.content, before, span.start)}
        return did_you_mean(span.text, names - {f"%{n}" for n in self.forward_ssa_references})

    # Aliases, each of which may use others twice: as text they double with each

    def _parse_alias_def(self) -> None:
        token = self._current_token
        if token.text in self.attribute_aliases:
            first = re.search(
                rf"^[ \t]*({re.escape(token.text)})\s*=", token.span.input.content, re.M
            )
            place = None if first is None else Span(*first.span(1), token.span.input)
            self._raise_defined(f"re-declaration of alias '{token.text}'", token.span, place)
        if "." in token.text:
            kind = "type" if token.text.startswith("!") else "attribute"
            message = f"expected a name without '.' for an alias, but found '{token.text}'"
            self.raise_error(f"{message}: that is a {kind} of a dialect", token.span)
        super()._parse_alias_def()
        size = self._size_of(value := self.attribute_aliases[token.text])
        if size > MAX_SIZE:
            message = f"alias '{token.text}' stands for more than {MAX_SIZE} types and attributes"
            self.raise_error(message, token.span)
        self._alias_sizes[id(value)] = size

    def _size_of(self, value: Attribute) -> int:
        """Return the number of types and attributes in `value`, of aliases as often as they are
        used.
        """
        size, pending = 0, [value]
        while pending:
            attribute = pending.pop()
            if (known := self._alias_sizes.get(id(attribute))) is not None:
                size += known
                continue
            size += 1
            if isinstance(attribute, ParametrizedAttribute):
                pending += attribute.parameters
            elif isinstance(attribute, ArrayAttr):
                pending += cast(ArrayAttr[Attribute], attribute).data
            elif isinstance(attribute, DictionaryAttr):
                pending += attribute.data.values()
        return size

    # Resources, whose elements come at the end of the file

    def _parse_dialect_resource_handle(
        self, dialect_name: str, interface: OpAsmDialectInterface
    ) -> str:
        return self.parse_handle(dialect_name, interface)

    def parse_handle(self, dialect_name: str, interface: OpAsmDialectInterface) -> str:
        """Parse the key of a resource of a dialect, and return the handle of the resource."""
        span = self._current_token.span
        key = self.parse_identifier(context_msg=" for resource handle")
        if key == ELIDED:
            handle = key  # no resource: the name itself is kept
        elif (handle := self._handles.get((dialect_name, key))) is None:
            handle = interface.declare_resource(key)
        # xDSL renames a resource whose name an earlier file used, and forgets the new name.
        self._handles[dialect_name, key] = handle
        self._references.setdefault(handle, span)
        return handle

    def _await_elements(self, op: Operation) -> None:
        for name, value in op.properties.items():
            if (
                isinstance(value, DenseResourceAttr)
                and isinstance(op, IRDLOperation)
                and wants_dense(op, name)
            ):
                self._waiting.append((op, name))

    def _set_elements(self) -> None:
        """Set the elements of the constants that were given as resources, in ops that need dense
        constants.
        """
        for op, name in self._waiting:
            value = op.properties[name]
            assert isinstance(value, DenseResourceAttr)
            op.properties[name] = self._elements(value)

    def _elements(self, value: DenseResourceAttr) -> DenseIntOrFPElementsAttr:
        handle = value.resource_handle.data
        span = self._references[handle]
        if handle == ELIDED:
            self.raise_error(
                "the elements of this constant were left out when the file was written "
                "(--elide-elementsattrs-if-larger)",
                span,
            )
        interface = self.ctx.get_dialect("builtin").get_interface(OpAsmDialectInterface)
        text = interface.lookup(handle) if interface is not None else None
        if not text:
            self.raise_error(f"resource '{span.text}' is not defined in this file", span)
        try:
            return dense_of(value.type, text)
        except ValueError as error:
            self.raise_error(f"resource '{span.text}' {error}", span)

    # Locations

    def _parse_location(self) -> LocationAttr:
        if self._current_token.text == "fused":
            return self._parse_fused_location()
        location = super()._parse_location()
        # xDSL has no ranges of lines and columns: of `"x":3:4 to 5:6`, the start is kept.
        if isinstance(location, FileLineColLoc) and self.parse_optional_keyword("to") is not None:
            if self.parse_optional_punctuation(":") is None:
                self.parse_integer(False, False)
                if self.parse_optional_punctuation(":") is None:
                    return location
            self.parse_integer(False, False)
        return location

    def _parse_fused_location(self) -> LocationAttr:
        """Parse a location of several parts, which may have metadata, as `fused<"x">[...]`."""
        self._consume_token()
        metadata: Attribute = NoneAttr()
        if self.parse_optional_punctuation("<") is not None:
            metadata = self.parse_attribute()
            self.parse_punctuation(">")
        parts = self.parse_comma_separated_list(self.Delimiter.SQUARE, self._parse_location)
        return FusedLoc(tuple(parts), metadata)

    def parse_operation(self) -> Operation:
        op = super().parse_operation()
        if self._handles:
            self._await_elements(op)
        if self.forward_ssa_references and op.has_trait(
            IsolatedFromAbove, value_if_unregistered=False
        ):
            self._check_defined(self._names[-1])
        self._parsed_name = self._names.pop()
        if op.regions and self.lexer.input.content[self._parsed_name] != '"':
            add_implicit_terminators(op)
            read_parameter_attributes(self, op, self._parsed_name)
        if "no_inline" in op.properties:
            read_no_inline(op)
        self._parsed_location = None if op.location is UNKNOWN_LOC else op.location
        if op.location is UNKNOWN_LOC:
            op.location = self._lines.location(self._parsed_name)
        return op

    def _parse_op_result(self) -> tuple[Span, int]:
        name, count = super()._parse_op_result()
        if count == 0:
            span = Span(name.start, self.pos, self.lexer.input)
            self.raise_error(f"expected at least 1 result for {name.text}, but found 0", span)
        return name, count

    def _parse_op_result_list(self) -> list[tuple[Span, int]]:
        results = super()._parse_op_result_list()
        self._names.append(self._parser_state.current_token.span.start)
        return results

    def _get_op_by_name(self, name: str) -> type[Operation]:
        dialects = self._parser_state.dialect_stack
        found = self.ctx.get_optional_op(name, dialect_stack=dialects)
        start = self._names[-1]
        span = Span(start, start + len(name), self.lexer.input)
        is_generic = self.lexer.input.content[start] == '"'
        if not name:
            self.raise_error("an operation has a name, but this one is empty", span)
        if found is not None:
            if not is_generic and issubclass(found, UnregisteredOp):
                self.raise_error(
                    f"operation '{name}' is read in generic form only, "
                    f'"{name}"(...) : (...) -> ..., which mlir-opt --mlir-print-op-generic writes'
                    f"{self._meant('operation', name, '; --load=FILE.py loads its dialect')}",
                    span,
                )
            return found
        if (error := not_a_number(self.lexer.input.content, span)) is not None:
            raise error
        self._raise_unregistered("operation", name, span, "" if is_generic else " in generic form")

    def parse_optional_successor(self) -> Block | None:
        if (token := self._parse_optional_token(MLIRTokenKind.CARET_IDENT)) is None:
            return None
        return self._get_block_from_name(token.span)

    def _parse_block(self) -> Block:
        """Parse a block; xDSL refuses names that are numbers (`^1`), which MLIR's grammar has."""
        token = self._current_token
        if token.kind is not MLIRTokenKind.CARET_IDENT:
            self._raise_not_in_region()
        _, first = self.blocks.get(name := token.text[1:], (None, None))
        if first is not None:
            self._raise_defined(f"re-declaration of block '{name}'", token.span, first)
        block = self._parse_numbered_block() if name.isdigit() else super()._parse_block()
        self.blocks[name] = block, token.span  # of a block that was used before, xDSL has no place
        return block

    def _parse_numbered_block(self) -> Block:
        token = self._consume_token()
        block = self._get_block_from_name(token.span)
        self.forward_block_references.pop(token.text[1:], None)
        self._parse_optional_block_arg_list(block)
        self.parse_punctuation(":")
        self._parse_block_body(block)
        return block

    def _parse_dialect_type_or_attribute_body(
        self, attr_name: str, is_type: bool, is_opaque: bool, starting_opaque_pos: Position | None
    ) -> ParametrizedAttribute | Data[object]:
        ctx = self.ctx
        if (ctx.get_optional_type if is_type else ctx.get_optional_attr)(attr_name) is None:
            kind = "type" if is_type else "attribute"
            written = attr_name.partition(".")[2] if is_opaque else attr_name
            start = self.lexer.input.content.rfind(written, 0, self.pos)
            span = Span(start, start + len(written), self.lexer.input)
            self._raise_unregistered(kind, attr_name, span)
        return super()._parse_dialect_type_or_attribute_body(
            attr_name, is_type, is_opaque, starting_opaque_pos
        )

    def _raise_unregistered(self, kind: str, name: str, span: Span, form: str = "") -> NoReturn:
        """Raise the error for what is not registered, which a flag allows, in a form."""
        flag = f"--allow-unregistered-dialect allows it{form}"
        loads, own = "", ""
        if name.partition(".")[0] not in self.ctx.registered_dialect_names:
            loads, own = ", and --load=FILE.py loads its dialect", f" ({flag})"
        meant = self._meant(kind, name, "")
        hint = f"{meant}{own}" if meant else f"; {flag}{loads}"
        self.raise_error(f"{kind} '{name}' is not registered{hint}", span)

    def _meant(self, kind: str, name: str, otherwise: str) -> str:
        """Return `, did you mean 'x'?` for a name that is not registered; `otherwise` if no name is
        near."""
        ctx = self.ctx
        loaded = {"operation": ctx.loaded_ops, "type": ctx.loaded_types}.get(kind, ctx.loaded_attrs)
        closest = self._closest(kind, name, [each.name for each in loaded])
        return f", did you mean '{closest}'?" if closest else otherwise

    def _closest(self, kind: str, name: str, known: Iterable[str]) -> str | None:
        """Return the registered name that is meant: a similar one of the dialect, the same name in
        another dialect, or one of a dialect that is spelled similarly.
        """
        dialect, _, own = name.partition(".")
        names = {*known}
        same = {o.partition(".")[2]: o for o in names if o.startswith(f"{dialect}.")}
        if (found := closest_name(own, same)) is not None:
            return same[found]
        if same and kind != "operation":
            return None
        if kind == "operation":
            names |= {op.name for op in _common_operations(self.ctx)}
        if found := next((other for other in sorted(names) if other.endswith(f".{own}")), None):
            return found
        return None if same else _misspelt(name, names)

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        self._check_not_its_own(name)
        if (known := self.ssa_values.get(name)) is not None:
            place = self._definition(name, known, span.start)
            self._raise_defined(f"SSA value %{name} is already defined", span, place)
        super()._register_ssa_definition(name, values, span)
        if values and type(first := values[0]) is BlockArgument and first.location is UNKNOWN_LOC:
            first.location = self._lines.location(span.start)

    def _definition(self, name: str, values: Sequence[SSAValue], before: Position) -> Span | None:
        """Return the place where a value is defined, None if it is not in this text."""
        value, text = values[0], self.lexer.input.content
        owner = value if isinstance(value, BlockArgument) else value.owner
        position = None if isinstance(owner, Block) else self._lines.position(owner.location)
        start = -1 if position is None else text.rfind(f"%{name}", 0, position + len(name) + 1)
        if position is None or start < text.rfind("\n", 0, position) or start >= before:
            return None
        return Span(start, start + 1 + len(name), self.lexer.input)

    def _check_not_its_own(self, name: str) -> None:
        """Raise ParseError if an operand of the op that is being parsed has the name of a value
        that a region of that op defines, such as the bound of a loop that of its variable.
        """
        for value in self.forward_ssa_references.get(name, {}).values():
            if value.first_use is None:  # no op has it as an operand yet
                self.raise_error(
                    f"value %{name} is used by the op that defines it", self._first_uses[value]
                )

    def resolve_operand(
        self, operand: UnresolvedOperand, type: AttributeInvT
    ) -> SSAValue[AttributeInvT]:
        try:
            value = super().resolve_operand(operand, type)
        except ParseError as error:
            raise self._with_origin(error, operand) from error
        if value.__class__ is ForwardDeclaredValue:
            self._first_uses.setdefault(value, operand.span)
        return value

    def _with_origin(self, error: ParseError, operand: UnresolvedOperand) -> ParseError:
        """Return an error about an operand with a note where it is defined or was used first."""
        name, index = operand.operand_name, operand.index
        place, said = None, "defined"
        if (values := self.ssa_values.get(name)) is not None:
            place = self._definition(name, values, operand.span.start)
        elif (value := self.forward_ssa_references.get(name, {}).get(index)) is not None:
            place, said = self._first_uses.get(value), "first used"
        return with_note(error.msg, operand.span, place, f"%{name} is {said} here")


def _misspelt(name: str, names: Iterable[str]) -> str | None:
    """Return the name of which both parts are spelled like those of `name`; the dialect may be
    missing in `name`.
    """
    dialect, _, own = name.rpartition(".")
    own_parts = {other: other.partition(".")[2] for other in names}
    if dialect:
        near = closest_name(dialect, {other.partition(".")[0] for other in names})
        own_parts = {o: part for o, part in own_parts.items() if o.partition(".")[0] == near}
    found = closest_name(own, own_parts.values(), cutoff=0.6 if dialect else 0.8)
    return min((o for o, part in own_parts.items() if part == found), default=None)


_value_name = re.compile(r"%[\w$.-]+").findall
_op_name = re.compile(r'"?[a-zA-Z_][\w$.]*"?').match

_COMMON = ("arith", "cf", "func", "math", "memref", "scf", "tensor", "vector")
"""The dialects in which an operation of an unknown name is looked for, beside those that are
loaded: not all, which takes a second.
"""


def _common_operations(ctx: Context) -> Iterable[type[Operation]]:
    """Return the operations of common and of loaded dialects, as far as they are registered."""
    scratch = ctx.clone()
    names = dict.fromkeys([*_COMMON, *(dialect.name for dialect in ctx.loaded_dialects)])
    dialects = map(scratch.get_optional_dialect, names)
    return [op for dialect in dialects if dialect is not None for op in dialect.operations]
