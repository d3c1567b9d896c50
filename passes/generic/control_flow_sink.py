"""ControlFlowSink: move operations into the branches that alone need them."""

from __future__ import annotations

from collections.abc import Container, Iterator
from itertools import takewhile

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, Region

from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.ir.calls import CALLABLES
from ...passmanager.ir.control_flow import RegionBranchTrait, region_branch_of, region_points
from ...passmanager.ir.effects import NESTED, effects_as_in_mlir, is_kept
from ...passmanager.ir.loops import LOOPS
from ...passmanager.ir.symbols import is_symbol_table
from ...passmanager.ir.walk import walk


def sink_operations(
    root: Operation, actions: Actions = SILENT, among: Container[Operation] | None = None
) -> int:
    """Move operations without memory effects, of `among` if it is given, into regions that run once
    at most, or not at all (`RegionBranchTrait`), if all their uses are there; return the number of
    them.

    An operation that only a branch of a branch uses goes down to that one, but not through a loop.
    """
    order = [*walk(root)]
    optional: set[Region] = set()
    for op in order:
        if op.regions:
            optional.update(_optional_regions(op, actions))
    sunk = 0
    # Users before what they use, which goes before them.
    for op in reversed(order):
        if not op.results or is_kept[type(op)] or op.parent is None:
            continue
        if among is not None and op not in among:
            continue
        target = _target(op, optional)
        if target is None or not _is_effect_free(op) or not actions.allowed(op):
            continue
        op.detach()
        entry = target.blocks[0]
        if (first := entry.first_op) is None:
            entry.add_op(op)
        else:
            entry.insert_op_before(op, first)
        assert target.parent is not None
        actions.passed(op, "Sunk", f"only a region of '{target.parent.name}' needs it")
        actions.count("num-sunk")
        sunk += 1
    return sunk


def _optional_regions(op: Operation, actions: Actions) -> Iterator[Region]:
    """Yield the regions of `op` that run once, or not at all: control goes there from outside
    alone, and may go elsewhere."""
    if (interface := region_branch_of(op)) is None:
        if not is_symbol_table[type(op)] and CALLABLES[type(op)] is None:
            actions.missed(op, "NotSunk", f"does not implement {RegionBranchTrait.__name__}")
        return
    entered = dict.fromkeys(interface.successor_regions(op, None))
    if LOOPS[type(op)] is not None or len(entered) < 2:
        return
    again: set[Region | None] = set()
    for point in region_points(op):
        if point is not None:
            again.update(interface.successor_regions(op, point))
    yield from (r for r in entered if r is not None and r not in again and r.blocks)


def _target(op: Operation, optional: Container[Region]) -> Region | None:
    """Return the innermost region that `op` can go to, or None if it stays where it is."""
    own = op.parent_region()
    users = [use.operation for result in op.results for use in result.uses]
    regions = dict.fromkeys(user.parent_region() for user in users)
    if own is None or own in regions or not regions:
        return None
    first, *others = regions
    path: list[Region] = []  # the regions around the first use, the innermost first
    while first is not own:
        if first is None:
            return None
        path.append(first)
        first = _region_around(first)
    places: dict[Region | None, int] = {region: place for place, region in enumerate(path)}
    common = 0
    for other in others:
        while other not in places:
            if other is None or other is own:
                return None
            other = _region_around(other)
        common = max(common, places[other])
    # Whatever is below a region that is no branch is out of reach.
    reached = [*takewhile(optional.__contains__, reversed(path[common:]))]
    return reached[-1] if reached else None


def _region_around(region: Region) -> Region | None:
    return None if region.parent is None else region.parent.parent_region()


def _is_effect_free(op: Operation) -> bool:
    effects = effects_as_in_mlir(op)
    if effects & ~NESTED:
        return False
    if not effects:
        return True
    return all(
        inner is op or is_kept[type(inner)] or not effects_as_in_mlir(inner) & ~NESTED
        for inner in walk(op)
    )


class ControlFlowSink(ModulePass):
    """Move operations into the branches of conditions that alone need them.

    A path that does not need a value does not compute it then. Source: MLIR's pass of this name.

    Before:

        func.func @main(%c: i1, %x: f32) -> f32 {
          %0 = arith.mulf %x, %x : f32
          %1 = scf.if %c -> (f32) {
            scf.yield %0 : f32
          } else {
            scf.yield %x : f32
          }
          func.return %1 : f32
        }

    After:

        func.func @main(%c: i1, %x: f32) -> f32 {
          %0 = scf.if %c -> (f32) {
            %1 = arith.mulf %x, %x : f32
            scf.yield %1 : f32
          } else {
            scf.yield %x : f32
          }
          func.return %0 : f32
        }
    """

    name = "control-flow-sink"
    nestable = True

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        sink_operations(module, ctx.actions)
