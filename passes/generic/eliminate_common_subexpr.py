"""EliminateCommonSubexpr: replace an operation by an equal one that dominates it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.traits import CallableOpInterface, ConstantLike, IsTerminator, SymbolOpInterface

from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import FunctionPass
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import Fields, read_fields
from ...passmanager.ir.effects import NESTED, class_effects
from ...passmanager.ir.per_class import PerClass
from .arith_families import COMMUTATIVE
from .common_subexpressions import CommonSubexprEliminator, Frame
from .purity import Purity, is_call


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
    eliminator = DominanceEliminator(actions, purity)
    eliminator.mergeable = PerClass(partial(_is_mergeable, call_only=call_only, skip=skip))
    eliminator.run(root)


class DominanceEliminator(CommonSubexprEliminator):
    """The policy that merges operations without effects into those that dominate them."""

    mergeable: PerClass[Operation, bool]
    """Whether operations of a class may be merged: calls only if their callees have no effects."""

    def __init__(self, actions: Actions, purity: Purity | None) -> None:
        super().__init__(actions)
        self.purity = purity

    def is_isolated(self, op: Operation) -> bool:
        # A lambda could use values from above, but it would have to capture each of them.
        is_callable = op.has_trait(CallableOpInterface, value_if_unregistered=True)
        return is_callable or super().is_isolated(op)

    def visit(self, op: Operation, fields: Fields, frame: Frame) -> None:
        cls = type(op)
        if (effects := class_effects[cls]) and not (
            is_call[cls] and self.purity is not None and self.purity.is_pure(op)
        ):
            frame.effects |= effects
        elif fields[1] and self.mergeable[cls]:
            self.merge_or_add(op, fields)

    def close(self, frame: Frame) -> None:
        super().close(frame)
        op = frame.owner
        if (effects := class_effects[type(op)]) == NESTED:
            effects = frame.effects
            if not effects and op.results and self.mergeable[type(op)]:
                # Merged operations go first: regions are compared with all that is in them.
                self.erase_merged()
                self.merge_or_add(op, read_fields(op))
        if self.frames:
            self.frames[-1].effects |= effects

    def merge_or_add(self, op: Operation, fields: Fields) -> None:
        """Merge `op` into an equal operation, or make it available."""
        ids = map(id, fields[0])
        operands = sorted(ids) if type(op) in COMMUTATIVE else ids
        key, existing = self.find(op, fields, operands)
        if existing is None:
            self.available.put(key, op)
        else:
            self.merge(op, existing)


def _is_mergeable(cls: type[Operation], *, call_only: bool, skip: Collection[str]) -> bool:
    """Return whether operations of class `cls` may be merged, but for the effects of calls."""
    if cls.name in skip or is_call[cls]:
        return cls.name not in skip
    return (
        class_effects[cls] in (0, NESTED)
        and cls.get_trait(IsTerminator) is None
        and cls.get_trait(SymbolOpInterface) is None
        and not (call_only and cls.get_trait(ConstantLike) is not None)
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
    parallel = False  # it needs to know which functions have effects
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
