"""The accelerated parts: what Passline does again, faster than xDSL, and where it may.

A part relies on facts about xDSL's sources: methods that it does again or whose effects it knows,
and the fields of classes that it reads or writes. It is on if each of them reads as in a release
with which it was tested (`known_sources.py`); else xDSL's own code does the work, with the same
results. So a release of xDSL that nobody has tried is slower, not wrong.

`PASSLINE_NO_ACCELERATION=1` in the environment turns all parts off. Modules ask when they are
imported: a part is on or off for the whole process.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from zlib import crc32

from .known_sources import KNOWN_SOURCES, RELEASES
from .sources import checksum_of, source_bytes

__all__ = [
    "NO_ACCELERATION",
    "PARTS",
    "VARIABLE",
    "Part",
    "acceleration_text",
    "checksum_of_files",
    "is_accelerated",
    "is_turned_off",
    "unknown_place",
]

VARIABLE = "PASSLINE_NO_ACCELERATION"
"""The environment variable that turns all accelerated parts off, unless it is empty or 0."""
NO_ACCELERATION = "--no-acceleration"
"""The option of the tools that does the same."""


@dataclass(frozen=True)
class Part:
    """An accelerated part, and the places in xDSL's sources on which it relies."""

    name: str
    places: tuple[str, ...]


@cache
def is_accelerated(part: str) -> bool:
    """Return whether a part of `PARTS` is accelerated in this process."""
    if is_turned_off():
        return False
    if (parts := RELEASES.get(checksum_of_files())) is not None:
        return part in parts
    return unknown_place(part) is None


def acceleration_text() -> str:
    """Return which parts are accelerated in this process, and why the others are not."""
    parts = [part for part in PARTS if is_accelerated(part)]
    lines = [f"accelerated: {', '.join(parts) or 'nothing'}"]
    if is_turned_off():
        lines[0] += f" ({NO_ACCELERATION} or {VARIABLE})"
    elif others := [part for part in PARTS if part not in parts]:
        lines.append(f"left to xDSL: {', '.join(others)} (its sources differ from those known)")
    return "\n".join(lines)


def is_turned_off() -> bool:
    """Return whether the environment turns all parts off."""
    return os.environ.get(VARIABLE, "0") not in ("", "0")


def unknown_place(part: str) -> str | None:
    """Return the first place on which a part relies and that differs from all releases with which
    the part was tested; None if there is none.
    """
    for place in PARTS[part].places:
        if checksum_of(place) not in KNOWN_SOURCES.get(f"{part} {place}", ()):
            return place
    return None


@cache
def checksum_of_files() -> str:
    """Return a checksum of all modules of xDSL on which a part relies.

    A release is recognized by it in 2 ms, where looking up all places takes 20.
    """
    places = {place for part in PARTS.values() for place in part.places}
    checksum, size = 0, 0
    for module in sorted({place.partition(":")[0] for place in places}):
        content = source_bytes(module)
        checksum, size = crc32(content, checksum), size + len(content)
    return f"{checksum:08x}-{size}"


def _places(module: str, *names: str) -> tuple[str, ...]:
    return tuple(f"xdsl.{module}:{name}" for name in names)


_FIELDS = _places(
    "ir.core",
    "Use",
    "IRWithUses",
    "IRWithUses.add_use",
    "IRWithUses.remove_use",
    "IRWithName",
    "IRWithName.name_hint",
    "SSAValue",
    "SSAValue.type",
    "SSAValues",
    "OpResult",
    "BlockArgument",
    "Operation",
    "Operation.operands",
    "Operation.successors",
    "Operation.next_op",
    "Block",
    "Block.args",
    "Block.first_op",
    "Block.next_block",
    "Region",
    "Region.first_block",
)
"""The fields of the IR, and the properties that they are read by elsewhere."""

_CREATION = (
    *_FIELDS,
    *_places(
        "ir.core",
        "Attribute",
        "Attribute.__post_init__",
        "Data",
        "ParametrizedAttribute",
        "ParametrizedAttribute.__init__",
        "Operation.__init__",
        "Operation.__post_init__",
        "Operation.create",
        "Operation.add_region",
        "Block.__init__",
        "Block._attach_op",
        "Block.add_op",
        "Region.__init__",
        "Region._attach_block",
        "Region.add_block",
    ),
    *_places("irdl.operations", "IRDLOperation", "IRDLOperation.__init__"),
    *_places("dialects.builtin", "UnregisteredOp"),
)

