"""EliminateCommonSubexpr: what has been computed is not computed again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import (
    ConstantLike,
    IsolatedFromAbove,
    IsTerminator,
    MemoryEffect,
    NoMemoryEffect,
    SymbolOpInterface,
)

from ...analysis.traversal import in_order
from ...dialects.relax.closures import LambdaOp
from ...passmanager.base import FunctionPass
from ...passmanager.context import PassContext
from ...passmanager.ir.access import read_fields
from ...passmanager.ir.location import location_of, place_text
from ...passmanager.remarks import Remarks

__all__ = ["EliminateCommonSubexpr", "eliminate_common_subexpressions"]

LARGE = 4096
"""Bytes from which constants are equal only if they share one attribute: they are not read."""


def eliminate_common_subexpressions(
    root: Operation,
    *,
    call_only: bool = False,
    skip: Collection[str] = (),
    gate: Callable[[], bool] | None = None,
    remarks: Remarks | None = None,
) -> int:
    """Replace each operation in `root` by an equal one that dominates it; returns how many.

    Equal are operations without effects and regions that have the same operands, attributes,
    properties and result types. One in an enclosing block dominates, unless the region between
    is isolated from above or a function; one in a sibling block or region does not. In a graph, the
    first in the order of dependences dominates. Constants merge as other
    operations do, as in MLIR and unlike TVM, which leaves them to the code generator: so are
    `x + 1` and `x + 1` equal. `call_only` leaves constants alone; `skip` has names of operations
    to leave alone. `gate`, if given, is asked before each, and may keep it from being replaced.
    """
    return Elimination(call_only, skip, gate, remarks).run(root)


Key: TypeAlias = tuple[object, ...]


class Elimination:
    """The state of one elimination: a hash table with the scopes of the IR."""

    def __init__(
        self,
        call_only: bool,
        skip: Collection[str],
        gate: Callable[[], bool] | None,
        remarks: Remarks | None,
    ) -> None:
        self.remarks = remarks
        self.mergeable = _Mergeable(call_only, skip)
        self.gate = gate
        self.numbers = Numbers()
        self.known: dict[Key, Operation] = {}
        self.added: list[Key] = []
        """The keys of `known` in the order in which they came, so that a scope can be undone."""
        self.renamed: dict[int, SSAValue] = {}
        self.merged: list[tuple[Operation, Operation]] = []

    def run(self, root: Operation) -> int:
        """Visit the ops nested in `root` in order, an op before those in its regions."""
        pending = self.enter(root)
        while pending:
            ops = pending.pop()
            if isinstance(ops, Scope):
                self.leave(ops)
                continue
            for op in ops:
                operands, results, properties, attributes, _, regions, _ = read_fields(op)
                if self.renamed and not self.renamed.keys().isdisjoint(map(id, operands)):
                    op.operands = operands = [self.renamed.get(id(o), o) for o in operands]
                if regions:
                    pending.append(ops)
                    pending += self.enter(op)
                    break
                if results and self.mergeable[type(op)]:
                    self.visit(op, operands, properties, attributes)
        self.erase_merged()
        return len(self.merged)

    def enter(self, op: Operation) -> list[Iterator[Operation] | Scope]:
        """Open a scope for each block directly in `op`; gives what to visit, last first."""
        items: list[Iterator[Operation] | Scope] = []
        # A lambda is left to compute what it does: it would capture the value instead.
        if isinstance(op, LambdaOp) or op.has_trait(IsolatedFromAbove, value_if_unregistered=True):
            items.append(Scope(self.known, len(self.added)))
            self.known = {}
        for region in reversed(op.regions):
            for block in reversed(region.blocks):
                items += (Scope(self.known, len(self.added)), in_order(block))
        return items

    def leave(self, scope: Scope) -> None:
        """Forget what was computed in a scope."""
        for key in self.added[scope.added :]:
            del self.known[key]
        del self.added[scope.added :]
        self.known = scope.known

    def visit(
        self,
        op: Operation,
        operands: Iterable[SSAValue],
        properties: dict[str, Attribute],
        attributes: dict[str, Attribute],
    ) -> None:
        """Rename the results of `op` to those of an equal one, or remember `op`."""
        key: Key = (type(op), *map(id, operands))
        if properties:
            key += self.numbers.of_all(properties)
        if attributes:
            key += (None, *self.numbers.of_all(attributes))
        existing = self.known.get(key)
        if existing is not None and existing.result_types != op.result_types:
            key += tuple(map(self.numbers.of, op.result_types))
            existing = self.known.get(key)
        if existing is None:
            self.known[key] = op
            self.added.append(key)
        elif self.gate is None or self.gate():
            self.merged.append((op, existing))
            for old, new in zip(op.results, existing.results, strict=True):
                self.renamed[id(old)] = new

    # Uses are renamed when the sweep comes to them: one by one from the value, they would take
    # time quadratic in the operands of their operation. What is left are uses between blocks.
    def erase_merged(self) -> None:
        """Erase the operations whose results were renamed."""
        remarks = self.remarks or None
        for op, existing in self.merged:
            if remarks is not None:
                at = location_of(existing)
                first = {"First": place_text(at)} if at else {}
                remarks.passed(op, "Merged", "replaced by an equal operation", **first)
            for old, new in zip(op.results, existing.results, strict=True):
                old.replace_all_uses_with(new)
            op.detach()
            op.drop_all_references()


@dataclass(frozen=True)
class Scope:
    """What to go back to at the end of a block."""

    known: dict[Key, Operation]
    added: int


class Numbers:
    """A number for each attribute, the same for equal ones: each is hashed once."""

    def __init__(self) -> None:
        self._by_identity: dict[int, tuple[int, Attribute]] = {}
        self._by_value: dict[Attribute, int] = {}

    def of(self, attribute: Attribute) -> int:
        """The number of an attribute; a large constant is equal to itself alone."""
        if (found := self._by_identity.get(id(attribute))) is not None:
            return found[0]
        number = len(self._by_identity)
        if not _is_large(attribute):
            number = self._by_value.setdefault(attribute, number)
        self._by_identity[id(attribute)] = number, attribute
        return number

    def of_all(self, attributes: Mapping[str, Attribute]) -> tuple[str | int, ...]:
        """The names and numbers of a dictionary of attributes, in one order."""
        return tuple(x for name in sorted(attributes) for x in (name, self.of(attributes[name])))


def _is_large(attribute: Attribute) -> bool:
    return isinstance(attribute, DenseIntOrFPElementsAttr) and len(attribute.data.data) > LARGE


class _Mergeable(dict[type[Operation], bool]):
    """Whether operations of a class may be merged, found once for each."""

    def __init__(self, call_only: bool, skip: Collection[str]) -> None:
        self.call_only = call_only
        self.skip = frozenset(skip)

    def __missing__(self, cls: type[Operation]) -> bool:
        effects = cls.get_traits_of_type(MemoryEffect)
        self[cls] = answer = (
            bool(effects)
            and all(isinstance(effect, NoMemoryEffect) for effect in effects)
            and cls.get_trait(IsTerminator) is None
            and cls.get_trait(SymbolOpInterface) is None
            and not (self.call_only and cls.get_trait(ConstantLike) is not None)
            and cls.name not in self.skip
        )
        return answer


@dataclass(frozen=True)
class EliminateCommonSubexpr(FunctionPass):
    """Compute equal values once; source: `relay.EliminateCommonSubexpr`, `relax`'s likewise."""

    name = "eliminate-common-subexpr"
    opt_level = 3
    required = ("infer-type",)
    preserves = ("infer-type",)

    call_only: bool = False
    """Leave constants alone."""
    skip: tuple[str, ...] = ()
    """Names of operations to leave alone."""

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        merged = eliminate_common_subexpressions(
            func,
            call_only=self.call_only,
            skip=self.skip,
            gate=ctx.gate(self.name),
            remarks=ctx.remarks,
        )
        ctx.count("merged", merged)
