"""Operations whose result sizes depend on data: calls of kernels, and operations with kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.tensor import CastOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from ....dialects.relax.data.detection import NonMaxSuppressionOp
from ....dialects.relax.data.gather import NonzeroOp, TakeOp
from ....dialects.relax.data.reshape import FlattenOp, SqueezeOp
from ....dialects.relax.dynamic.manipulation import DynamicCompressOp
from ....dialects.relax.types import is_ranked
from ....passmanager.ir.walk import walk
from .detection import call_selection_kernel
from .nonzero import call_nonzero_kernels
from .separate_kernels import SeparateKernels

__all__ = ["replace_data_dependent"]

Replacement: TypeAlias = Callable[[Any, SeparateKernels], SSAValue | None]
"""A function that inserts operations before another one and returns the value that replaces its
result; None, without inserting anything, if it does not support the operation."""


def replace_data_dependent(module: ModuleOp) -> None:
    """Replace the operations of `module` whose result sizes depend on data by calls of kernels, and
    by operations that have kernels."""
    kernels = SeparateKernels(module)
    # Decompositions first: the `nonzero` that `compress` inserts becomes calls in the second walk.
    for table in (DECOMPOSITIONS, CALLS):
        for op in [op for op in walk(module) if type(op) in table]:
            if (value := table[type(op)](op, kernels)) is None:
                continue
            (declared,) = op.result_types
            if value.type != declared:  # with sizes that are not inferred
                cast = CastOp.create(operands=[value], result_types=[declared])
                value = kernels.insert(op, cast)
            Rewriter.replace_op(op, [], [value])


def compress(op: DynamicCompressOp, kernels: SeparateKernels) -> SSAValue | None:
    """Take the slices at the positions where the condition holds."""
    if not is_ranked(op.data.type) or not is_ranked(op.condition.type):
        return None
    rows = kernels.insert(op, NonzeroOp(op.condition))
    places = kernels.insert(op, SqueezeOp(rows, axis=[0]))
    data = op.data if op.axis is not None else kernels.insert(op, FlattenOp(op.data))
    return kernels.insert(op, TakeOp(data, places, axis=op.axis or 0, mode="raise"))


DECOMPOSITIONS: Mapping[type[Operation], Replacement] = {DynamicCompressOp: compress}

CALLS: Mapping[type[Operation], Replacement] = {
    NonMaxSuppressionOp: call_selection_kernel,
    NonzeroOp: call_nonzero_kernels,
}
