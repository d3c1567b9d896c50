# pyright: reportPrivateUsage=false, reportIncompatibleVariableOverride=false
"""A parser that does not parse again what it has parsed before: lines of IR that differ in the
names of values alone, and the texts of types and attributes.

Anything out of the ordinary is left to the parser below it, which gives every error its text and
place.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple, TypeAlias, TypeVar, cast

from typing_extensions import TypeIs
from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    ComplexType,
    FunctionType,
    IndexType,
    IntegerType,
    MemRefType,
    RankedStructure,
    SymbolRefAttr,
    TensorType,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, TypeAttribute
from xdsl.parser import AttrParser, Parser, ParserState
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.lexer import Input, Position, Span
from xdsl.utils.mlir_lexer import (
    KIND_BY_PUNCTUATION_SPELLING,
    MLIRToken,
    MLIRTokenKind,
    PunctuationSpelling,
)

from ...limits import too_many_elements
from ..creation import append_op
from ..end_clauses import EndClause, Types, end_clause
from .lexer import Lexer, LocatedToken, end_of_space
from .line_shapes import (
    LineShape,
    Mark,
    ScopedValues,
    TypesAtEnd,
    any_shape,
    around_lists,
    before_clause,
    ends_with_type,
    follower,
    integers,
    learn,
    learn_body,
    name_columns,
    shape_key,
    split_names,
)
from .literal_parser import read_number_list, with_number
from .locating_parser import LocatingParser

T = TypeVar("T")
_DenseType: TypeAlias = RankedStructure[IntegerType | IndexType | AnyFloat | ComplexType]


class MemoizingParser(LocatingParser):
    """A parser with the results and the errors of LocatingParser, that remembers what it parsed."""

    def __init__(self, ctx: Context, text: str, name: str, line_offset: int = 0) -> None:
        self._values = ScopedValues()
        Lexer(Input(text, name)).lex()  # raises for a string that xDSL would not come to the end of
        super().__init__(ctx, text, name, line_offset)
        self._parser_state = ParserState(Lexer(self.lexer.input))
        self.lines_by_shape = 0
        """The number of lines that were read by their shape."""
        self._shapes: defaultdict[tuple[str, ...], _Shapes] = defaultdict(_Shapes)
        self._refused: set[str] = set()  # shapes that did not say all
        self._in_literal = False
        self._last_region = _RegionText(None, 0, 0)
        self._types: dict[str, TypeAttribute | None] = {}
        self._function_types: dict[str, FunctionType | None] = {}
        self._dense_types: dict[str, _DenseType] = {}
        self._dictionaries: dict[str, dict[str, Attribute]] = {}

    def restart_at(self, position: Position) -> None:
        self._in_literal = False
        super().restart_at(position)

    # Lines

    def _parse_block_body(self, block: Block) -> None:
        # A name without a dialect is that of the innermost dialect which has it.
        dialects = tuple(dict.fromkeys(reversed(self._parser_state.dialect_stack)))
        shapes = self._shapes[dialects]
        while True:
            self._read_known_lines(block, shapes)
            start = self.pos
            if (op := self.parse_optional_operation()) is None:
                return
            block.add_op(op)
            self._learn(op, start, shapes)

    def _read_known_lines(self, block: Block, shapes: _Shapes) -> None:
        """Append the ops of the next lines to a block, up to the first without a known shape."""
        text = self.lexer.input.content
        start = position = self.pos
        # Up to a line of an unknown shape. A line without a region is read without a token.
        while (end := _end_of_line(text, position)) >= 0:
            parts = split_names(text[position:end])
            shape = shapes.get(key := shape_key(parts)) or self._learn_alike(key, parts, shapes)
            if shape is None or key in self._refused:
                break
            next_line = end_of_space(text, end)
            names = parts[1::2]
            if shape.body is not None:
                if (op := self._op_with_body(shape, parts, position, next_line)) is None:
                    self._resume_from(position)
                    return
                append_op(block, op)
                self.lines_by_shape += 1
                start = position = self.pos
                continue
            # The op may go on in the next line, with what the shape has not seen: `loc(...)`, a
            # region.
            if follower(text, next_line) not in shape.followers:
                break
            if (op := self._op_of(shape, names, position)) is None:
                break
            append_op(block, op)
            position = next_line
            self.lines_by_shape += 1
        if position != start:
            self._resume_from(position)

    def _op_of(self, shape: LineShape, names: list[str], position: Position) -> Operation | None:
        """Create the op of a line of a known shape, and define its results; None if a name is not
        that of a single value in scope, or is defined already.
        """
        values = self._values
        column = shape.column
        results = names[: shape.names]
        for name in results:
            if name in values or name in self.forward_ssa_references:
                return None
            column += 1 + len(name)
        if (operands := shape.operand_values(names, values)) is None or len({*results}) < len(
            results
        ):
            return None
        location = shape.location or self._lines.location(position + column)
        op = shape.create(operands, location)
        for name, result in zip(results, op.results, strict=False):
            values[name] = (result,)
            if not name[0].isdigit():
                result.name_hint = name
        return op

    def _op_with_body(
        self, shape: LineShape, parts: list[str], position: Position, body: Position
    ) -> Operation | None:
        """Read the op of a line of a known shape that opens a region, whose block starts at `body`.

        None, with the IR as before, if the shape does not say all: the op is then parsed.
        """
        assert shape.body is not None
        if self.forward_ssa_references:
            return None  # the body may define them, which could not be undone
        values, text, names = self._values, self.lexer.input.content, parts[1::2]
        if (operands := shape.operand_values(names, values)) is None or text[body : body + 1] in (
            "^",
            "}",
        ):
            return None
        # Names that the body defines are forgotten at its end, as by xDSL's parser.
        mark = values.copy()
        block = Block(arg_types=[type for _, type in shape.body.arguments])
        columns = [*name_columns(parts)]
        for (place, _), argument in zip(shape.body.arguments, block.args, strict=True):
            if (name := names[place]) in values or name in self.forward_ssa_references:
                values.forget(mark)
                return None
            values[name] = (argument,)
            argument.location = self._lines.location(position + columns[place])
            if not name[0].isdigit():
                argument.name_hint = name
        blocks, references = self.blocks, self.forward_block_references
        self.blocks, self.forward_block_references = {}, defaultdict(list)
        self._parser_state.dialect_stack.append(shape.op_class.dialect_name())
        self._resume_from(body)
        self._parse_block_body(block)
        self._parser_state.dialect_stack.pop()
        dangling = self.forward_block_references
        self.blocks, self.forward_block_references = blocks, references
        values.forget(mark)
        token = self._parser_state.current_token
        after = end_of_space(text, token.span.end)
        is_closed = token.kind is MLIRTokenKind.R_BRACE and not dangling
        is_known = is_closed and shape.body.finish(block)
        if not is_known or follower(text, after) not in shape.followers:
            # What follows is known from the next time on. Of anything else that is not known, the
            # shape is not tried again, else nested ops would be parsed twice at each level.
            if not is_known:
                self._refused.add(shape_key(parts))
            for inner in block.ops:
                inner.drop_all_references()
            return None
        self._resume_from(after)
        op = shape.create(operands, self._lines.location(position + shape.column))
        for region in (Region(block), *(Region() for _ in range(1, shape.body.regions))):
            op.add_region(region)
        return op

    def parse_optional_region(
        self, arguments: Sequence[Parser.Argument] | None = None
    ) -> Region | None:
        start = self.pos
        if (region := super().parse_optional_region(arguments)) is not None:
            self._last_region = _RegionText(region, start, self.pos)
        return region

    def _learn(self, op: Operation, start: Position, shapes: _Shapes) -> None:
        """Remember the shape of the line that starts at `start`, if it is that of `op` alone."""
        text = self.lexer.input.content
        end, next_line = _end_of_line(text, start), self.pos
        if end < 0:
            return
        parts = split_names(text[start:end])
        column, location = self._parsed_name - start, self._parsed_location
        if end_of_space(text, end) == next_line:
            shape = learn(op, parts, self._values, column, location)
        elif op.has_trait(IsolatedFromAbove, value_if_unregistered=True):
            return  # the values used in it are looked at when it ends
        elif op.regions and self._last_region == _RegionText(op.regions[0], end - 1, next_line):
            if location is not None:
                return
            locations = [self._lines.location(start + place) for place in name_columns(parts)]
            shape = learn_body(op, parts, self._values, column, locations)
        else:
            return
        if shape is None or (key := shape_key(parts)) in self._refused:
            return
        # A shape with other types of operands takes the place of the old one: the last is the
        # likeliest.
        if (known := shapes.get(key)) is not None and known.operands == shape.operands:
            shape = known
        shapes[key] = shape
        shape.followers.add(follower(text, next_line))
        is_generic = text[self._parsed_name] == '"'
        if is_generic or ends_with_type[type(op)]:
            end = self._types_at_end(parts)
            if end is not None and end.operands == [value._type for value in op._operands]:
                shapes.before_types[end.key] = shape
        elif op.name == "arith.constant" and (match := _constant(parts[-1])) is not None:
            shapes.constants[match[2]] = shape
        else:
            self._learn_clause(op, parts, shape, shapes)

    def _learn_clause(
        self, op: Operation, parts: list[str], shape: LineShape, shapes: _Shapes
    ) -> None:
        """Remember the shape of a line by the text before the types at its end."""
        clause = end_clause[type(op)]
        if clause is None or clause.property:
            return
        key, text = before_clause(parts)
        known = _Clause(shape, clause, clause.segments(op))
        if self._decided(known, text) == ([v._type for v in op._operands], [*shape.result_types]):
            shapes.before_clauses[key] = known
            texts, lists = around_lists(key)
            properties = [shape.properties.get(name) for name in clause.lists]
            if clause.lists and properties == [*map(integers, lists)]:
                shapes.before_clauses[texts] = known

    def _decided(self, known: _Clause, text: str) -> tuple[Types, Types] | None:
        """Return the types of operands and results that those in `text`, the end of a line, decide;
        None if one of them is not known."""
        shape, clause, segments = known
        types = [self._type_of(type) for type in clause.split(text) or [""]]
        if None in types:
            return None
        written = cast(list[TypeAttribute], types)
        return clause.decided(written, segments, shape.properties, shape.attributes)

    def _learn_alike(self, key: str, parts: list[str], shapes: _Shapes) -> LineShape | None:
        """Return the shape of a line that differs from one that was read before in its types, or in
        the number of a constant.
        """
        shape = (
            self._with_number(parts, shapes)
            or self._with_types(parts, shapes)
            or self._with_clause(parts, shapes)
        )
        if shape is not None:
            shapes[key] = shape
        return shape

    def _with_number(self, parts: list[str], shapes: _Shapes) -> LineShape | None:
        if len(parts) != 3 or parts[0] or (match := _constant(parts[-1])) is None:
            return None
        if (known := shapes.constants.get(match[2])) is None:
            return None
        value = with_number(known.properties["value"], match[1])
        return None if value is None else replace(known, properties={"value": value})

    def _with_types(self, parts: list[str], shapes: _Shapes) -> LineShape | None:
        if (end := self._types_at_end(parts)) is None:
            return None
        if (known := shapes.before_types.get(end.key)) is None:
            return None
        shape = known.with_types(end.operands, end.results)
        if shape is not None and end.callee:
            shape.properties = shape.properties | {"callee": SymbolRefAttr(end.callee)}
        return shape

    def _with_clause(self, parts: list[str], shapes: _Shapes) -> LineShape | None:
        key, text = before_clause(parts)
        if (known := shapes.before_clauses.get(key)) is None:
            texts, lists = around_lists(key)
            if (known := shapes.before_clauses.get(texts)) is None:
                return None
            shape, clause, _ = known
            found = zip(clause.lists, map(integers, lists), strict=True)
            known = known._replace(shape=replace(shape, properties=shape.properties | dict(found)))
        decided = self._decided(known, text)
        return None if decided is None else known.shape.with_types(*decided)

    def _types_at_end(self, parts: list[str]) -> TypesAtEnd | None:
        """Return the types in ` : (types) -> types` at the end of a line; None if there are others,
        or types that are not known.
        """
        before, _, types = parts[-1].rpartition(" : (")
        operands, arrow, results = types.partition(") -> ")
        if results[:1] == "(" and results[-1] == ")":
            results = results[1:-1]
        elif not results:
            return None
        inputs, outputs = self._types_of(operands), self._types_of(results)
        if not arrow or inputs is None or outputs is None:
            return None
        callee = ""
        texts = [*parts[:-1:2], before]
        for place, text in enumerate(texts):
            if (match := _call(text)) is not None:
                texts[place], callee = match[1] + text[match.end() :], match[2]
        return TypesAtEnd("\n".join(texts), callee, inputs, outputs)

    def _types_of(self, text: str) -> list[TypeAttribute] | None:
        """Return the types in a list with commas between them; None if one is not known."""
        types: list[TypeAttribute] = []
        for part in text.split(", ") if text else ():
            if (type := self._type_of(part)) is None:
                return None
            types.append(type)
        return types

    def _type_of(self, text: str) -> TypeAttribute | None:
        """Return the type with a text: one that was read before, a tensor or buffer whose elements
        are of such a type, or one that differs from such a type in its shape alone; else None.
        """
        if (known := self._types.get(text)) is not None or (match := _shaped(text)) is None:
            return known
        name, dimensions, element, rest = match.groups()
        sizes = [DYNAMIC_INDEX if size == "?" else int(size) for size in dimensions.split("x")[:-1]]
        match self._types.get(any_shape(name, element, rest) if rest else element):
            case None:
                return None
            case TensorType() as other if rest:
                type = TensorType(other.element_type, sizes, other.encoding)
            case MemRefType() as other if rest:
                type = MemRefType(other.element_type, sizes, other.layout, other.memory_space)
            case other:
                type = (TensorType if name == "tensor" else MemRefType)(other, sizes)
        self._types[text] = type
        return type

    # Scopes of values

    @property
    def ssa_values(self) -> ScopedValues:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The values in scope by their names."""
        return self._values

    @ssa_values.setter
    def ssa_values(self, values: Mark | dict[str, tuple[SSAValue, ...]]) -> None:
        if isinstance(values, Mark):
            self._values.forget(values)

    # Types and attributes

    def _parse_optional_builtin_type(self) -> TypeAttribute | None:
        match = _TYPE.match(self.lexer.input.content, self.pos)
        if match is not None and (known := self._type_of(match[0])) is not None:
            self._resume_from(match.end())
            return known
        type = self._remember(_TYPE, self._types, super()._parse_optional_builtin_type)
        if match is not None and type is not None and (shaped := _shaped(match[0])) is not None:
            name, _, element, rest = shaped.groups()
            if rest:
                self._types[any_shape(name, element, rest)] = type
        return type

    def parse_optional_function_type(self) -> FunctionType | None:
        if self._current_token.kind is not MLIRTokenKind.L_PAREN:
            return None
        parse = super().parse_optional_function_type
        return self._remember(_FUNCTION_TYPE, self._function_types, parse)

    def parse_optional_dictionary_attr_dict(self) -> dict[str, Attribute]:
        if self._current_token.kind is not MLIRTokenKind.L_BRACE:
            return {}
        parse = super().parse_optional_dictionary_attr_dict
        return self._remember(_DICTIONARY, self._dictionaries, parse).copy()

    def _parse_dense_literal_type(self) -> _DenseType:
        span = self._current_token.span
        # Of most types it is seen without xDSL's constraint, which is made anew for each.
        match = _TYPE.match(self.lexer.input.content, self.pos)
        if match is not None and _is_dense(type := self._type_of(match[0])):
            self._resume_from(match.end())
        else:
            type = self._remember(_TYPE, self._dense_types, super()._parse_dense_literal_type)
        reason = too_many_elements(type.get_shape(), self.max_elements)  # a splat is expanded
        if reason is not None:
            self.raise_error(reason, span)
        return type

    def _parse_tensor_literal(self) -> tuple[list[AttrParser._TensorLiteralElement], list[int]]:
        text, start = self.lexer.input.content, self.pos
        if self._in_literal:
            return super()._parse_tensor_literal()
        if (numbers := read_number_list(text, start)) is None:
            self._in_literal = True  # the lists in it are not tried again: each reads to the end
            elements = super()._parse_tensor_literal()
            self._in_literal = False
            return elements
        self._resume_from(numbers.end)
        elements = [_Number(value, self, start, i) for i, value in enumerate(numbers.values)]
        return [*elements], numbers.shape

    def span_of_number(self, start: Position, index: int) -> Span[str]:
        """Return the place of a number in the list of numbers that starts at a position."""
        matches = _NUMBER.finditer(self.lexer.input.content, start)
        match = next(islice(matches, index, None))
        return Span(match.start(), match.end(), self.lexer.input)

    # Tokens: what the parser below does for each, with fewer calls

    @property
    def pos(self) -> Position:
        """The start of the next token."""
        token = self._parser_state.current_token
        assert isinstance(token, LocatedToken)
        return token.start

    def _consume_token(self, expected_kind: MLIRTokenKind | None = None) -> MLIRToken:
        state = self._parser_state
        token = state.current_token
        assert expected_kind is None or token.kind is expected_kind
        state.current_token = state.lexer.lex()
        return token

    def _parse_optional_token(self, expected_kind: MLIRTokenKind) -> MLIRToken | None:
        state = self._parser_state
        if (token := state.current_token).kind is not expected_kind:
            return None
        state.current_token = state.lexer.lex()
        return token

    def parse_optional_characters(self, text: str) -> str | None:
        state = self._parser_state
        if state.current_token.text != text:
            return None
        state.current_token = state.lexer.lex()
        return text

    def parse_optional_punctuation(
        self, punctuation: PunctuationSpelling
    ) -> PunctuationSpelling | None:
        state = self._parser_state
        if state.current_token.kind is not KIND_BY_PUNCTUATION_SPELLING[punctuation]:
            return None
        state.current_token = state.lexer.lex()
        return punctuation

    def _remember(
        self, expression: re.Pattern[str], memo: dict[str, T], parse: Callable[[], T]
    ) -> T:
        """Return what a text that starts here was parsed as before, else parse it.

        It is remembered if `parse` reads what `expression` matches, up to its end.
        """
        content = self.lexer.input.content
        if (match := expression.match(content, self.pos)) is None:
            return parse()
        end = match.end()
        if (known := memo.get(text := match[0])) is not None:
            self._resume_from(end)
            return known
        if (parsed := parse()) is not None and end_of_space(content, end) == self.pos:
            memo[text] = parsed
        return parsed


