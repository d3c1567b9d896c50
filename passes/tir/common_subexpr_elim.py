"""CommonSubexprElim: what has been computed or loaded is not computed or loaded again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects import arith, math, memref, vector
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.dialects.scf import IfOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import (
    AlwaysSpeculatable,
    IsTerminator,
    MemoryEffect,
    NoMemoryEffect,
    SymbolOpInterface,
)

from ...analysis.attribute_numbering import AttributeNumbering
from ...analysis.memory.effects import PURE, Epochs, Memory, has_nested_effects
from ...dialects.tir.ops import PrimFuncOp
from ...passmanager.context import PassContext
from ...passmanager.ir.access import read_fields
from ...passmanager.ir.location import location_of, place_text
from ...passmanager.remarks import Remarks
from .base import PrimFuncPass

__all__ = ["CommonSubexprElim", "eliminate_common_subexpressions"]

MAX_TERMS = 32
"""The most terms of a sum or product that are looked at one by one, whatever their order."""

ASSOCIATIVE: frozenset[type[Operation]] = frozenset(
    [
        arith.AddiOp,
        arith.MuliOp,
        arith.AndIOp,
        arith.OrIOp,
        arith.XOrIOp,
        arith.MaxSIOp,
        arith.MaxUIOp,
        arith.MinSIOp,
        arith.MinUIOp,
    ]
)
"""Operations on integers whose terms may be taken in any order; floats would change by it."""
COMMUTATIVE: frozenset[type[Operation]] = ASSOCIATIVE | {
    arith.AddfOp,
    arith.MulfOp,
    arith.MaximumfOp,
    arith.MinimumfOp,
}
DIVISIONS: frozenset[type[Operation]] = frozenset(
    [
        arith.CeilDivSIOp,
        arith.CeilDivUIOp,
        arith.DivSIOp,
        arith.DivUIOp,
        arith.FloorDivSIOp,
        arith.RemSIOp,
        arith.RemUIOp,
    ]
)
"""What must not run where it would not have, but for divisors that are known."""
LOADS = memref.LoadOp | vector.LoadOp | vector.MaskedLoadOp


def eliminate_common_subexpressions(
    func: PrimFuncOp,
    *,
    identify_equiv_terms: bool = False,
    gate: Callable[[], bool] | None = None,
    remarks: Remarks | None = None,
) -> tuple[int, int]:
    """Replace each operation by an equal one; returns how many, and how many moved for it.

    Equal are pure operations without regions on the same operands, and loads of memory that nothing
    may have written in between. What is equal in several regions is computed once in the
    innermost block that they are all in, unless it is a load or could fail there. With
    `identify_equiv_terms` the terms of sums and products are taken in any order, of floats if these
    are two. `gate`, if given, is asked before each replacement, and may keep it from being made.
    """
    elimination = Elimination(func, identify_equiv_terms, gate, remarks)
    elimination.visit(func.body.block)
    elimination.erase_merged()
    return len(elimination.merged), elimination.hoisted


Key = tuple[object, ...]


class Elimination:
    """One walk over a function, with what was computed so far."""

    def __init__(
        self,
        func: PrimFuncOp,
        identify_equiv_terms: bool,
        gate: Callable[[], bool] | None,
        remarks: Remarks | None,
    ) -> None:
        self.any_order = identify_equiv_terms
        self.gate = gate
        self.remarks = remarks or None
        self.memory = Memory(func)
        self.epochs = Epochs(self.memory)
        self.numbers = AttributeNumbering()
        self.kinds = Kinds()
        self.known: dict[Key, Operation] = {}
        """The operation that was seen last, of all equal ones; it may be in a region left since."""
        self.path: list[Block] = []
        """The blocks around, from outside in."""
        self.depths: dict[Block, int] = {}
        self.renamed: dict[SSAValue, SSAValue] = {}
        self.terms: dict[SSAValue, tuple[SSAValue, ...]] = {}
        self.merged: list[tuple[Operation, Operation]] = []
        self.hoisted = 0

    def visit(self, block: Block) -> None:
        """Visit the operations of a block in order."""
        self.depths[block] = len(self.path)
        self.path.append(block)
        for op in [*block.ops]:
            operands, results, _, _, _, regions, _ = read_fields(op)
            if self.renamed and not self.renamed.keys().isdisjoint(operands):
                op.operands = [self.renamed.get(operand, operand) for operand in operands]
            if regions:
                self.enter(op)
            elif results and (self.kinds[type(op)] or isinstance(op, LOADS)):
                self.merge(op)
            else:
                access = self.memory.of(op)
                self.epochs.change(access.writes, access.is_opaque)
        self.path.pop()

    def enter(self, op: Operation) -> None:
        """Visit the regions of an operation."""
        access = self.memory.of(op)
        if has_nested_effects(op):
            for region in op.regions:
                for block in region.blocks:
                    with self.epochs.scope():
                        if not isinstance(op, IfOp):  # what came before may be any of it
                            self.epochs.change(access.writes, access.is_opaque)
                        self.visit(block)
        self.epochs.change(access.writes, access.is_opaque)

    def merge(self, op: Operation) -> None:
        """Rename the results of an operation to those of an equal one, or remember it."""
        key = self.key_of(op)
        if key is None:
            return
        existing = self.known.get(key)
        if existing is None or not self.reach(existing, op):
            self.known[key] = op
            return
        if self.gate is not None and not self.gate():
            return
        self.merged.append((op, existing))
        self.renamed |= zip(op.results, existing.results, strict=True)

    def key_of(self, op: Operation) -> Key | None:
        """What is equal for equal operations; None if none is equal to it."""
        operands, results, properties, attributes, _, _, _ = read_fields(op)
        cls = type(op)
        key: Key = (cls, *(self.numbers.of(result.type) for result in results))
        if self.any_order and cls in ASSOCIATIVE and not has_flags(op):
            terms = self.terms_of(op)
            return (*key, *sorted(map(id, terms)), None, *self.numbers.of_all(attributes))
        places = [*map(id, operands)]
        if self.any_order and cls in COMMUTATIVE:
            places.sort()
        all_of = self.numbers.of_all
        key = (*key, *places, None, *all_of(properties), None, *all_of(attributes))
        if isinstance(op, LOADS):
            reads = self.memory.of(op).reads
            if not reads:
                return None
            key = (*key, *map(self.epochs.stamp, reads))
        return key

    def terms_of(self, op: Operation) -> tuple[SSAValue, ...]:
        """The terms of a sum, or of what has them in any order like it."""
        terms = list[SSAValue]()
        for operand in op.operands:
            owner = operand.owner
            nested = self.terms.get(operand) if isinstance(owner, type(op)) else None
            terms += (operand,) if nested is None else nested
        if len(terms) > MAX_TERMS:
            terms = [*op.operands]
        self.terms[op.results[0]] = found = tuple(terms)
        return found

    def reach(self, existing: Operation, op: Operation) -> bool:
        """Whether the results of an equal operation can be used here; it is moved for that where it
        may be."""
        block, around = existing.parent, None
        while block is not None and not self.is_around(block):
            around = block.parent_op()
            block = None if around is None else around.parent
        if block is None:
            return False
        if around is None:
            return True
        if not is_speculatable(existing) or not all(
            self.is_visible(operand, block) for operand in existing.operands
        ):
            return False
        if self.remarks is not None:
            self.remarks.passed(existing, "Hoisted", "equal ones are in several regions")
        existing.detach()
        block.insert_op_before(existing, around)
        self.hoisted += 1
        return True

    def is_around(self, block: Block) -> bool:
        """Whether the present operation is in a block, or in a region of an operation there."""
        depth = self.depths.get(block, len(self.path))
        return depth < len(self.path) and self.path[depth] is block

    def is_visible(self, value: SSAValue, block: Block) -> bool:
        """Whether a value is known in one of the blocks around."""
        made = value.owner if isinstance(value.owner, Block) else value.owner.parent
        return made is not None and self.is_around(made) and self.depths[made] <= self.depths[block]

    # Uses are renamed when the walk comes to them; what is left is in operations that are not
    # looked into.
    def erase_merged(self) -> None:
        """Erase the operations whose results were renamed."""
        for op, existing in self.merged:
            if self.remarks is not None:
                at = location_of(existing)
                first = {"First": place_text(at)} if at else {}
                self.remarks.passed(op, "Merged", "replaced by an equal operation", **first)
            for old, new in zip(op.results, existing.results, strict=True):
                old.replace_all_uses_with(new)
            op.detach()
            op.drop_all_references()


class Kinds(dict[type[Operation], bool]):
    """Whether operations of a class are pure and may be merged, found once for each."""

    def __missing__(self, cls: type[Operation]) -> bool:
        effects = cls.get_traits_of_type(MemoryEffect)
        self[cls] = answer = issubclass(cls, PURE) or (
            bool(effects)
            and all(isinstance(effect, NoMemoryEffect) for effect in effects)
            and cls.get_trait(IsTerminator) is None
            and cls.get_trait(SymbolOpInterface) is None
        )
        return answer


def has_flags(op: Operation) -> bool:
    """Whether an operation must not overflow: other terms first might."""
    flags = op.properties.get("overflowFlags")
    return flags is not None and flags != arith.IntegerOverflowAttr("none")


def is_speculatable(op: Operation) -> bool:
    """Whether an operation can be run where it would not have been."""
    if type(op) in DIVISIONS:
        divisor = op.operands[1].owner
        value = divisor.value if isinstance(divisor, arith.ConstantOp) else None
        # The quotient of the least number and -1 is none.
        return isinstance(value, IntegerAttr) and value.value.data not in (0, -1)
    if isinstance(op, math.IPowIOp):
        return False
    return isinstance(op, PURE) or op.has_trait(AlwaysSpeculatable, value_if_unregistered=False)


@dataclass(frozen=True)
class CommonSubexprElim(PrimFuncPass):
    """Compute and load equal values once; source: `tir.CommonSubexprElimTIR`."""

    name = "tir-common-subexpr-elim"

    enable_cse_tir: bool = True
    """Do it at all."""
    identify_equiv_terms: bool = False
    """Take the terms of sums and products in any order."""

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        if not self.enable_cse_tir:
            return
        merged, hoisted = eliminate_common_subexpressions(
            func,
            identify_equiv_terms=self.identify_equiv_terms,
            gate=ctx.gate(self.name),
            remarks=ctx.remarks,
        )
        ctx.count("merged", merged)
        ctx.count("hoisted", hoisted)
