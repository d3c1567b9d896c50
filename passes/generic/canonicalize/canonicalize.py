"""canonicalize: xDSL's canonicalization, and what MLIR's does on scalars and control flow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, RewritePattern
from xdsl.transforms.canonicalization_patterns import arith, cf, scf
from xdsl.transforms.canonicalize import CanonicalizationRewritePattern
from xdsl.utils.exceptions import PassFailedException

from ....passmanager.actions import SILENT, Actions
from ....passmanager.base import ModulePass
from ....passmanager.context import PassContext
from ....passmanager.fast.edit import read_step
from ....passmanager.fast.pattern_driver import DeclaredPatterns
from ....passmanager.ir.walk import walk
from ....passmanager.rewriting import apply_patterns
from ..identical_blocks import merge_identical_blocks
from ..region_dead_code import remove_region_dead_code
from ..remove_dead_values import remove_dead_values
from .block_patterns import (
    MergeWithSuccessor,
    PassThroughBranch,
    PassThroughCondBranch,
    PassThroughSwitch,
    PropagateConditionToBlocks,
)
from .by_dialect import DialectFolds, DialectPatterns
from .control_flow_patterns import control_flow_patterns
from .loop_patterns import HoistLoopConstants, InlineExecuteRegion, InlineSingleIteration
from .scalar_patterns import ReassociateFloats, scalar_patterns

# The patterns of `canonicalize` in place of those that xDSL's operations declare and that are
# wrong, fail or do not end on some IR.


REPLACED: Final[Mapping[type[RewritePattern], Sequence[RewritePattern]]] = {
    # An unregistered operation is no constant.
    scf.RehoistConstInLoops: (HoistLoopConstants(),),
    # Index constants wrap at 64 bits. `SimplifyLoop` removes loops without iterations.
    scf.SimplifyTrivialLoops: (InlineSingleIteration(),),
    # A terminator that is no `scf.yield` has effects.
    scf.SingleBlockExecuteInliner: (InlineExecuteRegion(),),
    # In a cycle of blocks that only branch on they never end.
    cf.SimplifyPassThroughBr: (PassThroughBranch(),),
    cf.SimplifyPassThroughCondBranch: (PassThroughCondBranch(),),
    cf.SimplifyPassThroughSwitch: (PassThroughSwitch(),),
    # They walk over all branches to a block, and all uses of a condition, for each branch.
    cf.SimplifyBrToBlockWithSinglePred: (MergeWithSuccessor(),),
    cf.CondBranchTruthPropagation: (PropagateConditionToBlocks(),),
    # Arithmetic whose result has no place in its type: `FoldScalar` computes it.
    arith.FoldConstConstOp: (),
    arith.SignlessIntegerBinaryOperationConstantProp: (),
    arith.SignlessIntegerBinaryOperationZeroOrUnitRight: (),
    arith.FoldConstsByReassociation: (ReassociateFloats(),),
}
"""What is tried in place of the patterns of a class."""


RegionSimplification: TypeAlias = Literal["disabled", "normal", "aggressive"]


def canonicalize(
    module: ModuleOp,
    ctx: Context,
    max_num_rewrites: int = -1,
    actions: Actions = SILENT,
    *,
    mlir: bool = False,
    top_down: bool = True,
    region_simplify: RegionSimplification = "normal",
    max_iterations: int = -1,
) -> bool:
    """Remove dead ops, fold, and apply the canonicalization patterns of all ops in `module`; with
    `mlir` also what MLIR's canonicalization does: patterns and folds that xDSL lacks, and the
    removal of dead results of branches and loops. Without it the result is that of xDSL's
    canonicalization. Return False if a limit ended it before nothing changed.

    Stops when nothing changes, or after `max_num_rewrites` rewrites or `max_iterations` rounds of
    patterns and simplified regions (negative: no limit). Counts the rewrites of each pattern under
    its name.
    """
    patterns = _patterns(ctx) if mlir else _folding([CanonicalizationRewritePattern()], ctx)
    left = max_num_rewrites
    while max_iterations:
        fired = apply_patterns(
            module,
            patterns,
            remove_dead=True,
            max_num_rewrites=left,
            actions=actions,
            top_down=top_down,
        )
        for name, times in fired.items():
            actions.count(name, times)
        if max_num_rewrites >= 0:
            left -= fired.total()
        if not left:
            return False
        if not fired and not _remove_more(module, actions, mlir, region_simplify):
            return True
        max_iterations -= 1
    return False


def _patterns(ctx: Context) -> list[RewritePattern]:
    """Return the patterns of xDSL and of MLIR."""
    # Our own folds first: xDSL's fail where the result has no place in its type.
    declared = _folding([DeclaredPatterns(REPLACED)], ctx)
    ours = [*scalar_patterns(ctx), *control_flow_patterns(), DialectPatterns(ctx)]
    return [DialectFolds(ctx), *declared, *ours]


def _folding(patterns: list[RewritePattern], ctx: Context) -> list[RewritePattern]:
    """Return `patterns` after the folders of the operations."""
    return [GreedyRewritePatternApplier(patterns, ctx, folding_enabled=True)]


def _remove_more(
    module: ModuleOp, actions: Actions, mlir: bool, region_simplify: RegionSimplification
) -> bool:
    """Remove what patterns do not find to be dead or equal; return whether there was any."""
    found = region_simplify != "disabled" and _simplify_regions(
        module, actions, mlir=mlir, merges=region_simplify == "aggressive"
    )
    return found or (mlir and remove_dead_values(module, actions=actions) > 0)


def _simplify_regions(module: ModuleOp, actions: Actions, *, mlir: bool, merges: bool) -> bool:
    """Remove dead ops that have uses, and merge equal blocks, in one step; return
    whether anything was changed."""
    if not _may_hide_dead_ops(module):
        return False
    if not actions.allowed(module, "region-dce"):
        return False
    changed = remove_region_dead_code(module)
    return (mlir and merges and merge_identical_blocks(module)) or changed


def _may_hide_dead_ops(module: ModuleOp) -> bool:
    """Return whether dead ops may have uses: in unreachable blocks, or in cycles.

    A cheap test before `remove_region_dead_code`, which costs as much as all rewrites. A cycle
    may be in any region: xDSL does not verify dominance, and its e-graphs stand in functions.
    """
    seen: set[int] = set()
    for op in walk(module):
        operands, results, regions, _ = read_step(op)
        for result in results:
            seen.add(id(result))
        for value in operands:
            # A use before its definition in the text: a cycle, or a block out of dominance order.
            if id(value) not in seen and isinstance(value, OpResult):
                return True
        for region in regions:
            if (block := region.first_block) is not region.last_block:
                return True
            if block is not None:
                seen.update(map(id, block.args))
    return False


@dataclass(frozen=True)
class Canonicalize(ModulePass):
    """Bring ops into their canonical form; replaces xDSL's pass of this name.

    Before:

        func.func @main(%x: i32) -> i32 {
          %0 = arith.constant 0 : i32
          %1 = arith.addi %x, %0 : i32
          func.return %1 : i32
        }

    After:

        func.func @main(%x: i32) -> i32 {
          func.return %x : i32
        }
    """

    name = "canonicalize"
    nestable = True

    top_down: bool = True
    """Visit the operations in the order of the text at first; else the last ones first."""
    region_simplify: RegionSimplification = "normal"
    """Remove dead blocks, arguments and cycles of operations ('normal'); also merge equal blocks,
    and drop arguments that are always the same value ('aggressive'); neither ('disabled')."""
    max_iterations: int = field(default=-1, metadata={"minimum": -1})
    """Stop after this number of rounds of patterns and simplified regions; -1: no limit. A round
    goes on until no pattern applies, so that three are enough in most cases."""
    max_num_rewrites: int = field(default=-1, metadata={"minimum": -1})
    """Stop after this number of rewrites, to find the one that breaks a program; -1: no limit."""
    test_convergence: bool = False
    """Fail if a limit ends the pass before nothing changes."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        converged = canonicalize(
            module,
            ctx.ir_context,
            self.max_num_rewrites,
            ctx.actions,
            mlir=True,
            top_down=self.top_down,
            region_simplify=self.region_simplify,
            max_iterations=self.max_iterations,
        )
        if self.test_convergence and not converged:
            raise PassFailedException("a limit ended canonicalize before nothing changed")
