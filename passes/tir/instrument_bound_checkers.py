"""tir-instrument-bound-checkers: check that indices are inside of their buffers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects import arith, cf, memref, vector
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerAttr, MemRefType, ModuleOp
from xdsl.dialects.builtin import VectorType as Vector
from xdsl.ir import Operation, SSAValue
from xdsl.utils.hints import isa

from ...compiler.analysis.arith.analyzer import Analyzer
from ...compiler.analysis.arith.linear_form import ZERO
from ...compiler.analysis.arith.scoped_walk import walk_in_scopes
from ...dialects.tir.ops import PrimFuncOp
from ...passmanager.actions import SILENT, Actions
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import insert_before
from .base import PrimFuncPass

Access: TypeAlias = memref.LoadOp | memref.StoreOp | vector.LoadOp | vector.StoreOp
"""The operations whose indices are checked. Those with a mask may have indices beyond the end."""

INDEX = IndexType()


def check_bounds(func: PrimFuncOp, actions: Actions = SILENT) -> None:
    """Insert an assertion before each access of `func` with an index that is not known to be
    inside of its buffer; the message names the access, the index and the buffer.

    An index is known to be inside if loops, conditions and assertions around it say so.
    """
    checker = BoundChecker(actions)
    for op in walk_in_scopes(func.body.block, checker.analyzer):
        if isinstance(op, Access):
            checker.check(op)


class BoundChecker:
    """Inserts checks before accesses, by what is known where the visit is."""

    def __init__(self, actions: Actions) -> None:
        self.analyzer = Analyzer()
        self.actions = actions

    def check(self, op: Access) -> None:
        """Insert an assertion for each index of `op` that may be out of bounds."""
        buffer = op.base if isinstance(op, vector.LoadOp | vector.StoreOp) else op.memref
        type = buffer.type
        assert isa(type, MemRefType)
        indices: Sequence[SSAValue] = op.indices
        for axis, (index, size) in enumerate(zip(indices, type.get_shape(), strict=True)):
            last = axis == len(indices) - 1
            lanes = lanes_of(op) if last else 1
            self.check_index(op, buffer, axis, index, size, lanes)

    def check_index(
        self, op: Access, buffer: SSAValue, axis: int, index: SSAValue, size: int, lanes: int
    ) -> None:
        """Insert an assertion before `op` that `lanes` elements from `index` on are inside, as far
        as that is not known."""
        new: list[Operation] = []

        def constant(value: int) -> SSAValue:
            new.append(op := arith.ConstantOp(IntegerAttr(value, INDEX)))
            return op.result

        def compare(predicate: str, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
            new.append(op := arith.CmpiOp(lhs, rhs, predicate))
            return op.result

        form = self.analyzer.linear(index)
        if self.analyzer.bounds(form).is_empty:
            return  # in a loop without iterations
        conditions: list[SSAValue] = []
        if not self.analyzer.can_prove("sge", form, ZERO):
            conditions.append(compare("sge", index, constant(0)))
        if size != DYNAMIC_INDEX:
            # The last index at which all lanes are inside; below 0 if the buffer is too small.
            most = size - lanes
            if not self.analyzer.can_prove("sle", form, ZERO + most):
                conditions.append(compare("sle", index, constant(most)))
        else:
            new.append(dim := memref.DimOp(buffer, constant(axis)))
            if self.analyzer.can_prove("sle", form + lanes, self.analyzer.linear(dim.result)):
                del new[-2:]
            else:
                end = index
                if lanes > 1:
                    new.append(sum := arith.AddiOp(index, constant(lanes - 1)))
                    end = sum.result
                conditions.append(compare("slt", end, dim.result))
        if not conditions or not self.actions.allowed(op):
            return
        condition = conditions[0]
        for other in conditions[1:]:
            new.append(both := arith.AndIOp(condition, other))
            condition = both.result
        text = f"{access_text(op, buffer)}: {index_text(index, axis, lanes)} is out of bounds"
        new.append(cf.AssertOp(condition, text))
        for inserted in new:
            inserted.location = op.location
        insert_before(op, *new)
        # The same index is known to be inside after that, as in a store to the place of a load.
        self.analyzer.assume(condition)
        self.actions.count("checks")
        self.actions.passed(op, "Checked", text)


def lanes_of(op: Access) -> int:
    """Return how many adjacent elements an operation accesses."""
    type = (op.result if isinstance(op, vector.LoadOp) else op.operands[0]).type
    if isinstance(op, vector.LoadOp | vector.StoreOp) and isa(type, Vector):
        return type.get_shape()[-1]
    return 1


def access_text(op: Access, buffer: SSAValue) -> str:
    """Return the operation in words, with the name of the buffer."""
    name = f"%{buffer.name_hint}, a " if buffer.name_hint else "a "
    kind = "store to" if isinstance(op, memref.StoreOp | vector.StoreOp) else "load from"
    return f"{kind} {name}{buffer.type}"


def index_text(index: SSAValue, axis: int, lanes: int) -> str:
    """Return the place and the name of an index."""
    name = f" (%{index.name_hint})" if index.name_hint else ""
    return f"index {axis}{name}" + (f", with {lanes} lanes," if lanes > 1 else "")


@dataclass(frozen=True)
class InstrumentBoundCheckers(PrimFuncPass):
    """Assert before each access that its indices are inside of the buffer; source:
    `s_tir.InstrumentBoundCheckers`.

    The assertions fail in the interpreter and in machine code. There is none for an index that is
    known to be inside. Place the pass before vectorization, whose masks keep lanes beyond the end
    out of memory: `--add-pass=tir-instrument-bound-checkers` does.

    Before:

        tir.prim_func @f(%a: memref<8xindex>, %b: memref<4xf32>, %x: f32) {
          %c0 = arith.constant 0 : index
          %c8 = arith.constant 8 : index
          tir.for %i = %c0 extent %c8 {
            %at = memref.load %a[%i] : memref<8xindex>
            memref.store %x, %b[%at] : memref<4xf32>
          }
        }

    After:

        tir.prim_func @f(%a: memref<8xindex>, %b: memref<4xf32>, %x: f32) {
          %c0 = arith.constant 0 : index
          %c8 = arith.constant 8 : index
          tir.for %i = %c0 extent %c8 {
            %at = memref.load %a[%i] : memref<8xindex>
            %zero = arith.constant 0 : index
            %0 = arith.cmpi sge, %at, %zero : index
            %c3 = arith.constant 3 : index
            %1 = arith.cmpi sle, %at, %c3 : index
            %2 = arith.andi %0, %1 : i1
            cf.assert %2, "store to %b, a memref<4xf32>: index 0 (%at) is out of bounds"
            memref.store %x, %b[%at] : memref<4xf32>
          }
        }
    """

    name = "tir-instrument-bound-checkers"
    opt_level = 4
    before = ("tir-parallelize",)

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        if not func.is_declaration:
            check_bounds(func, ctx.actions)
