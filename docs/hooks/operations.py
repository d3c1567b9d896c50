"""The reference of operations: for each its syntax, its types and an example, from its class and
from the FileCheck tests of its dialect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import cast

from xdsl.dialects.builtin import (
    ArrayOfConstraint,
    DenseArrayBase,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    TensorType,
    UnrankedTensorType,
)
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import (
    AnyAttr,
    AnyOf,
    AttrConstraint,
    BaseAttr,
    EqAttrConstraint,
    IRDLOperation,
    MessageConstraint,
    OpDef,
    OptOperandDef,
    OptPropertyDef,
    OptResultDef,
    ParamAttrConstraint,
    RangeConstraint,
    RangeLengthConstraint,
    RangeOf,
    VarConstraint,
    VarOperandDef,
    VarResultDef,
)

from passline.dialects.relax.base import TensorOp
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.walk import walk
from passline.passmanager.registry import make_ir_context

__all__ = ["default_text", "example", "properties", "syntax", "type_text", "values"]

FILECHECK = Path(__file__).parents[2] / "tests" / "filecheck"

NAMES: Mapping[type[object], str] = {
    DenseArrayBase: "list",
    FunctionType: "function type",
    TypeAttribute: "type",
    StringAttr: "string",
    SymbolRefAttr: "symbol",
}
"""Names of attributes that read better than those of MLIR."""


# Types


def type_text(constraint: AttrConstraint | RangeConstraint) -> str:
    """Return the types or attributes that a constraint allows, in words."""
    match constraint:
        case (
            RangeOf(constr=inner)
            | VarConstraint(constraint=inner)
            | MessageConstraint(constr=inner)
        ):
            return type_text(inner)
        case RangeLengthConstraint(constraint=inner):
            return type_text(inner)
        case AnyOf(attr_constrs=choices):
            bases = {choice.attr for choice in choices if isinstance(choice, BaseAttr)}
            if bases == {TensorType, UnrankedTensorType}:
                return "tensor"
            return " or ".join(map(type_text, choices))
        case EqAttrConstraint(attr=attr):
            return str(attr)
        case BaseAttr(attr=base):
            return NAMES.get(base, name_of(base))
        case ParamAttrConstraint():
            return parametrized(constraint)
        case ArrayOfConstraint(elem_range_constraint=inner):
            return f"list of {type_text(inner)}"
        case SymbolNameConstraint():
            return "name of a symbol"
        case AnyAttr():
            return "any"
        case _:
            return type(constraint).__name__


def parametrized(constraint: ParamAttrConstraint[ParametrizedAttribute]) -> str:
    """Return the attributes that a constraint on the parameters of an attribute allows."""
    base, parameters = constraint.base_attr, [*constraint.param_constrs]
    if base is DenseArrayBase:
        return f"list of {type_text(parameters[0])}"
    if base is IntegerAttr:
        kind = type_text(parameters[1])
        return {"i1": "bool", name_of(IntegerType): "integer"}.get(kind, kind)
    if base is FloatAttr:
        return type_text(parameters[1])
    return NAMES.get(base, name_of(base))


def name_of(base: type[object]) -> str:
    """Return the name of an attribute in MLIR, without the dialect `builtin`."""
    return str(getattr(base, "name", base.__name__)).removeprefix("builtin.").replace("_", " ")


# The parts of an operation


def values(definition: OpDef) -> Iterator[tuple[str, str, str]]:
    """Yield the operands and results of an operation: what it is, its name and its type."""
    for kind, defined in (("operand", definition.operands), ("result", definition.results)):
        for name, value in defined:
            how = ""
            if isinstance(value, VarOperandDef | VarResultDef):
                how = ", any number"
            elif isinstance(value, OptOperandDef | OptResultDef):
                how = ", optional"
            yield kind, name, f"{type_text(value.constr)}{how}"


def properties(definition: OpDef) -> Iterator[tuple[str, str, str]]:
    """Yield the properties of an operation: name, type, default."""
    for name, field in definition.properties.items():
        if name in ("operandSegmentSizes", "resultSegmentSizes"):
            continue  # which follow from the text
        if field.default_value is not None:
            default = default_text(field.default_value)
        else:
            default = "optional" if isinstance(field, OptPropertyDef) else "required"
        yield name, type_text(field.constr), default


def default_text(attribute: Attribute) -> str:
    """Return a default as the text of an operation has it, without its type."""
    match attribute:
        case IntegerAttr(type=IntegerType(width=width)) if width.data == 1:
            return "true" if attribute.value.data else "false"
        case IntegerAttr() | FloatAttr():
            return str(attribute.value.data)
        case DenseArrayBase():
            numbers = cast(DenseArrayBase[IntegerType], attribute)
            return str([*numbers.get_values()])
        case _:
            return str(attribute)


def syntax(cls: type[IRDLOperation]) -> str:
    """Return the syntax of an operation; empty if it parses its text by itself."""
    definition = cls.get_irdl_definition()
    if definition.assembly_format is not None:
        return f"{cls.name} {definition.assembly_format}"
    if not issubclass(cls, TensorOp) or cls.parse.__func__ is not TensorOp.parse.__func__:
        return ""
    operands = ", ".join(f"%{name}" for name, _ in definition.operands)
    entries = ", ".join(f"{name} = ..." for name in definition.properties)
    given = f" {{{entries}}}" if entries else ""
    results = ", ".join(f"%{name}" for name, _ in definition.results)
    return f"{results} = {cls.name} {operands}{given} : (types) -> type".replace("  ", " ")


# Examples


def example(cls: type[Operation]) -> str:
    """Return an operation of the class out of the tests of its dialect; empty if there is none.

    Of several the one with the fewest unknown dimensions and empty regions, then the shortest.
    Operations that the tests of their dialect do not have are looked for in the tests of passes.
    """
    found = instances("dialects").get(cls) or instances("passes").get(cls, [])
    return min(((weight(op, str(op)), str(op)) for op in found), default=(0, ""))[1]


def weight(op: Operation, text: str) -> tuple[int, int]:
    """Return how far an operation is from being a good example."""
    hidden = text.count("?") + text.count("<*x") + text.count("dense<>")
    empty = sum(not any(block.ops.first for block in region.blocks) for region in op.regions)
    lone = bool(op.regions) and sum(1 for _ in op.walk()) <= 1 + 2 * len(op.regions)
    return hidden + empty + lone, len(text)


@cache
def instances(folder: str) -> Mapping[type[Operation], list[Operation]]:
    """Return the operations in a folder of FileCheck tests, by class."""
    found: dict[type[Operation], list[Operation]] = {}
    for file in sorted((FILECHECK / folder).rglob("*.mlir")):
        if file.name.startswith("invalid") or (folder == "passes" and file.parent.name != "relax"):
            continue
        for text in file.read_text().split("// -----"):
            module = parse_module(make_ir_context(allow_unregistered=True), text, file.name)
            for op in walk(module):
                found.setdefault(type(op), []).append(op)
    return found
