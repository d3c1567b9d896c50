"""tir-narrow-data-type: compute integers in fewer bits where all values fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...compiler.analysis.arith.analyzer import Analyzer
from ...compiler.analysis.arith.expressions import bit_width
from ...compiler.analysis.arith.scoped_walk import walk_in_scopes
from ...dialects.tir.ops import PrimFuncOp
from ...passmanager.actions import SILENT, Actions
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase
from .base import PrimFuncPass

BITWISE = (arith.AndIOp, arith.OrIOp, arith.XOrIOp)
"""Functions of sign-extended integers whose results are sign-extended, whatever the operands."""
UNSIGNED = (arith.DivUIOp, arith.RemUIOp, arith.MinUIOp, arith.MaxUIOp)
BINARY = (
    arith.AddiOp,
    arith.SubiOp,
    arith.MuliOp,
    arith.DivSIOp,
    arith.FloorDivSIOp,
    arith.CeilDivSIOp,
    arith.RemSIOp,
    arith.MinSIOp,
    arith.MaxSIOp,
    *UNSIGNED,
    *BITWISE,
)
EXTENSIONS = (arith.ExtSIOp, arith.ExtUIOp)


def narrow_integers(func: PrimFuncOp, bits: int, actions: Actions = SILENT) -> None:
    """Compute integers of more than `bits` bits in `bits` where all operands and results fit.

    Only what begins with constants, indices and shorter integers, and ends in indices, comparisons
    and shorter integers, becomes narrow: no computed value is extended or truncated for it. Loop
    variables are of type `index`, whose width the target chooses.
    """
    narrower = Narrower(bits)
    analyzer = Analyzer()
    for op in walk_in_scopes(func.body.block, analyzer):
        narrower.visit(op, analyzer)
    narrower.leave_mixed()
    if narrower.found and actions.allowed(func):
        actions.count("narrowed", len(narrower.found))
        actions.passed(func, "Narrowed", f"integers of {bits} bits", Ops=len(narrower.found))
        narrower.rewrite()


@dataclass
class Narrower:
    """Finds the operations that can be computed in fewer bits, and replaces them."""

    bits: int
    found: dict[Operation, None] = field(default_factory=dict[Operation, None])
    """Operations that fit, in order."""
    fitting: set[SSAValue] = field(default_factory=set[SSAValue])
    """Values of a wider type that fit, where they are defined."""
    narrow: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def visit(self, op: Operation, analyzer: Analyzer) -> None:
        """Record whether `op`, of which `analyzer` knows the operands, fits."""
        if isinstance(op, arith.CmpiOp):
            if self.is_wide(op.lhs) and self.fitting.issuperset(op.operands):
                self.found[op] = None
        elif len(op.results) == 1 and self.is_wide(result := op.results[0]):
            if isinstance(op, arith.SelectOp):
                fits = self.fitting.issuperset((op.lhs, op.rhs))
            elif isinstance(op, BITWISE):
                fits = self.fitting.issuperset(op.operands)
            else:
                fits = self.fits(result, analyzer)
                if isinstance(op, BINARY):
                    fits = fits and self.fitting.issuperset(op.operands)
                if isinstance(op, UNSIGNED):
                    lows = [analyzer.bounds(operand).low for operand in op.operands]
                    fits = fits and all(low is not None and low >= 0 for low in lows)
            if fits:
                self.fitting.add(result)
                if isinstance(op, (*BINARY, arith.SelectOp)):
                    self.found[op] = None

    def is_wide(self, value: SSAValue) -> bool:
        return bit_width(value.type) > self.bits

    def fits(self, value: SSAValue, analyzer: Analyzer) -> bool:
        """Return whether all values are those of a signed integer of `bits` bits."""
        within, most = analyzer.bounds(value), 1 << (self.bits - 1)
        if within.low is None or within.high is None:
            return False
        return -most <= within.low and within.high < most

    def leave_mixed(self) -> None:
        """Leave out operations with an operand or a use that would need a conversion, then those
        next to them."""
        # Each operation is left out once, and looks at its neighbours then: linear in the uses.
        pending = [op for op in self.found if not self.is_closed(op)]
        while pending:
            if (op := pending.pop()) not in self.found:
                continue
            del self.found[op]
            sources = [value.owner for value in op.operands if self.is_wide(value)]
            users = [use.operation for value in op.results for use in value.uses]
            pending += [o for o in (*sources, *users) if isinstance(o, Operation)]

    def is_closed(self, op: Operation) -> bool:
        """Return whether `op` needs no conversion, if its neighbours are narrow, too."""
        operands = [value for value in op.operands if self.is_wide(value)]
        results = [value for value in op.results if self.is_wide(value)]
        return all(map(self.is_source, operands)) and all(
            use.operation in self.found or self.is_end(use.operation)
            for value in results
            for use in value.uses
        )

    def is_source(self, value: SSAValue) -> bool:
        """Return whether the narrow form of `value` takes no operation more than it does."""
        match value.owner:
            case arith.ConstantOp():
                return True
            case arith.IndexCastOp() as op:
                return isinstance(op.input.type, IndexType)
            case arith.ExtSIOp() | arith.ExtUIOp() as op:
                return bit_width(op.input.type) <= self.bits
            case owner:
                return owner in self.found

    def is_end(self, op: Operation) -> bool:
        """Return whether `op` converts a wide integer to an index or a short integer."""
        if isinstance(op, arith.TruncIOp):
            return bit_width(op.result.type) <= self.bits
        return isinstance(op, arith.IndexCastOp)

    def rewrite(self) -> None:
        """Replace the operations that were found, and the conversions around them."""
        ends: dict[Operation, None] = {}
        for op in self.found:
            operands = [self.narrowed(v) if self.is_wide(v) else v for v in op.operands]
            new = self.rebuilt(op, operands)
            new.location = op.location
            Rewriter.insert_op(new, InsertPoint.before(op))
            result, old = new.results[0], op.results[0]
            result.name_hint = old.name_hint
            if isinstance(op, arith.CmpiOp):
                old.replace_all_uses_with(result)
                continue
            self.narrow[old] = result
            users = [use.operation for use in old.uses]
            ends |= dict.fromkeys(user for user in users if user not in self.found)
        for op in ends:
            value = self.narrow[op.operands[0]]
            if op.results[0].type == value.type:
                Rewriter.replace_op(op, [], [value])
            else:
                op.operands[0] = value
        sources = dict.fromkeys(v.owner for op in self.found for v in op.operands)
        for op in reversed([*self.found]):
            erase(op)
        for op in sources:
            if isinstance(op, (arith.ConstantOp, arith.IndexCastOp, *EXTENSIONS)):
                if op.result.first_use is None:
                    erase(op)

    def narrowed(self, value: SSAValue) -> SSAValue:
        """Return the narrow form of a wide value; insert it where that is defined."""
        if value in self.narrow:
            return self.narrow[value]
        source, type = value.owner, IntegerType(self.bits)
        new: Operation
        match source:
            case arith.ConstantOp():
                attribute = source.value
                assert isinstance(attribute, IntegerAttr)
                new = arith.ConstantOp(IntegerAttr(attribute.value.data, type))
            case arith.IndexCastOp():
                new = arith.IndexCastOp(source.input, type)
            case arith.ExtSIOp() | arith.ExtUIOp():
                if source.input.type == type:
                    return source.input
                new = source.__class__(source.input, type)
            case _:
                raise AssertionError(value)
        new.location = source.location
        Rewriter.insert_op(new, InsertPoint.before(source))
        self.narrow[value] = result = new.results[0]
        result.name_hint = value.name_hint
        return result

    @staticmethod
    def rebuilt(op: Operation, operands: Sequence[SSAValue]) -> Operation:
        """Return `op` on other operands; without flags, which are those of the wide type."""
        match op:
            case arith.CmpiOp():
                return arith.CmpiOp(operands[0], operands[1], op.predicate.value.data)
            case arith.SelectOp():
                return arith.SelectOp(*operands)
            case _:
                make: Callable[..., Operation] = partial(type(op))
                return make(*operands)


@dataclass(frozen=True)
class NarrowDataType(PrimFuncPass):
    """Compute integers in fewer bits where all their values fit; source: `tirx.NarrowDataType`.

    Before:

        tir.prim_func @f(%a: memref<64xf32>, %x: f32) {
          %c0 = arith.constant 0 : index
          %c8 = arith.constant 8 : index
          %wide = arith.constant 8 : i64
          tir.for %i = %c0 extent %c8 {
            %0 = arith.index_cast %i : index to i64
            %1 = arith.muli %0, %wide : i64
            %2 = arith.index_cast %1 : i64 to index
            memref.store %x, %a[%2] : memref<64xf32>
          }
        }

    After:

        tir.prim_func @f(%a: memref<64xf32>, %x: f32) {
          %c0 = arith.constant 0 : index
          %c8 = arith.constant 8 : index
          %wide = arith.constant 8 : i32
          tir.for %i = %c0 extent %c8 {
            %0 = arith.index_cast %i : index to i32
            %1 = arith.muli %0, %wide : i32
            %2 = arith.index_cast %1 : i32 to index
            memref.store %x, %a[%2] : memref<64xf32>
          }
        }
    """

    name = "tir-narrow-data-type"
    opt_level = 4

    target_bits: int = field(default=32, metadata={"minimum": 2})
    """The bits of the narrow integers."""

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        if not func.is_declaration:
            narrow_integers(func, self.target_bits, ctx.actions)
