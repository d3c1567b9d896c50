"""Reductions of operations, and of the attributes and constants that they hold."""

from __future__ import annotations

from functools import partial

from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, ModuleOp
from xdsl.ir import Attribute, Operation, Region
from xdsl.irdl import IRDLOperation, OptAttributeDef, OptPropertyDef

from ...passmanager.ir.symbols import symbol_of
from ...passmanager.ir.text.printer import is_dense
from ...passmanager.ir.walk import walk
from .replacement import Edit, erase_and_replace, is_source, is_terminator, stand_in

__all__ = ["attributes", "constants", "operations", "regions"]


def operations(module: ModuleOp) -> list[Edit]:
    """Return edits that erase an op with its regions."""

    def edit(op: Operation) -> None:
        if op.parent is not None:
            erase_and_replace(op)

    def may_go(op: Operation) -> bool:
        used_source = is_source(op) and op.results[0].first_use is not None
        fixed = op.parent is None or is_terminator(op) or symbol_of(op)
        return not used_source and not fixed

    return [partial(edit, op) for op in walk(module) if may_go(op)]


def regions(module: ModuleOp) -> list[Edit]:
    """Return edits that replace an op, such as a loop or a branch, by the ops of one of its
    regions."""

    def edit(op: Operation, region: Region) -> None:
        if (parent := op.parent) is None:
            return
        block = region.block
        for arg in block.args:
            arg.replace_all_uses_with(stand_in(arg, op.operands, parent))
        for inner in [*block.ops]:
            if not is_terminator(inner):
                inner.detach()
                parent.insert_op_before(inner, op)
        erase_and_replace(op, block.last_op.operands if block.last_op is not None else ())

    return [
        partial(edit, op, region)
        for op in walk(module)
        if op.parent is not None and not symbol_of(op)
        for region in op.regions
        if region.first_block is not None and region.first_block is region.last_block
    ]


def attributes(module: ModuleOp) -> list[Edit]:
    """Return edits that delete an optional attribute or property."""

    def edit(held: dict[str, Attribute], key: str) -> None:
        del held[key]

    return [
        partial(edit, held, key)
        for op in walk(module)
        for held in (op.properties, op.attributes)
        for key in held
        if _is_optional(op, key)
    ]


def _is_optional(op: Operation, key: str) -> bool:
    if key in ("sym_visibility", "op_name__") or key.endswith("SegmentSizes"):
        return False  # the second is how xDSL keeps the name of an unregistered op
    if not isinstance(op, IRDLOperation):
        return True
    definition = op.get_irdl_definition()
    declared = definition.properties.get(key) or definition.attributes.get(key)
    return declared is None or isinstance(declared, OptPropertyDef | OptAttributeDef)


def constants(module: ModuleOp) -> list[Edit]:
    """Return edits that replace a dense constant by a splat of its first element."""

    def edit(held: dict[str, Attribute], key: str, splat: Attribute) -> None:
        held[key] = splat

    return [
        partial(edit, held, key, splat)
        for op in walk(module)
        for held in (op.properties, op.attributes)
        for key, attribute in held.items()
        if (splat := _splat(attribute)) is not None
    ]


def _splat(attribute: Attribute) -> Attribute | None:
    """Return the splat of the first element of a dense constant, or None if it is one already."""
    if not is_dense(attribute) or not len(attribute):
        return None
    data = attribute.data.data
    splat = data[: len(data) // len(attribute)] * len(attribute)
    return None if splat == data else DenseIntOrFPElementsAttr(attribute.type, BytesAttr(splat))
