"""DeadCodeElimination: no operation whose results are unused, no function that is not reached."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum

from xdsl.dialects.builtin import (
    ModuleOp,
    StringAttr,
)
from xdsl.ir import Operation, SSAValue
from xdsl.traits import (
    IsTerminator,
    MemoryEffect,
    MemoryReadEffect,
    NoMemoryEffect,
    RecursiveMemoryEffect,
    SymbolOpInterface,
)
from xdsl.transforms.dead_code_elimination import is_trivially_dead, result_only_effects
from xdsl.utils.exceptions import PassFailedException

from ...analysis.call_graph import CallGraph
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.ir.access import read_step
from ...passmanager.ir.walk import walk
from ...passmanager.remarks import Remarks

__all__ = ["DeadCodeElimination", "remove_dead_operations", "remove_unreachable_symbols"]


# Operations


def remove_dead_operations(
    root: Operation,
    gate: Callable[[], bool] | None = None,
    remarks: Remarks | None = None,
) -> int:
    """Erase the operations in `root` that have no effect and no used result; returns how many.

    Each block is swept backwards, so a chain goes at once. Reading memory is no effect; the effects
    of `scf.if` and its like are those of the operations in it; unknown effects are effects.
    Cycles, which only graph regions can hold, stay. `gate`, if given, is asked before each, and may
    keep it from being erased.
    """
    return Sweep(gate, remarks).run(root)


class Effects(Enum):
    """What is known about the memory effects of all operations of a class."""

    NONE = "none that another operation could see"
    NESTED = "those of the operations in its regions"
    VARYING = "to be asked of each operation"
    UNKNOWN = "unknown, or visible to others"


@dataclass(frozen=True)
class Kind:
    """What the classes of operations differ in."""

    effects: Effects
    is_fixed: bool
    """Whether it stays even if nothing uses it: terminators and symbols."""


class _Kinds(dict[type[Operation], Kind]):
    """The kind of each class, found once."""

    def __missing__(self, cls: type[Operation]) -> Kind:
        fixed = cls.get_trait(IsTerminator) or cls.get_trait(SymbolOpInterface)
        self[cls] = kind = Kind(_effects_of(cls), fixed is not None)
        return kind


def _effects_of(cls: type[Operation]) -> Effects:
    traits = cls.get_traits_of_type(MemoryEffect)
    static = NoMemoryEffect | MemoryReadEffect
    if not traits:
        return Effects.UNKNOWN
    if all(isinstance(trait, static) for trait in traits):
        return Effects.NONE
    if all(isinstance(trait, static | RecursiveMemoryEffect) for trait in traits):
        return Effects.NESTED
    return Effects.VARYING


class Sweep:
    """The state of one removal."""

    def __init__(self, gate: Callable[[], bool] | None, remarks: Remarks | None) -> None:
        self.gate = gate
        self.remarks = remarks or None
        self.removed = 0
        self.kinds = _Kinds()
        self.freed: list[SSAValue] = []
        """Values whose last use went; their operation is still to come, but in graph regions."""

    def run(self, root: Operation) -> int:
        """Visit the ops nested in `root` backwards, those in its regions before an op itself."""
        pending = _last_ops(root)
        opened = [True]  # whether nothing in the regions around the op has effects
        while pending:
            op, entered = pending.pop()
            while op is not None:
                _, results, regions, _ = read_step(op)
                if regions and not entered:
                    pending.append((op, True))
                    pending += _last_ops(op)
                    opened.append(True)
                    break
                previous = op.prev_op
                kind = self.kinds[type(op)]
                if not has_no_effects(op, kind, opened.pop() if regions else True):
                    opened[-1] = False
                elif not kind.is_fixed and not is_used(results):
                    self.erase(op)
                op, entered = previous, False
        self.erase_freed()
        return self.removed

    def erase(self, op: Operation) -> None:
        """Take out an operation that nothing uses, if that is let through."""
        if self.gate is not None and not self.gate():
            return
        if self.remarks is not None:
            self.remarks.passed(op, "Removed", "without effects, and its results are unused")
        operands = _used_values(op) if op.regions else read_step(op)[0]
        op.detach()
        op.drop_all_references()
        self.removed += 1
        self.freed += [operand for operand in operands if operand.first_use is None]

    def erase_freed(self) -> None:
        """Erase what the sweep visited before the last user of it went: graph regions, loops."""
        while self.freed:
            op = self.freed.pop().owner
            if isinstance(op, Operation) and op.parent is not None and is_trivially_dead(op):
                self.erase(op)


def _last_ops(op: Operation) -> list[tuple[Operation | None, bool]]:
    """The last op of each block directly in `op`, to be visited, last block last."""
    return [(block.last_op, False) for region in op.regions for block in region.blocks]


def _used_values(op: Operation) -> list[SSAValue]:
    """The values from outside of `op` that it uses, or an op in it does."""
    operands = {inner: read_step(inner)[0] for inner in walk(op)}
    return [v for values in operands.values() for v in values if v.owner not in operands]


def has_no_effects(op: Operation, kind: Kind, nested_have_none: bool) -> bool:
    """Whether nobody could tell that the operation ran, but for its results."""
    match kind.effects:
        case Effects.NONE:
            return True
        case Effects.NESTED:
            return nested_have_none
        case Effects.VARYING:
            return result_only_effects(op)
        case Effects.UNKNOWN:
            return False


def is_used(values: Iterable[SSAValue]) -> bool:
    """Whether any of the values has a use."""
    for value in values:
        if value.first_use is not None:
            return True
    return False


# Functions


def remove_unreachable_symbols(
    module: ModuleOp,
    entries: Iterable[str] = (),
    graph: CallGraph | None = None,
    gate: Callable[[], bool] | None = None,
    remarks: Remarks | None = None,
    functions: bool = False,
) -> int:
    """Erase the private functions and other symbols that nothing reaches; returns how many.

    Reachable is what is named in `entries`, what is not private, what is no symbol, and what these
    refer to. With `functions` it is functions that go, whether private or not. If what stays refers
    to a symbol that is not in the module, nothing is erased. `gate`, if given, is asked before
    each, and may keep it, and what it reaches, from being erased.
    Errors: PassFailedException for an entry that is not in the module.
    """
    graph = CallGraph(module) if graph is None else graph
    entries = set(entries)
    for name in sorted(entries - graph.symbols.keys()):
        raise PassFailedException(
            f"entry function @{name} is not in the module{_hint(name, graph)}"
        )
    removable = {  # in the order of the module
        op: None
        for name, op in graph.symbols.items()
        if name not in entries and (_is_function(op) if functions else _is_private(op))
    }
    reached = graph.reachable(op for op in module.ops if op not in removable)
    if any(graph.unresolved(op) for op in reached):
        return 0
    unreached = [op for op in removable if op not in reached]
    if gate is not None:
        kept = graph.reachable([op for op in unreached if not gate()])
        unreached = [op for op in unreached if op not in kept]
    for op in unreached:
        if remarks:
            reason = "nothing reaches it" if functions else "private, and nothing reaches it"
            remarks.passed(op, "RemovedSymbol", reason)
        op.detach()
        op.drop_all_references()
    return len(unreached)


PRIVATE = StringAttr("private")


def _is_private(op: Operation) -> bool:
    return op.get_attr_or_prop("sym_visibility") == PRIVATE


def _is_function(op: Operation) -> bool:
    return op.get_attr_or_prop("function_type") is not None


def _hint(name: str, graph: CallGraph) -> str:
    near = get_close_matches(name, graph.symbols)
    return f"; did you mean {' or '.join('@' + n for n in near)}?" if near else ""


@dataclass(frozen=True)
class DeadCodeElimination(ModulePass):
    """Remove unused operations and unreachable functions; source: `relax.DeadCodeElimination`."""

    name = "dead-code-elimination"
    opt_level = 1
    preserves = ("infer-type",)

    entry_functions: tuple[str, ...] = ()
    """Private functions to keep, with all that they call."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        # Once more at the end: the operations that went may have named functions.
        gate, remarks = ctx.gate(self.name), ctx.remarks
        symbols = remove_unreachable_symbols(
            module, self.entry_functions, gate=gate, remarks=remarks
        )
        removed = remove_dead_operations(module, gate, remarks)
        ctx.count("removed", removed)
        symbols += remove_unreachable_symbols(
            module, self.entry_functions, gate=gate, remarks=remarks
        )
        ctx.count("removed-symbols", symbols)
