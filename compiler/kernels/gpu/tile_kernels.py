"""The tile program of a primitive function, by the families of its operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from xdsl.dialects.builtin import (
    ArrayAttr,
    FusedLoc,
    LocationAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ....dialects.relax.constant import ConstantOp, FullOp
from ....dialects.relax.contraction.attention import AttentionOp
from ....dialects.relax.data.manipulation import TransposeOp
from ....dialects.sizes import TooComplex
from ....dialects.target import Target
from ....dialects.tir.functions import UnknownExtent
from ..choices import Choice, NoKernel
from ..kernel import Kernel, kernel_of
from .elementwise_tiles import elementwise_on_tiles
from .row_kernels import row_program
from .row_operations import ROW_OPERATIONS
from .tile_attention import attention_program
from .tile_builder import Family, OnTiles, TileKernel, group_of, kernel_from
from .tile_convolutions import CONVOLUTIONS
from .tile_products import PRODUCTS
from .tile_scan import SCANS, scan_program
from .tile_transposition import transposition

__all__ = ["FAMILIES", "gpu_kernel_of", "tile_kernel_of"]

Constants: TypeAlias = Mapping[int, Sequence[ConstantOp | FullOp]]


FAMILIES: Mapping[type[Operation], Family] = {
    **CONVOLUTIONS,
    **PRODUCTS,
    **dict.fromkeys(ROW_OPERATIONS, row_program),
    **dict.fromkeys(SCANS, scan_program),
    AttentionOp: attention_program,
}
"""The families by the operations that they compute. The first such operation of a group decides; a
transposition has a program in groups without one."""


def tile_kernel_of(
    func: FuncOp,
    target: Target,
    elementwise: OnTiles = elementwise_on_tiles,
    measured: Sequence[Choice] | None = None,
    constants: Constants = MappingProxyType({}),
) -> TileKernel | None:
    """Return the kernel of `func` on a GPU as tile programs, or None if there is none; it may still
    be computed by loops. `elementwise` computes an element-wise operation on tiles. `constants`
    has, by the number of a parameter, the constants that the calls of `func` pass.

    Choices are made by estimates, except for those that were `measured`.
    """
    found = [family for op in func.walk() if (family := FAMILIES.get(type(op))) is not None]
    if any(isinstance(op, TransposeOp) for op in func.walk()):
        found.append(transposition)
    if not found:
        return None
    try:
        group = group_of(func, target, elementwise, measured)
        group.host.constants_of = {v: constants.get(v.index, ()) for v in func.args}
        program = found[0](group)
        return None if program is None else kernel_from(group, program)
    except (NoKernel, UnknownExtent, TooComplex):
        return None


def gpu_kernel_of(
    func: FuncOp,
    target: Target,
    constants: Constants = MappingProxyType({}),
    measured: Sequence[Choice] | None = None,
) -> Kernel:
    """Return the kernel of `func` on a GPU: tile programs, or else loops, of which
    `lower-to-cuda-tile` makes tile programs; NoKernel if there is neither."""
    found = tile_kernel_of(func, target, elementwise_on_tiles, measured, constants)
    kernel = found or kernel_of(func, target, constants, measured=measured)
    kernel.func.location = location_of_group(func)
    for entry in found.entries if found is not None else ():
        entry.location = kernel.func.location
    return kernel


def location_of_group(func: FuncOp) -> LocationAttr:
    """Return the locations of the operations of a group, with their names."""
    ops = [op for op in func.body.block.ops if not isinstance(op.location, UnknownLoc)]
    names = [NameLoc(StringAttr(op.name), op.location) for op in ops if op.next_op is not None]
    return FusedLoc(ArrayAttr(names), NoneAttr()) if names else UnknownLoc()
