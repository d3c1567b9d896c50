"""Operations that would not be read back from the text that xDSL prints in their custom form."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation
from xdsl.utils.hints import isa

from ..per_class import PerClass

__all__ = ["has_custom_form", "reads_result_list"]

_VISIBILITIES = ("public", "nested", "private")


def _property_names(op_class: type[Operation]) -> frozenset[str]:
    if not issubclass(op_class, IRDLOperation):
        return frozenset()
    return frozenset(op_class.get_irdl_definition().properties)


_properties = PerClass[Operation, frozenset[str]](_property_names)


_reads_properties = PerClass[Operation, bool](
    lambda op_class: op_class.print.__name__ == "print_with_format" or issubclass(op_class, FuncOp)
)


def _reads_result_list(op_class: type[Operation]) -> bool:
    format: object = getattr(op_class, "assembly_format", None)
    return _is_function[op_class] or (isinstance(format, str) and "functional-type(" in format)


_is_function = PerClass[Operation, bool](lambda op_class: "function_type" in _properties[op_class])

reads_result_list = PerClass[Operation, bool](_reads_result_list)
"""Whether the parser of an operation takes `(` after `->` for the start of a list of types. xDSL
prints a result type that is a function without the parentheses of a list of one.
"""


def has_custom_form(op: Operation) -> bool:
    """Return whether the custom form of an op holds all of it.

    A discardable attribute with the name of a property would be read as that property, where the
    parser follows from a declarative format; those written by hand, as the ones of `llvm`, keep
    such attributes. Functions lose the attributes of parameters of declarations.
    """
    # `{overflowFlags = 1 : i32}` beside the properties of an `arith.addi` is a discardable
    # attribute in generic form, and would be read as the property in the custom one.
    names = _properties[type(op)]
    if op.attributes and _reads_properties[type(op)] and not names.isdisjoint(op.attributes):
        return False
    return not _is_function[type(op)] or _holds_function(op)


def _holds_function(op: Operation) -> bool:
    # The custom form has a keyword in its place.
    visibility = op.properties.get("sym_visibility", op.properties.get("visibility"))
    if visibility is not None and (
        not isinstance(visibility, StringAttr) or visibility.data not in _VISIBILITIES
    ):
        return False
    attributes = [op.properties.get(name) for name in ("arg_attrs", "res_attrs")]
    is_declaration = not any(region.blocks for region in op.regions)
    return all(
        list is None
        or (isa(list, ArrayAttr[DictionaryAttr]) and not (is_declaration and _says_anything(list)))
        for list in attributes
    )


def _says_anything(list: ArrayAttr[DictionaryAttr]) -> bool:
    """Return whether a list of dictionaries has an entry; empty ones are as none, also to MLIR."""
    return any(entry.data for entry in list)
