"""xDSL's canonicalization by our driver: the same result, in a fraction of the time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult
from xdsl.transforms.canonicalize import CanonicalizationRewritePattern
from xdsl.transforms.dead_code_elimination import region_dce

from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.ir.access import read_step
from ...passmanager.ir.walk import walk
from ...passmanager.rewriting import apply_patterns

__all__ = ["Canonicalize", "canonicalize"]


def canonicalize(
    module: ModuleOp, ctx: Context, max_num_rewrites: int = -1, actions: Actions = SILENT
) -> Counter[str]:
    """Remove dead ops, fold, and apply canonicalization patterns, until nothing changes or after
    `max_num_rewrites` (negative: no limit): how often each pattern fired.
    """
    patterns = [CanonicalizationRewritePattern()]
    fired: Counter[str] = Counter()
    left = max_num_rewrites
    while True:
        now = apply_patterns(
            module,
            patterns,
            ctx=ctx,
            fold=True,
            remove_dead=True,
            max_num_rewrites=left,
            actions=actions,
        )
        fired += now
        if max_num_rewrites >= 0:
            left -= now.total()
        if not now and not (
            left and _may_hide_dead_ops(module) and _remove_hidden(module, actions)
        ):
            return fired


def _remove_hidden(module: ModuleOp, actions: Actions) -> bool:
    """Remove dead ops that have uses, in one step; return whether there were any."""
    if not _may_hide_dead_ops(module):
        return False
    return actions.allowed(module, "region-dce") and region_dce(module.body)


def _may_hide_dead_ops(module: ModuleOp) -> bool:
    """Whether dead ops may have uses: in blocks never reached, or in cycles of ops in a graph."""
    seen: set[int] = set()
    for op in walk(module):
        seen.add(id(op))
        operands, _, regions, _ = read_step(op)
        if any(region.first_block is not region.last_block for region in regions):
            return True
        if any(isinstance(value, OpResult) and id(value.op) not in seen for value in operands):
            return True
    return False


@dataclass(frozen=True)
class Canonicalize(ModulePass):
    """Bring ops into their canonical form; a drop-in for xDSL's pass of this name."""

    name = "canonicalize"

    max_num_rewrites: int = -1
    """Leave the module as it is after so many rewrites, to find the one that breaks something."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        fired = canonicalize(module, ctx.ir_context, self.max_num_rewrites, ctx.actions)
        for name, times in fired.items():
            ctx.count(name, times)