PARTS = {
    part.name: part
    for part in (
        Part("fields", _FIELDS),
        Part("creating", _CREATION),
        Part(
            "copying",
            (
                *_CREATION,
                *_places(
                    "ir.core",
                    "Operation.clone",
                    "Operation.clone_without_regions",
                    "Region.clone_into",
                ),
            ),
        ),
        Part(
            "editing",
            (
                *_FIELDS,
                *_places("ir.core", "OpOperands.__setitem__", "SSAValue.replace_all_uses_with"),
            ),
        ),
        Part(
            "reading",
            (
                *_CREATION,
                *_places(
                    "parser.core",
                    "Parser",
                    "Parser.__init__",
                    "Parser._parse_block_body",
                    "Parser._parse_block",
                    "Parser.parse_optional_region",
                    "Parser.parse_optional_operation",
                    "Parser.parse_operation",
                    "Parser._parse_op_result_list",
                    "Parser._register_ssa_definition",
                    "Parser.resolve_operand",
                ),
                *_places(
                    "parser.attribute_parser",
                    "AttrParser",
                    "AttrParser._parse_optional_builtin_type",
                    "AttrParser.parse_optional_function_type",
                    "AttrParser.parse_optional_dictionary_attr_dict",
                    "AttrParser._parse_dense_literal_type",
                    "AttrParser._parse_tensor_literal",
                    "AttrParser._TensorLiteralElement",
                ),
                *_places(
                    "parser.generic_parser",
                    "ParserState",
                    "ParserState.__init__",
                    "GenericParser._resume_from",
                    "GenericParser._current_token",
                    "GenericParser.pos",
                    "GenericParser._consume_token",
                    "GenericParser._parse_optional_token",
                    "GenericParser.parse_optional_characters",
                ),
                *_places("parser.base_parser", "BaseParser.parse_optional_punctuation"),
                *_places(
                    "utils.mlir_lexer",
                    "MLIRTokenKind",
                    "MLIRLexer._consume_whitespace",
                    "MLIRLexer.lex",
                    "MLIRLexer._lex_bare_identifier",
                    "MLIRLexer._lex_at_ident",
                    "MLIRLexer._lex_prefixed_ident",
                    "MLIRLexer._lex_string_literal",
                    "MLIRLexer._lex_number",
                ),
            ),
        ),
        Part(
            "printing",
            (
                *_FIELDS,
                *_places(
                    "printer",
                    "Printer",
                    "Printer._get_new_valid_name_id",
                    "Printer._print_results",
                    "Printer.print_ssa_value",
                    "Printer._populate_block_name",
                    "Printer.print_block",
                    "Printer.print_block_argument",
                    "Printer.print_block_name",
                    "Printer.print_region",
                    "Printer.print_attribute",
                    "Printer.enter_scope",
                    "Printer.exit_scope",
                    "Printer.print_op",
                ),
                *_places(
                    "utils.base_printer",
                    "BasePrinter",
                    "BasePrinter.print_string",
                    "BasePrinter._print_new_line",
                ),
                *_places("dialects.arith", "CmpfOp.print", "CmpiOp.print"),
                *_places("dialects.memref", "AllocOp.print"),
                *_places("dialects.scf", "ForOp.print", "IfOp.print", "WhileOp.print"),
                *_places("dialects.tensor", "EmptyOp.print"),
            ),
        ),
        Part(
            "verifying",
            (
                *_FIELDS,
                *_places("ir.core", "Operation.verify", "Block.verify", "Region.verify"),
                *_places(
                    "irdl.operations",
                    "OpDef",
                    "OpDef.verify",
                    "irdl_op_verify_arg_list",
                    "irdl_op_verify_regions",
                    "irdl_build_arg_list",
                    "get_accessors_from_op_def",
                ),
                *_places(
                    "irdl.constraints",
                    "AllOf.verify",
                    "AnyAttr.verify",
                    "AnyOf.verify",
                    "BaseAttr.verify",
                    "EqAttrConstraint.verify",
                    "MessageConstraint.verify",
                    "ParamAttrConstraint.verify",
                    "VarConstraint.verify",
                    "RangeOf.verify",
                    "RangeLengthConstraint.verify",
                ),
                *_places(
                    "traits",
                    "OpTrait.verify",
                    "NoTerminator.verify",
                    "SingleBlockImplicitTerminator.verify",
                    "IsolatedFromAbove.verify",
                    "SymbolUserOpInterface.verify",
                ),
                *_places(
                    "dialects.arith",
                    "AddUIExtendedOp.verify_",
                    "BitcastOp.verify_",
                    "ExtSIOp.verify_",
                    "ExtUIOp.verify_",
                    "IndexCastOp.verify_",
                    "TruncIOp.verify_",
                ),
                *_places(
                    "dialects.memref",
                    "AllocOp.verify_",
                    "AllocaOp.verify_",
                    "LoadOp.verify_",
                    "StoreOp.verify_",
                    "SubviewOp.verify_",
                ),
                *_places("dialects.scf", "ForOp.verify_"),
                *_places(
                    "dialects.vector",
                    "BroadcastOp.verify_",
                    "ExtractOp.verify_",
                    "InsertOp.verify_",
                    "LoadOp.verify_",
                    "MaskedLoadOp.verify_",
                    "MaskedStoreOp.verify_",
                    "ShuffleOp.verify_",
                    "StoreOp.verify_",
                ),
                *_places("dialects.func", "FuncOp.verify_", "CallOp"),
            ),
        ),
        Part(
            "rewriting",
            (
                *_FIELDS,
                *_places(
                    "pattern_rewriter",
                    "PatternRewriter",
                    "PatternRewriter.__init__",
                    "GreedyRewritePatternApplier",
                    "GreedyRewritePatternApplier.match_and_rewrite",
                    "op_type_rewrite_pattern",
                ),
                *_places("builder", "Builder"),
                *_places(
                    "transforms.canonicalize", "CanonicalizationRewritePattern.match_and_rewrite"
                ),
            ),
        ),
    )
}
"""The accelerated parts by name."""
