"""Keys of kernels: equal for primitive functions of the same structure, whatever their names."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects.relax.constant import ConstantOp, FullOp
from .builder import Winograd

__all__ = ["kernel_key"]


def kernel_key(func: FuncOp, constants: Collection[int], winograd: Winograd = "none") -> str:
    """Return the key of the kernel of a primitive function whose parameters with the numbers
    `constants` are constants in all of its calls.

    It depends on the operations, their attributes, and the types of values; not on names, locations
    and the values of constants.
    """
    text = "\n".join([f"winograd {winograd}", f"constants {sorted(constants)}", *_lines(func)])
    # 128 bits: a collision is out of the question for as many kernels as are ever measured, and
    # keys of two databases can be compared without the kernels.
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _lines(func: FuncOp) -> Iterator[str]:
    """Yield the operations of a function as text, values by their numbers."""
    numbers: dict[SSAValue, int] = {}

    def define(values: Sequence[SSAValue]) -> str:
        for value in values:
            numbers[value] = len(numbers)
        return " ".join(str(value.type) for value in values)

    def block_lines(block: Block) -> Iterator[str]:
        yield f"({define(block.args)})"
        for op in block.ops:
            operands = " ".join(str(numbers[value]) for value in op.operands)
            attributes = " ".join(f"{name}={value}" for name, value in _attributes(op))
            yield f"{op.name} ({operands}) <{attributes}> {define(op.results)}"
            for region in op.regions:
                for inner in region.blocks:
                    yield from block_lines(inner)
            if op.regions:
                yield "end"

    for block in func.body.blocks:
        yield from block_lines(block)


def _attributes(op: Operation) -> list[tuple[str, Attribute]]:
    """Return the attributes of an operation by name, without the value of a constant."""
    both = {**op.attributes, **op.properties}
    if isinstance(op, ConstantOp | FullOp):
        # Values decide at most which problem is solved, such as whether f32 holds all sums: a
        # measured choice counts for its own problem only (`Choices`).
        both.pop("value", None)
    return sorted(both.items())
