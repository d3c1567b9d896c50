"""Element-wise operations on tensors as operations on tiles."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from ....dialects.tir.functions import PrimFuncOp
from ..builder import Elements, KernelBuilder, Tensor
from ..choices import NoKernel
from ..legalizations import legalization_of
from .lane_program import LaneProgram
from .scalar_ops import together
from .tile_writer import TileWriter, tile_of

__all__ = ["elementwise_on_tiles"]


def elementwise_on_tiles(w: TileWriter, op: Operation, operands: Sequence[SSAValue]) -> SSAValue:
    """Compute an element-wise operation on tensors for each element of tiles, by its legalization.

    Errors: NoKernel for an operation without one, or that no tiles compute.
    """
    legalize = legalization_of(op)
    if legalize is None:
        raise NoKernel(f"there is no kernel for '{op.name}'")
    tiles = together(w, operands)
    func = PrimFuncOp("scalar", [_element(value) for value in op.operands])
    b = KernelBuilder(func)
    result = legalize(op, b, *map(_scalar, func.args))
    if isinstance(result, tuple):
        raise NoKernel(f"'{op.name}' has several results")
    func.body.block.add_op(scf.YieldOp(result.read(b, [])))
    values = dict[SSAValue, SSAValue](zip(func.args, tiles, strict=True))
    program = LaneProgram(w, tile_of(tiles[0]).get_shape() if tiles else (), values=values)
    with w.at(op):
        (computed,) = program.block(func.body.block)
        return program.everywhere(computed)


def _element(value: SSAValue) -> Attribute:
    return value.type.element_type if isa(value.type, TensorType) else value.type


def _scalar(argument: SSAValue) -> Tensor:
    return Elements((), argument.type, lambda _, __: argument)
