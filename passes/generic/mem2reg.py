"""Mem2Reg: replace memory that holds single values by the values."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase, insert_before
from ...passmanager.ir.branch_operands import append_successor_operands
from ...passmanager.ir.control_flow import BranchTrait, branch_of
from ...passmanager.ir.dominance import DominatorTree, is_graph_region
from ...passmanager.ir.memory_slots import (
    PROMOTABLE_ACCESSES,
    PROMOTABLE_ALLOCATIONS,
    MemorySlot,
    PromotableMemOpInterface,
)
from ...passmanager.ir.walk import name_of, walk
from .region_dead_code import remove_region_dead_code


def promote_memory(root: Operation, actions: Actions = SILENT) -> int:
    """Promote the memory slots in `root` to values, and return the number of them.

    A slot is promoted if all its uses load or store all of it, in the region of the allocation
    (`PromotableMemOpInterface`). Where several stores may reach a block, the block gets an
    argument, which branches pass (`BranchTrait`): linear in operations and arguments.
    """
    by_region: dict[Region, list[_Slot]] = {}
    for op in walk(root):
        if (interface := PROMOTABLE_ALLOCATIONS[type(op)]) is None or op.parent is None:
            continue
        region = op.parent.parent
        if region is not None and not is_graph_region(region):
            slots = interface.get_promotable_slots(op)
            by_region.setdefault(region, []).extend(_Slot(op, slot) for slot in slots)
    return sum(_promote_in_region(region, slots, actions) for region, slots in by_region.items())


class _Slot:
    """A slot that may be promoted, with what is needed for that."""

    def __init__(self, allocation: Operation, slot: MemorySlot) -> None:
        self.allocation = allocation
        self.slot = slot
        self.stores: Set[Block] = frozenset()
        """The blocks that store to it, and that of the allocation: what it held before is gone."""
        self.default: SSAValue | None = None

    def users(self) -> Iterator[Operation]:
        """Yield the operations that use the pointer."""
        for use in self.slot.pointer.uses:
            yield use.operation

    def default_value(self) -> SSAValue:
        """Return the value before the first store, made on first use."""
        if self.default is None:
            interface = PROMOTABLE_ALLOCATIONS[type(self.allocation)]
            assert interface is not None
            made = interface.get_default_value(self.allocation, self.slot)
            made.location = self.allocation.location
            insert_before(self.allocation, made)
            self.default = made.results[0]
        return self.default

    def reason_against(self, region: Region) -> str:
        """Return why the slot cannot be promoted, or an empty text if it can."""
        for user in self.users():
            if (access := PROMOTABLE_ACCESSES[type(user)]) is None:
                return f"'{name_of(user)}' does not implement {PromotableMemOpInterface.__name__}"
            if not access.can_uses_be_removed(user, self.slot):
                return f"'{name_of(user)}' does not load or store the whole value alone"
            if user.parent_region() is not region:
                return f"'{name_of(user)}' is in a region of another operation"
        return ""


def _promote_in_region(region: Region, slots: list[_Slot], actions: Actions) -> int:
    """Promote slots of one region, and return the number of them.

    The pointer of a slot may be stored in another slot: once that is promoted, it may be promoted
    itself.
    """
    promoted = 0
    cfg: _ControlFlow | None = None
    while slots:
        chosen = [slot for slot in slots if not slot.reason_against(region)]
        if not chosen:
            break
        cfg = cfg or _ControlFlow(region)
        done = _Promoter(cfg, chosen, actions).run()
        promoted += len(done)
        if not done:
            break
        tried = set(chosen)
        slots = [slot for slot in slots if slot not in tried]
    if actions.wants_remarks:
        for slot in slots:
            if reason := slot.reason_against(region):
                actions.missed(slot.allocation, "NotPromoted", reason)
    return promoted


class _ControlFlow:
    """The blocks of a region, their dominator tree, predecessors and dominance frontiers."""

    def __init__(self, region: Region) -> None:
        self.blocks = [*region.blocks]
        self.tree = DominatorTree(self.blocks[0])
        self.predecessors: dict[Block, list[Block]] = {block: [] for block in self.blocks}
        for block in self.blocks:
            if (end := block.last_op) is not None:
                for successor in dict.fromkeys(end.successors):
                    self.predecessors[successor].append(block)
        self._places: dict[Operation, int] = {}
        self.frontiers: dict[Block, dict[Block, None]] = {}
        for block in self.tree.blocks:
            self._add_frontiers(block)

    def place(self, op: Operation) -> int:
        """Return the index of `op` in its block, before anything was promoted."""
        if op not in self._places:
            assert op.parent is not None
            self._places |= {inner: i for i, inner in enumerate(op.parent.ops)}
        return self._places[op]

    def _add_frontiers(self, join: Block) -> None:
        """Add a block to the frontiers of the blocks that dominate a predecessor, but not it."""
        numbers, dominators = self.tree.numbers, self.tree.dominators
        reached = [p for p in self.predecessors[join] if p in numbers]
        if len(reached) < 2 and join is not self.blocks[0]:
            return
        last = dominators[numbers[join]] if numbers[join] else -1
        for predecessor in reached:
            runner = numbers[predecessor]
            while runner != last:
                frontier = self.frontiers.setdefault(self.tree.blocks[runner], {})
                if join in frontier:
                    break
                frontier[join] = None
                if runner == 0:
                    break
                runner = dominators[runner]


class _Promoter:
    """Promotes slots of a region at once, in one walk of the dominator tree."""

    def __init__(self, cfg: _ControlFlow, slots: list[_Slot], actions: Actions) -> None:
        self.cfg = cfg
        self.actions = actions
        self.slots = slots
        self.merges: dict[Block, list[_Slot]] = {}
        """The blocks that get arguments, one for each slot."""
        self.events: dict[Block, dict[Operation, _Slot]] = {}
        """The allocations, loads and stores in each block."""
        self.values: dict[_Slot, SSAValue | None] = {}
        """What the slots hold where the walk is; None before the first store."""
        self.undo: list[tuple[_Slot, SSAValue | None]] = []

    def run(self) -> list[_Slot]:
        """Promote the slots for which that is possible, and return them."""
        done: list[_Slot] = []
        for slot in self.slots:
            merges = self.merge_points(slot)
            if (end := self.unusable(merges)) is not None:
                reason = f"'{name_of(end)}' does not implement {BranchTrait.__name__}"
                self.actions.missed(slot.allocation, "NotPromoted", reason)
            elif self.actions.allowed(slot.allocation):
                done.append(slot)
                for block in merges:
                    self.merges.setdefault(block, []).append(slot)
                for op in (slot.allocation, *slot.users()):
                    assert op.parent is not None
                    self.events.setdefault(op.parent, {})[op] = slot
        if done:
            self.rewrite()
            for slot in done:
                self.remove(slot)
        return done

    def merge_points(self, slot: _Slot) -> list[Block]:
        """Return the blocks that several values of the slot reach, and that need them."""
        assert slot.allocation.parent is not None
        if len(self.cfg.blocks) == 1:
            return []
        # The places of the first load and the first store in each block.
        loads: dict[Block, int] = {}
        stores = {slot.allocation.parent: self.cfg.place(slot.allocation)}
        for user in slot.users():
            access, block = PROMOTABLE_ACCESSES[type(user)], user.parent
            assert access is not None and block is not None
            place = self.cfg.place(user)
            if access.get_stored(user, slot.slot) is not None:
                stores[block] = min(place, stores.get(block, place))
            if access.loads_from(user, slot.slot):
                loads[block] = min(place, loads.get(block, place))
        slot.stores = stores.keys()
        needy = [block for block, place in loads.items() if place < stores.get(block, place + 1)]
        live = self.live_in(slot, needy)
        found: dict[Block, None] = {}
        numbers = self.cfg.tree.numbers
        pending = sorted((b for b in slot.stores if b in numbers), key=numbers.__getitem__)
        while pending:
            for join in self.cfg.frontiers.get(pending.pop(), ()):
                if join in live and join not in found:
                    found[join] = None
                    pending.append(join)
        return [*found]

    def live_in(self, slot: _Slot, needy: list[Block]) -> set[Block]:
        """Return the blocks that need what the slot holds at their start, as those in `needy`."""
        pending = [*needy]
        live: set[Block] = set()
        while pending:
            block = pending.pop()
            if block not in live:
                live.add(block)
                pending += [p for p in self.cfg.predecessors[block] if p not in slot.stores]
        return live

    def unusable(self, merges: Iterable[Block]) -> Operation | None:
        """Return a terminator that cannot pass a value to one of `merges`, or None."""
        for block in merges:
            for predecessor in self.cfg.predecessors[block]:
                end = predecessor.last_op
                if end is not None and branch_of(end) is None:
                    return end
        return None

    def rewrite(self) -> None:
        """Replace loads by what the slots hold, in a walk of the dominator tree."""
        tree = self.cfg.tree
        pending: list[tuple[Block, int]] = [(tree.blocks[0], 0)]
        while pending:
            block, mark = pending.pop()
            self.restore(mark)
            self.visit(block)
            mark = len(self.undo)
            pending += [(child, mark) for child in tree.children[tree.numbers[block]]]
        self.restore(0)
        for block in self.cfg.blocks:
            if block not in tree.numbers:  # not reachable
                self.visit(block)
                self.restore(0)

    def visit(self, block: Block) -> None:
        """Rewrite the accesses in a block, and let it pass values on."""
        for slot in self.merges.get(block, ()):
            argument = block.insert_arg(slot.slot.type, len(block.args))
            argument.location = slot.allocation.location
            argument.name_hint = slot.slot.pointer.name_hint
            self.actions.count("new-block-args")
            self.set(slot, argument)
        if (events := self.events.get(block)) is not None:
            for op in [op for op in block.ops if op in events] if len(events) > 1 else [*events]:
                self.access(op, events[op])
        end = block.last_op
        if end is not None and self.merges:
            for index, successor in enumerate(end.successors):
                if slots := self.merges.get(successor):
                    values = [self.value(slot) for slot in slots]
                    append_successor_operands(end, index, values)

    def access(self, op: Operation, slot: _Slot) -> None:
        """Rewrite a load, or note what a store stores."""
        if op is slot.allocation:
            self.set(slot, None)
            return
        access = PROMOTABLE_ACCESSES[type(op)]
        assert access is not None
        stored = access.get_stored(op, slot.slot)
        if access.loads_from(op, slot.slot):
            value = self.value(slot)
            for result in op.results:
                result.replace_all_uses_with(self.converted(op, value, result.type))
        if stored is not None:
            self.set(slot, self.converted(op, stored, slot.slot.type))

    def converted(self, op: Operation, value: SSAValue, type: Attribute) -> SSAValue:
        """Return `value` in the type that an access demands."""
        if value.type == type:
            return value
        access = PROMOTABLE_ACCESSES[builtins.type(op)]
        assert access is not None

        def insert(made: Operation) -> None:
            made.location = op.location
            insert_before(op, made)

        return access.convert(value, type, insert)

    def value(self, slot: _Slot) -> SSAValue:
        found = self.values.get(slot)
        return slot.default_value() if found is None else found

    def set(self, slot: _Slot, value: SSAValue | None) -> None:
        self.undo.append((slot, self.values.get(slot)))
        self.values[slot] = value

    def restore(self, mark: int) -> None:
        """Undo what was noted since the list of changes had `mark` entries."""
        while len(self.undo) > mark:
            slot, value = self.undo.pop()
            self.values[slot] = value

    def remove(self, slot: _Slot) -> None:
        """Erase the accesses of a slot and its allocation."""
        for user in [*slot.users()]:
            erase(user)
        if slot.default is not None and slot.default.first_use is None:
            assert isinstance(slot.default.owner, Operation)
            erase(slot.default.owner)
        self.actions.passed(slot.allocation, "Promoted", "replaced by the values that it holds")
        self.actions.count("promoted-slots")
        if all(result.first_use is None for result in slot.allocation.results):
            erase(slot.allocation)


@dataclass(frozen=True)
class Mem2Reg(ModulePass):
    """Replace allocations that hold single values by the values that are stored there.

    Source: MLIR's pass of this name.

    Before:

        func.func @main(%x: i32) -> i32 {
          %m = memref.alloca() : memref<i32>
          memref.store %x, %m[] : memref<i32>
          %0 = memref.load %m[] : memref<i32>
          func.return %0 : i32
        }

    After:

        func.func @main(%x: i32) -> i32 {
          func.return %x : i32
        }
    """

    name = "mem2reg"
    nestable = True

    region_simplify: bool = True
    """Remove dead operations and unreachable blocks afterwards if a slot was promoted."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        if promote_memory(module, ctx.actions) and self.region_simplify:
            remove_region_dead_code(module)
