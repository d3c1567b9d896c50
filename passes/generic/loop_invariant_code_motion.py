"""LoopInvariantCodeMotion: move operations that compute the same in each iteration before loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.traits import ConditionallySpeculatable, MemoryEffect

from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import insert_before, read_step
from ...passmanager.ir.dominance import DominatorTree
from ...passmanager.ir.effects import NESTED, effects_as_in_mlir, is_kept
from ...passmanager.ir.loops import LOOPS
from ...passmanager.ir.ordering import in_order
from ...passmanager.ir.speculation import SPECULATION, Speculation, speculation


def move_loop_invariant_code(root: Operation, actions: Actions = SILENT) -> None:
    """Move the invariant operations out of the loops nested in `root`, as far as possible.

    An operation is invariant if it has no memory effect, may be speculated, and uses only values
    that are defined outside of the loop; so do all operations nested in it. It must stand directly
    in a loop region (`LoopLikeOpInterface`). Linear in the operations and their operands.
    """
    _Mover(actions).run(root)


class _Frame:
    """An operation whose regions are being visited; those of a loop are one frame each."""

    def __init__(self, owner: Operation, depth: int, top: int, in_loop: bool) -> None:
        self.owner = owner
        self.depth = depth
        """The number of operations around the operations in this frame."""
        self.top = top
        """The least depth to which loops alone, one directly in the other, lead from here."""
        self.in_loop = in_loop
        """Whether the owner, or an operation around it, is directly in a loop."""
        self.loop_regions: Sequence[Region] = ()
        self.ops: Iterator[Operation] = iter(())
        self.effect_free = True
        self.speculatable = True
        self.uses = 0
        """The depths at which the values that are used in the frame are defined, as bits."""


class _Mover:
    def __init__(self, actions: Actions) -> None:
        self.actions = actions
        self.depths: dict[Block, int] = {}
        self.frames: list[_Frame] = []

    def run(self, root: Operation) -> None:
        """Visit all operations nested in `root` in order, an operation after those nested in it."""
        self.enter(root)
        while self.frames:
            frame = self.frames[-1]
            if (op := next(frame.ops, None)) is None:
                self.leave(self.frames.pop())
            elif op.regions:
                self.enter(op)
            elif frame.in_loop or frame.top < frame.depth:
                effects = effects_as_in_mlir(op)
                self.visit(op, not effects, speculation(op) == Speculation.ALWAYS, self.used(op))

    def enter(self, op: Operation) -> None:
        """Open the frame of an operation with regions."""
        depth = len(self.frames)
        around = self.frames[-1] if self.frames else None
        in_loop = around is not None and (around.in_loop or around.top < around.depth)
        frame = _Frame(op, depth, depth, in_loop)
        if around is not None and (loop := LOOPS[type(op)]) is not None:
            frame.loop_regions = loop.get_loop_regions(op)
        frame.ops = self.ops_of(op, frame, around.top if around else 0)
        self.frames.append(frame)

    def ops_of(self, op: Operation, frame: _Frame, top_around: int) -> Iterator[Operation]:
        """Yield the operations directly in `op`, definitions before uses; they may be moved."""
        for region in op.regions:
            is_loop = any(region is loop_region for loop_region in frame.loop_regions)
            frame.top = top_around if is_loop else frame.depth
            blocks = _blocks(region)
            self.depths |= dict.fromkeys(blocks, frame.depth)
            for block in blocks:
                yield from in_order(block) if is_loop else block.ops

    def leave(self, frame: _Frame) -> None:
        """Visit an operation whose regions have been visited."""
        if not frame.in_loop:
            return
        op = frame.owner
        effects = effects_as_in_mlir(op)
        nested = bool(effects & NESTED)
        may = speculation(op)
        self.visit(
            op,
            not effects & ~NESTED and (frame.effect_free or not nested),
            may == Speculation.ALWAYS or (may == Speculation.RECURSIVE and frame.speculatable),
            frame.uses & ((1 << frame.depth) - 1) | self.used(op),
        )

    def used(self, op: Operation) -> int:
        """Return the depths at which the operands of `op` are defined."""
        here = self.frames[-1].depth
        bits = 0
        for value in read_step(op)[0]:
            bits |= 1 << self.depths.get(_block_of(value), here)
        return bits

    def visit(self, op: Operation, effect_free: bool, speculatable: bool, uses: int) -> None:
        """Move `op` out of the loops that it is invariant to, and note what it uses."""
        frame = self.frames[-1]
        if frame.top < frame.depth and not is_kept[type(op)]:
            target = max(frame.top, uses.bit_length() - 1)
            if target < frame.depth:
                if not (effect_free and speculatable):
                    self.explain(op, effect_free)
                elif self.actions.allowed(op):
                    op.detach()
                    insert_before(self.frames[target + 1].owner, op)
                    self.actions.passed(op, "Hoisted", "invariant to the loop")
                    self.actions.count("hoisted")
                    frame = self.frames[target]
        frame.effect_free &= effect_free or (is_kept[type(op)] and not op.successors)
        frame.speculatable &= speculatable or is_kept[type(op)]
        frame.uses |= uses

    def explain(self, op: Operation, effect_free: bool) -> None:
        """Say why an operation on invariant values is not moved."""
        if not self.actions.wants_remarks:
            return
        cls = type(op)
        if not effect_free and not cls.has_trait(MemoryEffect, value_if_unregistered=False):
            reason = "does not implement MemoryEffect"
        elif not effect_free:
            reason = "has memory effects"
        elif SPECULATION[cls] is None:
            reason = f"does not implement {ConditionallySpeculatable.__name__}"
        else:
            reason = "may not be speculated"
        self.actions.missed(op, "NotHoisted", reason)


def _blocks(region: Region) -> list[Block]:
    """Return the blocks of a region, each after its dominators; then those not reachable."""
    blocks = [*region.blocks]
    if len(blocks) > 1:
        tree = DominatorTree(blocks[0])
        return [*tree.blocks, *(block for block in blocks if block not in tree.numbers)]
    return blocks


def _block_of(value: SSAValue) -> Block:
    if isinstance(value, OpResult):
        assert value.op.parent is not None
        return value.op.parent
    assert isinstance(value.owner, Block)
    return value.owner


class LoopInvariantCodeMotion(ModulePass):
    """Move operations that compute the same in each iteration out of loops.

    They have no memory effects and may be speculated, as the loop may have no iterations. Source:
    MLIR's pass of this name.

    Before:

        func.func @main(%n: index, %x: f32, %m: memref<?xf32>) {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          scf.for %i = %c0 to %n step %c1 {
            %0 = arith.mulf %x, %x : f32
            memref.store %0, %m[%i] : memref<?xf32>
          }
          func.return
        }

    After:

        func.func @main(%n: index, %x: f32, %m: memref<?xf32>) {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %0 = arith.mulf %x, %x : f32
          scf.for %i = %c0 to %n step %c1 {
            memref.store %0, %m[%i] : memref<?xf32>
          }
          func.return
        }
    """

    name = "loop-invariant-code-motion"
    nestable = True

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        move_loop_invariant_code(module, ctx.actions)
