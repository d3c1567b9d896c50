"""The reader for a release of xDSL that was not tried: xDSL's parser, which says where it is."""

from __future__ import annotations

from passline.passmanager.fast.reading.plain_parser import PlainParser
from passline.passmanager.registry import make_ir_context


def test_the_place_of_a_token_is_its_first_character() -> None:
    parser = PlainParser(make_ir_context(), "  func.func @f() {}", "a.mlir")
    for span in (parser.token_span, parser.span_of_op()):
        assert (span.start, span.end, span.text) == (2, 3, "f")
