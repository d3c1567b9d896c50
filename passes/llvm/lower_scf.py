"""LowerSCF: loops and branches become blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, cf, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp, i1, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove

from ...dialects.tir.ops import PrimFuncOp
from ...passmanager.base import ModulePass
from ...passmanager.conditions import condition
from ...passmanager.context import PassContext
from ...passmanager.errors import PasslineError
from ...passmanager.fast.edit import insert_before, replace_all_uses
from ...passmanager.ir.location import place_of
from ...passmanager.ir.walk import walk
from .conversion import integers32

EQUAL = IntegerAttr(0, i64)
SIGNED_LESS = IntegerAttr(2, i64)
"""Predicates of `arith.cmpi`."""


@condition("no-scf-in-prim-funcs", "no tir.prim_func, which has one block, has loops of scf in it")
def no_scf_in_prim_funcs(func: Operation) -> Iterator[tuple[Operation, str]]:
    """Yield the loops and branches of scf directly in a `tir.prim_func`."""
    for op in func.body.block.ops if isinstance(func, PrimFuncOp) and func.body.blocks else ():
        if op.regions and op.name.startswith("scf."):
            yield op, "is in a tir.prim_func, which has one block: run lower-tir first"


def lower_to_blocks(module: ModuleOp) -> None:
    """Turn the loops and branches in the functions of a module into blocks, in an order in which
    values are computed before they are used.

    Errors: PasslineError for a loop or branch in a `tir.prim_func`, before anything changes.
    """
    for func in module.ops:
        for op, how in no_scf_in_prim_funcs(func):
            raise PasslineError(f"'{op.name}'{place_of(op)} {how}")
    functions = [
        op
        for op in walk(module)
        if op.regions
        and op.has_trait(IsolatedFromAbove, value_if_unregistered=False)
        and op is not module
    ]
    for function in functions:
        for region in function.regions:
            for block in [*region.blocks]:
                RegionBlocks(region, block).lower(block)


class RegionBlocks:
    """The blocks of a region, as they are made one after the other."""

    def __init__(self, region: Region, last: Block) -> None:
        self.region = region
        self.last = last

    def lower(self, block: Block) -> None:
        """Replace the loops and branches of a block of the region; what follows one of them is in
        blocks of its own, `last` at the end."""
        self.last = block
        for op in [*block.ops]:
            # An earlier loop or branch of the block has ended it: the rest goes into the block
            # after that.
            if op.parent is not self.last:
                op.detach()
                self.last.add_op(op)
            if not op.regions:  # nearly all of them
                continue
            match op:
                case scf.ForOp():
                    self.lower_for(op)
                case scf.WhileOp():
                    self.lower_while(op)
                case scf.IfOp():
                    self.lower_if(op)
                case scf.ParallelOp():
                    self.lower_parallel(op)
                case scf.IndexSwitchOp():
                    self.lower_switch(op)
                case scf.ExecuteRegionOp():
                    self.lower_region(op)
                case _:
                    pass

    def append(self, block: Block) -> Block:
        """Put a new block, or one of an operation, after the last one."""
        # Blocks are moved, not copied, so that values keep their identity.
        if (region := block.parent) is not None:
            region.detach_block(block)
        self.region.insert_block_after(block, self.last)
        self.last = block
        return block

    def add(
        self,
        op: Operation,
        kind: type[Operation],
        operands: Sequence[SSAValue],
        result: Attribute,
        **properties: Attribute,
    ) -> SSAValue:
        """Add an operation in place of `op` to the last block; return its result."""
        new = kind.create(
            operands=operands, result_types=[result], properties=properties, location=op.location
        )
        self.last.add_op(new)
        return new.results[0]

    def branch(self, op: Operation, to: Block, values: Sequence[SSAValue] = ()) -> None:
        """End the last block by a branch in place of `op`."""
        new = cf.BranchOp.create(operands=values, successors=[to], location=op.location)
        self.last.add_op(new)

    def branch_if(
        self,
        op: Operation,
        condition: SSAValue,
        then: Block,
        otherwise: Block,
        values: Sequence[SSAValue] = (),
    ) -> None:
        """End the last block by a branch, in place of `op`, to one of two blocks, which both get
        `values`."""
        new = cf.ConditionalBranchOp.create(
            operands=[condition, *values, *values],
            successors=[then, otherwise],
            properties={"operandSegmentSizes": integers32(1, len(values), len(values))},
            location=op.location,
        )
        self.last.add_op(new)

    def body(self, region: Region) -> Operation:
        """Append the lowered block of a region, but for its terminator, which is returned."""
        block = region.block
        self.lower(self.append(block))
        assert (end := self.last.last_op) is not None
        end.detach()
        return end

    def close(self, region: Region, after: Block) -> None:
        """Append the lowered block of a region, which then branches to `after` with what it
        yields."""
        end = self.body(region)
        self.branch(end, after, end.operands)
        end.drop_all_references()

    def replace(self, op: Operation, after: Block, values: Sequence[SSAValue]) -> None:
        """Go on in `after`, with `values` for the results of an operation."""
        self.append(after)
        for result, value in zip(op.results, values, strict=True):
            replace_all_uses(result, value)
        op.erase(safe_erase=False)

    def lower_for(self, op: scf.ForOp) -> None:
        """A loop is tested before each iteration."""
        op.detach()
        # The test block has the variable and the carried values as arguments, which dominate the
        # body and what comes after: no other block needs arguments. LLVM rotates the loop.
        test, after = Block(arg_types=[op.lb.type, *op.result_types]), Block()
        body = op.body.block
        self.branch(op, test, [op.lb, *op.iter_args])
        self.append(test)
        variable = test.args[0]
        holds = self.add(op, arith.CmpiOp, (variable, op.ub), i1, predicate=SIGNED_LESS)
        self.branch_if(op, holds, body, after)
        for old, new in zip([*body.args], test.args, strict=True):
            replace_all_uses(old, new)
            body.erase_arg(old)
        end = self.body(op.body)
        step = self.add(end, arith.AddiOp, (variable, op.step), variable.type)
        self.branch(end, test, [step, *end.operands])
        end.drop_all_references()
        self.replace(op, after, test.args[1:])

    def lower_while(self, op: scf.WhileOp) -> None:
        op.detach()
        before, body = op.before_region.block, op.after_region.block
        after = Block(arg_types=op.result_types)
        self.branch(op, before, op.arguments)
        end = self.body(op.before_region)
        # The values that the condition passes on are results if it fails, and arguments if it
        # holds.
        holds, *values = end.operands
        self.branch_if(end, holds, body, after, values)
        end.drop_all_references()
        self.close(op.after_region, before)
        self.replace(op, after, after.args)

    def lower_if(self, op: scf.IfOp) -> None:
        op.detach()
        after = Block(arg_types=op.result_types)
        # Without an `else` there are no results, so nothing is passed to `after`.
        otherwise = op.false_region.first_block or after
        self.branch_if(op, op.cond, op.true_region.block, otherwise)
        for region in op.regions:
            if region.first_block is not None:
                self.close(region, after)
        self.replace(op, after, after.args)

    def lower_switch(self, op: scf.IndexSwitchOp) -> None:
        """Compare with one case after the other, which LLVM turns into a switch."""
        op.detach()
        after = Block(arg_types=op.result_types)
        for number, region in zip(op.cases.get_values(), op.case_regions, strict=True):
            value, following = IntegerAttr(number, IndexType()), Block()
            case = self.add(op, arith.ConstantOp, (), value.type, value=value)
            holds = self.add(op, arith.CmpiOp, (op.arg, case), i1, predicate=EQUAL)
            self.branch_if(op, holds, region.block, following)
            self.close(region, after)
            self.append(following)
        self.branch(op, op.default_region.block)
        self.close(op.default_region, after)
        self.replace(op, after, after.args)

    def lower_region(self, op: scf.ExecuteRegionOp) -> None:
        """The region may have several blocks, and may yield in several of them."""
        op.detach()
        after = Block(arg_types=op.result_types)
        self.branch(op, op.region.blocks[0])
        for block in [*op.region.blocks]:
            self.lower(self.append(block))
            if isinstance(end := self.last.last_op, scf.YieldOp):
                end.detach()
                self.branch(end, after, end.operands)
                end.drop_all_references()
        self.replace(op, after, after.args)

    def lower_parallel(self, op: scf.ParallelOp) -> None:
        self.lower_for(replace_by_loops(op))


def replace_by_loops(op: scf.ParallelOp) -> scf.ForOp:
    """Replace a parallel loop by loops that run one iteration after the other; return the outermost
    one."""
    loop = nest_of(op)
    insert_before(op, loop)
    for result, value in zip(op.results, loop.results, strict=True):
        replace_all_uses(result, value)
    op.detach()
    op.erase(safe_erase=False)
    return loop


def nest_of(op: scf.ParallelOp) -> scf.ForOp:
    """Return loops, one for each dimension, that run the iterations of a parallel loop one after
    the other; reductions are carried from one to the next."""
    body = op.detach_region(op.body).detach_block(0)
    first, *others = zip(op.lowerBound, op.upperBound, op.step, strict=True)
    blocks = [Block(arg_types=[IndexType(), *op.result_types]) for _ in others]
    for block in blocks:
        # Variables of the outer dimensions become arguments of the outer blocks; the innermost
        # stays.
        body.args[0].replace_all_uses_with(block.args[0])
        body.erase_arg(body.args[0])
    carried = [body.insert_arg(type, len(body.args)) for type in op.result_types]
    combine(body, carried)
    # From the inside out: each block gets the loop over the next inner dimension.
    for bounds, block in zip(reversed(others), reversed(blocks), strict=True):
        loop = scf.ForOp(*bounds, block.args[1:], body)
        loop.location = op.location
        block.add_ops([loop, scf.YieldOp(*loop.results)])
        body = block
    loop = scf.ForOp(*first, op.initVals, body)
    loop.location = op.location
    return loop


def combine(body: Block, carried: Sequence[SSAValue]) -> None:
    """Let the body of a parallel loop yield its reductions with the values before it."""
    assert isinstance(reduce := body.last_op, scf.ReduceOp)
    reduce.detach()
    found: list[SSAValue] = []
    for value, region, before in zip(reduce.args, reduce.reductions, carried, strict=True):
        block = region.block
        # `acc = op(acc, value)` in the order of the iterations: a reduction allows any order.
        for argument, given in zip(block.args, (before, value), strict=True):
            replace_all_uses(argument, given)
        for each in [*block.ops]:
            each.detach()
            if isinstance(each, scf.ReduceReturnOp):
                found.append(each.operands[0])
                each.drop_all_references()
            else:
                body.add_op(each)
    body.add_op(end := scf.YieldOp(*found))
    end.location = reduce.location
    reduce.erase(safe_erase=False)


@dataclass(frozen=True)
class LowerSCF(ModulePass):
    """Turn loops and branches (`scf`) into blocks; source: MLIR's convert-scf-to-cf.

    The iterations of `scf.parallel` run one after the other.

    Before:

        func.func @f(%c: i1, %x: f32, %y: f32) -> f32 {
          %0 = scf.if %c -> (f32) {
            scf.yield %x : f32
          } else {
            scf.yield %y : f32
          }
          func.return %0 : f32
        }

    After:

        func.func @f(%c: i1, %x: f32, %y: f32) -> f32 {
          cf.cond_br %c, ^bb0, ^bb1
        ^bb0:
          cf.br ^bb2(%x : f32)
        ^bb1:
          cf.br ^bb2(%y : f32)
        ^bb2(%0: f32):
          func.return %0 : f32
        }
    """

    name = "lower-scf"
    requires = (no_scf_in_prim_funcs,)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        lower_to_blocks(module)
