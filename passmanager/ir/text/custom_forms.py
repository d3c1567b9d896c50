"""The operations whose custom form, as xDSL prints it, would not be read back as the same one."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    StringAttr,
    UnregisteredOp,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, Region
from xdsl.irdl import IRDLOperation
from xdsl.traits import SingleBlockImplicitTerminator
from xdsl.utils.hints import isa

from ..per_class import PerClass

_ACCESSES = frozenset(("affine.load", "affine.store", "affine.vector_load", "affine.vector_store"))
"""The operations whose custom form has expressions of values."""

_VISIBILITIES = ("public", "nested", "private")
"""The visibilities of a function for which its custom form has a keyword."""


def _property_names(op_class: type[Operation]) -> frozenset[str]:
    if not issubclass(op_class, IRDLOperation):
        return frozenset()
    return frozenset(op_class.get_irdl_definition().properties)


_properties = PerClass[Operation, frozenset[str]](_property_names)


_reads_properties = PerClass[Operation, bool](
    lambda op_class: op_class.print.__name__ == "print_with_format" or issubclass(op_class, FuncOp)
)
"""Whether the parser of an operation takes an entry of the attribute dictionary for the property of
that name: a parser made of a declarative format does, and that of `func.func`.
"""


def _reads_result_list(op_class: type[Operation]) -> bool:
    format: object = getattr(op_class, "assembly_format", None)
    return _is_function[op_class] or (isinstance(format, str) and "functional-type(" in format)


_is_function = PerClass[Operation, bool](lambda op_class: "function_type" in _properties[op_class])

_result_lists = PerClass[Operation, bool](_reads_result_list)
"""Whether the parser of an operation takes `(` after `->` for the start of a list of types."""


is_plain = PerClass[Operation, bool](
    lambda op_class: (
        not (
            op_class.name in _ACCESSES
            or _result_lists[op_class]
            or _is_function[op_class]
            or issubclass(op_class, UnregisteredOp)
        )
    )
)
"""Whether ops of a class are printed as xDSL does unless they have discardable attributes."""


def returns_function(op: Operation) -> bool:
    """Return whether an op has one result type, a function type, and a parser that takes `(` after
    `->` for the start of a list of types. xDSL prints a list of one type without parentheses: the
    printer adds them, `-> ((i32) -> i32)`.
    """
    if not _result_lists[type(op)]:
        return False
    function = op.properties.get("function_type")
    types = function.outputs.data if isinstance(function, FunctionType) else op.result_types
    return len(types) == 1 and isinstance(types[0], FunctionType)


def has_exact_custom_form(op: Operation) -> bool:
    """Return whether the custom form of an op, as xDSL prints it, is read back as the same op.

    Not that of an op with a discardable attribute that would be read as a property, nor that of a
    function whose form has no place for its visibility or for the attributes of its parameters.
    """
    # `{overflowFlags = 1 : i32}` beside the properties of an `arith.addi` is a discardable
    # attribute in generic form, and would be read as the property in the custom one. Parsers
    # written by hand, as those of `llvm`, keep such attributes.
    names = _properties[type(op)]
    if op.name in _ACCESSES and isinstance(map := op.properties.get("map"), AffineMapAttr):
        if map.data.num_symbols:
            return False  # xDSL prints the symbols as if they were dimensions
    if op.attributes and _reads_properties[type(op)] and not names.isdisjoint(op.attributes):
        return False
    return not _is_function[type(op)] or _holds_function(op)


def _holds_function(op: Operation) -> bool:
    """Return whether the custom form of a function holds its visibility and the attributes of its
    parameters and results, which it has no place for in a declaration."""
    visibility = op.properties.get("sym_visibility", op.properties.get("visibility"))
    if visibility is not None and (
        not isinstance(visibility, StringAttr) or visibility.data not in _VISIBILITIES
    ):
        return False
    attributes = [op.properties.get(name) for name in ("arg_attrs", "res_attrs")]
    is_declaration = not any(region.blocks for region in op.regions)
    return all(
        list is None
        or (isa(list, ArrayAttr[DictionaryAttr]) and not (is_declaration and _has_entries(list)))
        for list in attributes
    )


def _has_entries(list: ArrayAttr[DictionaryAttr]) -> bool:
    """Return whether one of the dictionaries has an entry; to MLIR, too, empty ones are as none."""
    return any(entry.data for entry in list)


def has_implicit_terminator(region: Region) -> bool:
    """Return whether the terminator of a region is read back if it is not printed.

    Not one with operands, attributes or successors, one of several blocks, one of another class
    than the reader adds, nor that of an `scf.if` after an unregistered op, which xDSL's reader
    takes for the terminator.
    """
    block = region.first_block
    if block is None or block.next_block is not None or (end := block.last_op) is None:
        return False
    if end.operands or end.properties or end.attributes or end.successors:
        return False
    op = region.parent
    if op is None or (op.name == "scf.if" and isinstance(end.prev_op, UnregisteredOp)):
        return False
    classes = _implicit_terminators[type(op)]
    return isinstance(end, classes) if classes else op.name not in _READ_AS_WRITTEN


def add_implicit_terminators(op: Operation) -> None:
    """Add the terminators that were left out in the text of `op` after unregistered ops: xDSL's
    reader of `scf.if` takes these for terminators."""
    for region in op.regions:
        block = region.first_block
        if block is not None and block.next_block is None:
            if isinstance(block.last_op, UnregisteredOp):
                block.add_ops(cls.create() for cls in _implicit_terminators[type(op)][:1])


_READ_AS_WRITTEN = frozenset({"scf.execute_region"})
"""The ops without SingleBlockImplicitTerminator whose terminator xDSL does not print, nor add when
it reads them."""

_implicit_terminators = PerClass[Operation, tuple[type[Operation], ...]](
    lambda op_class: tuple(
        trait.op_type for trait in op_class.get_traits_of_type(SingleBlockImplicitTerminator)
    )
)
