"""xDSL's own parser, by its public interface alone: for an xDSL with which ours is not used."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.utils.lexer import Position, Span

from ...limits import DEFAULT_MAX_ELEMENTS
from .lexer import SUFFIX_ID
from .line_table import Lines

_RESULT = rf"%{SUFFIX_ID}(?:\s*:\s*[0-9]+)?"
_results = re.compile(rf"(?:{_RESULT}(?:\s*,\s*{_RESULT})*\s*=\s*)?").match


class PlainParser(Parser):
    """xDSL's parser, which gives ops the locations of their names; errors are xDSL's."""

    max_elements = DEFAULT_MAX_ELEMENTS
    open_ops: Sequence[Position] = ()

    def __init__(self, ctx: Context, text: str, name: str, line_offset: int = 0) -> None:
        self._lines = Lines(text, name, line_offset)
        super().__init__(ctx, text, name)

    @property
    def token_span(self) -> Span:
        """The place of the next token."""
        return Span(self.pos, self.pos + 1, self.lexer.input)

    def span_of_op(self) -> Span:
        """Return the place at which the op that is being parsed goes on."""
        return self.token_span

    def parse_operation(self) -> Operation:
        found = _results(self.lexer.input.content, self.pos)
        start = self.pos if found is None else found.end()
        op = super().parse_operation()
        if op.location is UNKNOWN_LOC:
            op.location = self._lines.location(start)
        return op