def _is_dense(type: TypeAttribute | None) -> TypeIs[_DenseType]:
    """Return whether a type is a tensor or buffer of known size, of numbers."""
    return (
        isinstance(type, TensorType | MemRefType)
        and type.has_static_shape()
        and isinstance(
            cast(TensorType[Attribute], type).element_type,
            IntegerType | IndexType | AnyFloat | ComplexType,
        )
    )


# The texts that are remembered: those of a type without names and aliases in it, with strings of
# letters and digits alone, and at most one nested pair of angle brackets.
_BODY = r'<(?:[^<>"%#!\n]++|"[a-zA-Z0-9_]*+"|<[^<>"%#!\n]*+>)*+>'
_TYPE_TEXT = rf"[a-zA-Z_][a-zA-Z0-9_$.]*+(?:{_BODY})?"
_TYPES = r'\((?:[^()"%#!\n])*+\)'
_TYPE = re.compile(_TYPE_TEXT)
_shaped = re.compile(
    r"(tensor|memref)<((?:(?:[1-9][0-9]{0,9}|\?)x)*)([a-z][a-z0-9]*)(, [^<>]+)?>"
).fullmatch
_constant = re.compile(
    r" = arith\.constant (-?[0-9]{1,30}(?:\.[0-9]{0,30}(?:[eE][+-]?[0-9]{1,3})?)?)"
    r"( : (?:index|i[0-9]+|f16|f32|f64))"
).fullmatch
_call = re.compile(r"((?: = )?func\.call @)([a-zA-Z_][a-zA-Z0-9_$.]*)(?=\()").match
_FUNCTION_TYPE = re.compile(rf"{_TYPES} -> (?:{_TYPES}|{_TYPE_TEXT})")
_DICTIONARY = re.compile(r'\{(?:[^{}"%#!\n]++|"[^"\\\n]*+")*+\}')

