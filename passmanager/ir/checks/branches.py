"""The verification of branches: the blocks that they lead to, and the operands for their arguments.

xDSL checks neither, and has no interface by which a branch tells which operands it passes. The
branches of its dialects `cf`, `llvm` and `riscv_cf` name them after the blocks; those of `x86` may
pass registers to blocks without arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias, cast

from xdsl.ir import Block, Operation, SSAValue
from xdsl.irdl import IRDLOperation

from ...fast.access import read_type
from ..per_class import PerClass
from .dominance_verifier import invalid

__all__ = ["verify_passed", "verify_successors"]

_OPERANDS_OF: Final = {
    "successor": ("arguments", "block_arguments"),
    "then_block": ("then_arguments",),
    "else_block": ("else_arguments",),
    "default_block": ("default_operands",),
    "case_blocks": ("case_operand",),  # one sequence for each block
}
"""The names of the operands for the arguments of a block, by the name of the successor."""

Passed: TypeAlias = tuple[Block, Sequence[SSAValue]]
"""A block, and the operands that a branch passes to it."""


def verify_successors(op: Operation) -> None:
    """Raise InvalidIRError if an op with successors is not the last of its block, or if one of
    these is in another region or is an entry block."""
    if op.parent is None or (region := op.parent.parent) is None:
        raise invalid(op, "has successors, but is in no region")
    if op.next_op is not None:
        raise invalid(op, "has successors, so it must be the last in its block")
    for number, successor in enumerate(op.successors):
        if successor.parent is not region:
            raise invalid(op, "is branching to a block of a different region")
        if successor is region.first_block:
            raise invalid(
                op,
                f"has the entry block of its region for successor #{number}: "
                "no block may branch to it",
            )


def verify_passed(op: Operation) -> None:
    """Raise InvalidIRError if a branch, which is valid otherwise, passes other operands to a
    successor than that has arguments."""
    for number, (block, operands) in enumerate(_passed(op)):
        _verify_arguments(op, number, block, operands)


def _verify_arguments(
    op: Operation, number: int, block: Block, operands: Sequence[SSAValue]
) -> None:
    """Raise unless `operands` are as many as the arguments of `block`, and have their types."""
    if len(operands) != len(block.args):
        raise invalid(
            op,
            f"passes {len(operands)} operands to successor #{number}, "
            f"which has {len(block.args)} arguments",
        )
    for index, (operand, argument) in enumerate(zip(operands, block.args, strict=True)):
        if read_type(operand) != read_type(argument):
            raise invalid(
                op,
                f"passes a value of type '{operand.type}' for argument #{index} of successor "
                f"#{number}, which has type '{argument.type}'",
            )


def _passed(op: Operation) -> Iterator[Passed]:
    """Yield the successors of a branch with the operands for each; nothing for an op of which
    these are not known."""
    for block_name, operands_name in _names[type(op)]:
        blocks = cast("Block | Sequence[Block]", getattr(op, block_name))
        operands = getattr(op, operands_name)
        if isinstance(blocks, Block):
            yield blocks, operands
        else:
            yield from zip(blocks, operands)


def _names_of(op_class: type[Operation]) -> Sequence[tuple[str, str]]:
    """Return the names of the fields of a branch that hold blocks and the operands for them."""
    if not issubclass(op_class, IRDLOperation):
        return ()
    definition = op_class.get_irdl_definition()
    fields = {name for name, _ in definition.operands}
    return [
        (name, operands)
        for name, _ in definition.successors
        for operands in _OPERANDS_OF.get(name, ())
        if operands in fields or hasattr(op_class, operands)
    ]


_names = PerClass[Operation, Sequence[tuple[str, str]]](_names_of)
