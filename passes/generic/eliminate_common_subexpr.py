"""EliminateCommonSubexpr: replace an operation by an equal one that dominates it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue, SSAValues
from xdsl.traits import (
    CallableOpInterface,
    ConstantLike,
    IsolatedFromAbove,
    IsTerminator,
    SymbolOpInterface,
)

from ...passmanager.base import FunctionPass
from ...passmanager.context import PassContext
from ...passmanager.diagnostics.actions import SILENT, Actions
from ...passmanager.fast.access import read_fields
from ...passmanager.fast.edit import erase, replace_all_uses, replace_operands
from ...passmanager.ir.effects import NESTED, class_effects
from ...passmanager.ir.location import location_of, place_text
from ...passmanager.ir.ordering import in_order
from ...passmanager.ir.per_class import PerClass
from .analysis.arith_families import COMMUTATIVE
from .analysis.attribute_numbering import AttributeNumbering
from .analysis.purity import Purity, is_call

__all__ = ["EliminateCommonSubexpr", "eliminate_common_subexpressions"]


def eliminate_common_subexpressions(
    root: Operation,
    *,
    call_only: bool = False,
    skip: Collection[str] = (),
    actions: Actions = SILENT,
    purity: Purity | None = None,
) -> None:
    """Replace each operation nested in `root` by an equal one that dominates it.

    Two operations are equal if they have no effects, and the same operands, attributes, properties,
    result types and, as `scf.if` has, regions. The operands of a commutative operation of `arith`
    may be exchanged. An operation in an enclosing block dominates, unless a
    region in between is isolated from above or the body of a function; one in a sibling block or
    region does not. In a graph region the first in dependence order dominates.

    Constants are merged like other operations, as in MLIR; so two operations `x + 1` are equal,
    each with its own constant. TVM leaves constants to the code generator; so does `call_only`.
    `skip` has names of operations to leave alone. Calls are equal like other operations if `purity`
    finds that the callee has no effects, and reads no memory.
    """
    CommonSubexprEliminator(call_only, skip, actions, purity).run(root)


Key: TypeAlias = tuple[object, ...]


class CommonSubexprEliminator:
    """Value numbering with a hash table whose scopes follow the regions of the IR."""

    def __init__(
        self, call_only: bool, skip: Collection[str], actions: Actions, purity: Purity | None
    ) -> None:
        self.actions = actions
        self.skip = skip
        self.purity = purity
        self.mergeable = PerClass(partial(_is_mergeable, call_only=call_only, skip=skip))
        self.numbering = AttributeNumbering()
        self.available: dict[Key, Operation] = {}
        """The operations that dominate the current one, by their key."""
        self.added: list[Key] = []
        """The keys of `available` in the order of their insertion, to undo a scope."""
        self.renamed: dict[int, SSAValue] = {}
        """The replacements of the results of merged operations, by the `id` of the result."""
        self.merged: list[tuple[Operation, Operation]] = []
        self.count = 0
        """The number of operations in `merged` that are erased; they are alive in it, so that no
        other operation has their `id`."""
        self.without_effects: set[int] = set()
        """The `id` of each operation whose regions were visited and have no effects."""

    def run(self, root: Operation) -> None:
        """Visit the operations nested in `root` in order, an operation before those in its
        regions; nothing recurses."""
        pending = self.enter(root)
        while pending:
            ops = pending.pop()
            if isinstance(ops, Scope):
                self.leave(ops)
                if ops.holder is not None:
                    self.visit_holder(ops.holder)
                continue
            for op in ops:
                operands, results, properties, attributes, _, regions, _ = read_fields(op)
                # Before the key is made: `exp(%1)` is equal to `exp(%0)` only once %1 is known to
                # be %0.
                if self.renamed and not self.renamed.keys().isdisjoint(map(id, operands)):
                    operands = SSAValues([self.renamed.get(id(o), o) for o in operands])
                    replace_operands(op, operands)
                if regions:
                    pending.append(ops)
                    pending += self.enter(op)
                    break
                if results and (self.mergeable[type(op)] or self.is_pure_call(op)):
                    self.visit(op, operands, properties, attributes)
        self.erase_merged()

    def enter(self, op: Operation) -> list[Iterator[Operation] | Scope]:
        """Open a scope for each block directly in `op`; return the items to visit, last first."""
        items: list[Iterator[Operation] | Scope] = []
        if class_effects[type(op)] == NESTED:
            # At the bottom: left last, after all blocks, when `op` itself can be compared.
            items.append(Scope(self.available, len(self.added), op))
        # A lambda could use values from above, but it would have to capture each of them.
        if op.has_trait(IsolatedFromAbove, value_if_unregistered=True) or op.has_trait(
            CallableOpInterface, value_if_unregistered=True
        ):
            items.append(Scope(self.available, len(self.added)))
            self.available = {}
        for region in reversed(op.regions):
            for block in reversed(region.blocks):
                items += (Scope(self.available, len(self.added)), in_order(block))
        return items

    def leave(self, scope: Scope) -> None:
        """Forget the operations that became available in a scope."""
        for key in self.added[scope.added :]:
            del self.available[key]
        del self.added[scope.added :]
        self.available = scope.available

    def visit(
        self,
        op: Operation,
        operands: Iterable[SSAValue],
        properties: dict[str, Attribute],
        attributes: dict[str, Attribute],
    ) -> None:
        """Rename the results of `op` to those of an equal operation, or make `op` available."""
        ids = map(id, operands)
        key: Key = (type(op), *(sorted(ids) if type(op) in COMMUTATIVE else ids))
        if properties:
            key += self.numbering.of_all(properties)
        if attributes:
            # None sets attributes apart from properties of the same names.
            key += (None, *self.numbering.of_all(attributes))
        existing = self.available.get(key)
        # Operands and attributes nearly always determine the types: these join the key on demand.
        if existing is not None and not _has_same_types(existing, op):
            key += tuple(map(self.numbering.of, op.result_types))
            existing = self.available.get(key)
        while existing is not None and op.regions and not _has_same_regions(existing, op):
            key += (...,)
            existing = self.available.get(key)
        if existing is None:
            self.available[key] = op
            self.added.append(key)
        elif self.actions.allowed(op):
            self.merged.append((op, existing))
            for old, new in zip(op.results, existing.results, strict=True):
                self.renamed[id(old)] = new

    def visit_holder(self, op: Operation) -> None:
        """Visit an operation after those in its regions, unless these have effects."""
        inner = (inner for region in op.regions for block in region.blocks for inner in block.ops)
        # One level, as `without_effects` has the answers for operations with regions: they came
        # first.
        for held in inner:
            if class_effects[type(held)] and id(held) not in self.without_effects:
                if not self.is_pure_call(held, skip=()):
                    return
        self.without_effects.add(id(op))
        if op.results and self.mergeable[type(op)]:
            # Merged operations go first: regions are compared with all that is in them.
            self.erase_merged()
            operands, _, properties, attributes, *_ = read_fields(op)
            self.visit(op, operands, properties, attributes)

    def is_pure_call(self, op: Operation, skip: Collection[str] | None = None) -> bool:
        """Return whether `op` is a call without effects, and not in `skip`: by default the names of
        operations to leave alone."""
        return (
            is_call[type(op)]
            and self.purity is not None
            and op.name not in (self.skip if skip is None else skip)
            and self.purity.is_pure(op)
        )

    def erase_merged(self) -> None:
        """Erase the operations whose results were renamed.

        The sweep renamed operands when it visited a user: replacing the uses of a value one by one
        takes time quadratic in the number of operands of a user. Only uses before the definition,
        in graph regions or in blocks out of dominance order, are replaced here.
        """
        for op, existing in self.merged[self.count :]:
            if op.parent is None:
                continue  # nested in another one
            if self.actions.wants_remarks:
                self.report(op, existing)
            for old, new in zip(op.results, existing.results, strict=True):
                replace_all_uses(old, new)
            self.actions.merged(op, existing)
            erase(op)
        if new := len(self.merged) - self.count:
            self.actions.count("merged", new)
            self.count += new

    def report(self, op: Operation, existing: Operation) -> None:
        """Report that `op` is replaced by `existing`, with the location of `existing`."""
        message = "replaced by an equal operation"
        if (at := location_of(existing)) is not None:
            self.actions.passed(op, "Merged", message, First=place_text(at))
        else:
            self.actions.passed(op, "Merged", message)


def _has_same_types(a: Operation, b: Operation) -> bool:
    return len(a.results) == len(b.results) and all(
        x.type is y.type or x.type == y.type for x, y in zip(a.results, b.results, strict=True)
    )


def _has_same_regions(a: Operation, b: Operation) -> bool:
    """Return whether the regions of two operations compute the same from the same values."""
    return len(a.regions) == len(b.regions) and all(
        x.is_structurally_equivalent(y) for x, y in zip(a.regions, b.regions, strict=True)
    )


@dataclass(frozen=True)
class Scope:
    """The state to restore at the end of a block."""

    available: dict[Key, Operation]
    added: int
    holder: Operation | None = None
    """The operation of which this is the last block, if it may be merged."""


def _is_mergeable(cls: type[Operation], *, call_only: bool, skip: Collection[str]) -> bool:
    """Return whether operations of class `cls` have no effects and are not excluded."""
    return (
        class_effects[cls] in (0, NESTED)
        and cls.get_trait(IsTerminator) is None
        and cls.get_trait(SymbolOpInterface) is None
        and not (call_only and cls.get_trait(ConstantLike) is not None)
        and cls.name not in skip
    )


@dataclass(frozen=True)
class EliminateCommonSubexpr(FunctionPass):
    """Compute equal values once.

    Source: `relay.EliminateCommonSubexpr` and `relax.transform.EliminateCommonSubexpr`.

    Before:

        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
          %1 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
          %2 = relax.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          func.return %2 : tensor<4xf32>
        }

    After:

        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
          %1 = relax.add %0, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          func.return %1 : tensor<4xf32>
        }
    """

    name = "eliminate-common-subexpr"
    opt_level = 3
    required = ("infer-type",)
    preserves = ("infer-type",)

    call_only: bool = False
    """Leave constants alone."""
    skip: tuple[str, ...] = ()
    """Names of operations to leave alone."""

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        eliminate_common_subexpressions(
            func,
            call_only=self.call_only,
            skip=self.skip,
            actions=ctx.actions,
            purity=ctx.analyses.get(Purity, module),
        )
