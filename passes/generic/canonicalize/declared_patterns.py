"""The patterns of `canonicalize` in place of those that xDSL's operations declare and that are
wrong, fail or do not end on some IR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from xdsl.pattern_rewriter import RewritePattern
from xdsl.transforms.canonicalization_patterns import arith, cf, scf

from .branch_patterns import PassThroughBranch, PassThroughCondBranch, PassThroughSwitch
from .control_flow_patterns import HoistLoopConstants, InlineExecuteRegion, InlineSingleIteration
from .scalar_patterns import ReassociateFloats

__all__ = ["REPLACED"]

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
    # Arithmetic whose result has no place in its type: `FoldScalar` computes it.
    arith.FoldConstConstOp: (),
    arith.SignlessIntegerBinaryOperationConstantProp: (),
    arith.SignlessIntegerBinaryOperationZeroOrUnitRight: (),
    arith.FoldConstsByReassociation: (ReassociateFloats(),),
}
"""What is tried in place of the patterns of a class."""