_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]*(?:[eE][+-]?[0-9]+)?)?")

_MAX_LINE = 4096


def _end_of_line(text: str, start: Position) -> Position:
    """Return the end of the line at a position, or -1 if it has none, or is too long to repeat.

    The limit keeps the time linear where thousands of ops are on one line.
    """
    return text.find("\n", start, start + _MAX_LINE)


class _Number(AttrParser._TensorLiteralElement):
    """A number in a list; its span is made when asked for, which is for an error."""

    def __init__(
        self, value: int | float, parser: MemoizingParser, start: Position, index: int
    ) -> None:
        self.is_negative = value < 0
        self.value = value
        self._place = parser, start, index

    @property
    def span(self) -> Span[str]:
        """The place of the number in the input."""
        parser, start, index = self._place
        return parser.span_of_number(start, index)


class _RegionText(NamedTuple):
    """A region and its place in the text."""

    region: Region | None
    start: Position
    """The brace that opens it."""
    next_token: Position
    """The token after the brace that closes it."""


class _Shapes(dict[str, LineShape]):
    """The shapes of lines by their texts without names."""

    def __init__(self) -> None:
        super().__init__()
        self.before_types: dict[str, LineShape] = {}
        """Shapes by the text before the types at the end of the line."""
        self.before_clauses: dict[str | tuple[str, ...], _Clause] = {}
        """Shapes by the text before the types at the end of a declarative format, and by the texts
        around the lists of integers in it."""
        self.constants: dict[str, LineShape] = {}
        """The shapes of `arith.constant` by the text after the number."""


class _Clause(NamedTuple):
    """The shape of a line that ends with types."""

    shape: LineShape
    clause: EndClause
    segments: tuple[int, ...]
    """The number of operands for each operand of the definition."""
