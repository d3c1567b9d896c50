"""ToMixedPrecision: f32 becomes f16 or bf16 where that is safe."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, bf16, f16
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import PassFailedException

from ....dialects.relax.interfaces import InfersType
from ....passmanager.base import FunctionPass
from ....passmanager.context import PassContext
from ....passmanager.ir.per_class import OpClasses
from ....passmanager.registration.names import did_you_mean
from ....passmanager.registration.rounding import Rounding
from ...constants.evaluation_code import load_constants
from ...generic.analysis.opaque_functions import is_opaque
from .mixed_precision import to_mixed_precision
from .precision_policies import POLICIES, Policy

__all__ = ["ToMixedPrecision"]


@dataclass(frozen=True)
class ToMixedPrecision(FunctionPass):
    """Compute operations on f32 tensors in f16 or bf16.

    Convolutions and products of matrices always, which add up in f32 anyway; operations that follow
    them, such as a bias or a pooling, if all their operands are in that type; sums, exponentials,
    softmax and operations that are not in the table, `precision_policies.py`,
    never. Parameters and results of functions keep their types. An operation with a constant that
    would become infinite stays as it is; computed values may. Source: `relax` and
    `relay.ToMixedPrecision`.

    Before:

        func.func @f(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x4xf32> {
          %0 = relax.matmul %x, %w : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
          %1 = relax.nn.relu %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
          %2 = relax.nn.softmax %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
          func.return %2 : tensor<2x4xf32>
        }

    After:

        func.func @f(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x4xf32> {
          %0 = relax.astype %w {dtype = f16} : (tensor<4x4xf32>) -> tensor<4x4xf16>
          %1 = relax.astype %x {dtype = f16} : (tensor<2x4xf32>) -> tensor<2x4xf16>
          %2 = relax.matmul %1, %0 : (tensor<2x4xf16>, tensor<4x4xf16>) -> tensor<2x4xf16>
          %3 = relax.nn.relu %2 : (tensor<2x4xf16>) -> tensor<2x4xf16>
          %4 = relax.astype %3 {dtype = f32} : (tensor<2x4xf16>) -> tensor<2x4xf32>
          %5 = relax.nn.softmax %4 : (tensor<2x4xf32>) -> tensor<2x4xf32>
          func.return %5 : tensor<2x4xf32>
        }
    """

    name = "to-mixed-precision"
    rounds = Rounding(
        changes=(
            "sign of zero may change",
            "infinite may become NaN",
            "finite may become infinite",
            "finite may become NaN",
        )
    )
    required = ("infer-type",)
    preserves = ("infer-type",)

    dtype: Literal["f16", "bf16"] = "f16"
    """The type to compute in."""
    always: tuple[str, ...] = ()
    """Operations to convert always, whatever the table says: `relax.nn.softmax`."""
    follow: tuple[str, ...] = ()
    """Operations to convert if their operands are, whatever the table says."""
    never: tuple[str, ...] = ()
    """Operations to leave as they are, whatever the table says."""

    def load_code(self, module: ModuleOp, ops: OpClasses) -> None:
        load_constants(ops)
        import_module("....compiler.interpreters.arrays", __package__)
        import_module("...constants.float_rounding", __package__)

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        if not is_opaque(func):
            narrow = f16 if self.dtype == "f16" else bf16
            to_mixed_precision(func, narrow, self.policies(ctx.ir_context), ctx.actions)

    def policies(self, ctx: Context) -> dict[str, Policy]:
        """Return the table with the lists of the options; PassFailedException for a name that is
        unknown or in two lists."""
        lists: Iterable[tuple[Policy, tuple[str, ...]]] = (
            (Policy.ALWAYS, self.always),
            (Policy.FOLLOW, self.follow),
            (Policy.NEVER, self.never),
        )
        # By the class, not by the table: operations of other projects can be named as well.
        given: dict[str, Policy] = {}
        for policy, names in lists:
            for name in names:
                if (op := ctx.get_optional_op(name)) is None or not issubclass(op, InfersType):
                    known = [cls.name for cls in ctx.loaded_ops if issubclass(cls, InfersType)]
                    hint = did_you_mean(name, known)
                    problem = "unknown operation" if op is None else "the types are not inferred of"
                    raise PassFailedException(f"{policy.name.lower()}: {problem} '{name}'{hint}")
                if given.setdefault(name, policy) is not policy:
                    other = given[name].name.lower()
                    raise PassFailedException(
                        f"'{name}' is in the lists {other} and {policy.name.lower()}"
                    )
        return POLICIES | given
