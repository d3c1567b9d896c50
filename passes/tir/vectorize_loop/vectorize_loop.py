"""VectorizeLoop: the iterations of a loop become the lanes of vectors."""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import TypeIs
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ....compiler.analysis.constants import constant_extent
from ....dialects.tir.ops import ForKind, ForKindAttr, ForOp, PrimFuncOp
from ....passmanager.context import PassContext
from ....passmanager.diagnostics.actions import SILENT, Actions
from ....passmanager.ir.walk import walk
from ...loops.constant_pool import ConstantPool
from ...loops.expansion import expand_loop
from ..base import PrimFuncPass
from .vectorizer import vectorize_loop

__all__ = ["VectorizeLoop", "make_loops_serial", "vectorize_loops"]


def vectorize_loops(
    func: PrimFuncOp, *, predicate: bool = False, actions: Actions = SILENT
) -> None:
    """Vectorize the `vectorized` loops of `func`; of nested ones only the outermost.

    `predicate` allows masked accesses in place of branches. Errors: a loop whose extent is not
    constant, and an `scf.while` in a loop.
    """
    constants = ConstantPool(func)
    for loop in [op for op in walk(func) if is_vectorized(op)]:
        # A loop nested in an earlier one has become serial.
        if is_vectorized(loop) and can_vectorize(loop, actions):
            _vectorize(loop, constants, predicate, actions)


def make_loops_serial(func: PrimFuncOp) -> None:
    """Make the `vectorized` loops of `func` serial."""
    for loop in walk(func):
        if is_vectorized(loop):
            loop.kind = ForKindAttr(ForKind.SERIAL)


def is_vectorized(op: Operation) -> TypeIs[ForOp]:
    """Return whether `op` is a loop of kind `vectorized`."""
    return isinstance(op, ForOp) and op.for_kind is ForKind.VECTORIZED


def can_vectorize(loop: ForOp, actions: Actions) -> bool:
    """Report an error for each `scf.while` in `loop`; return False if there was one.

    Vectorized loops nested in `loop` become serial, with a warning.
    """
    allowed = True
    for op in walk(loop):
        if isinstance(op, scf.WhileOp):
            actions.error(op, "is in a vectorized loop").note(loop, "is the vectorized loop")
            allowed = False
        elif op is not loop and is_vectorized(op):
            actions.warning(op, "is in a vectorized loop: it runs as a serial loop")
            op.kind = ForKindAttr(ForKind.SERIAL)
    return allowed


def _vectorize(loop: ForOp, constants: ConstantPool, predicate: bool, actions: Actions) -> None:
    count = constant_extent(loop)
    if count is None:
        hint = loop.extent.name_hint
        name = f" %{hint}" if hint else ""
        actions.error(loop, f"cannot be vectorized: the extent{name} is not a constant")
    elif not actions.allowed(loop):
        return
    elif count < 2:
        # A vector of one lane is a scalar, and one of none does not exist.
        expand_loop(loop, count, constants)
    else:
        vectorize_loop(loop, count, constants, predicate=predicate, actions=actions)


@dataclass(frozen=True)
class VectorizeLoop(PrimFuncPass):
    """Replace `vectorized` loops of constant extent by vector operations.

    Operations that have no vector form run in serial loops over the lanes. The iterations of the
    loop must not depend on each other; a loop in which two iterations may store to the same
    element becomes serial. Source: `tir.VectorizeLoop`.

    Before:

        tir.prim_func @f(%x: memref<8xf32>, %y: f32) {
          %c0 = arith.constant 0 : index
          %c8 = arith.constant 8 : index
          tir.for vectorized %i = %c0 extent %c8 {
            %0 = memref.load %x[%i] : memref<8xf32>
            %1 = arith.mulf %0, %y : f32
            memref.store %1, %x[%i] : memref<8xf32>
          }
        }

    After:

        tir.prim_func @f(%x: memref<8xf32>, %y: f32) {
          %c0 = arith.constant 0 : index
          %c8 = arith.constant 8 : index
          %0 = vector.broadcast %y : f32 to vector<8xf32>
          %1 = vector.load %x[%c0] : memref<8xf32>, vector<8xf32>
          %2 = arith.mulf %1, %0 : vector<8xf32>
          vector.store %2, %x[%c0] : memref<8xf32>, vector<8xf32>
        }
    """

    name = "tir-vectorize-loop"

    enable_vectorize: bool = True
    """Make vectors; if false, vectorized loops become serial ones."""
    enable_buffer_level_predication: bool = False
    """Turn branches on `index < limit` into masked loads and stores."""

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        if self.enable_vectorize:
            predicate = self.enable_buffer_level_predication
            vectorize_loops(func, predicate=predicate, actions=ctx.actions)
        else:
            make_loops_serial(func)
