"""ToMixedPrecision: f32 becomes f16 or bf16 where that is safe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from math import inf
from typing import Literal, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import BFloat16Type, Float16Type, FloatAttr, ModuleOp, bf16, f16, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException, VerifyException

from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.elementwise.elementwise import AstypeOp, ClipOp
from ...dialects.relax.interfaces import InfersType
from ...dialects.relax.types import is_tensor, refine, tensor_type, with_element
from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import FunctionPass
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase, insert_before
from ...passmanager.ir.ordering import in_order
from ...passmanager.ir.per_class import OpClasses
from ...passmanager.names import Rounding, did_you_mean
from ..evaluation_code import load_constants
from ..generic.call_graph import is_opaque

# The table of `to-mixed-precision`: which operations are computed in a narrower type of floats.
#
# Source: the lists of Relay's `mixed_precision.py`, which follow TensorFlow's, and the attribute
# `TMixedPrecisionPolicy` of Relax. Where the two differ, what can leave the range of f16 decides.


class Policy(Enum):
    """When an operation is computed in the narrower type."""

    ALWAYS = "always: it takes most of the time, and gains most"
    FOLLOW = "if its operands are in that type, so that no conversion is needed"
    NEVER = "never: results may leave the range, or lose all precision"


_TABLE = {
    # Products are summed in f32, and the sums rounded once.
    Policy.ALWAYS: """
        einsum matmul
        nn.batch_matmul nn.conv1d nn.conv1d_transpose nn.conv2d nn.conv2d_transpose nn.conv3d
        nn.conv3d_transpose nn.dense
    """,
    Policy.FOLLOW: """
        abs add ceil clip divide floor maximum minimum multiply negative round sign subtract trunc
        cos erf rsqrt sigmoid sin sqrt tanh where
        nn.bias_add nn.dropout nn.gelu nn.gelu_tanh nn.leaky_relu nn.prelu nn.relu nn.silu

        equal greater greater_equal less less_equal not_equal isfinite isinf isnan
        argmax argmin argsort max min sort topk

        broadcast_to concatenate expand_dims flatten flip gather gather_nd layout_transform repeat
        reshape reverse_sequence scatter_elements scatter_nd split squeeze stack strided_slice take
        tile transpose trilu
        nn.batch_flatten nn.depth_to_space nn.pad nn.space_to_depth nn.upsampling

        image.resize1d image.resize2d image.resize3d
        nn.adaptive_max_pool1d nn.adaptive_max_pool2d nn.adaptive_max_pool3d
        nn.avg_pool1d nn.avg_pool2d nn.avg_pool3d nn.global_max_pool2d
        nn.max_pool1d nn.max_pool2d nn.max_pool3d
        nn.batch_norm
    """,
    # Functions that grow, sums of many elements, and divisions by small numbers.
    Policy.NEVER: """
        cosh cumprod cumsum exp expm1 log log1p log2 log_add_exp mean power prod sinh square sum tan
        nn.adaptive_avg_pool1d nn.adaptive_avg_pool2d nn.adaptive_avg_pool3d nn.global_avg_pool2d
        nn.group_norm nn.instance_norm nn.l2_normalize nn.layer_norm nn.log_softmax nn.lrn
        nn.rms_norm nn.softmax nn.softplus
    """,
}

POLICIES = {f"relax.{name}": policy for policy, names in _TABLE.items() for name in names.split()}
"""The policies of operations by name; an operation without one is never converted."""


# Mixed precision: operations on f32 tensors are computed in f16 or bf16 where that is safe.


Narrow: TypeAlias = Float16Type | BFloat16Type


def to_mixed_precision(
    func: Operation, narrow: Narrow, policies: Mapping[str, Policy], actions: Actions = SILENT
) -> None:
    """Compute the operations nested in `func` in the type `narrow` as their policies say.

    Operations take part if all their operands of floats are f32. Parameters, results of functions
    and values at regions keep their types. A value is converted once, after its definition, and
    constants at once; an operation with a constant that `narrow` cannot hold stays as it is, and so
    do sums whose constants cancel.
    """
    MixedPrecision(narrow, policies, actions).run(func)


class MixedPrecision:
    """Converts operations in the order in which they are computed."""

    def __init__(self, narrow: Narrow, policies: Mapping[str, Policy], actions: Actions) -> None:
        self.narrow = narrow
        self.policies = policies
        self.actions = actions
        self.converted: dict[SSAValue, SSAValue] = {}
        """The values that were converted to the narrower type, with the results."""
        self.optional: dict[Operation, None] = {}
        """Conversions that were inserted, and constants, which go if nothing uses them."""

    def run(self, func: Operation) -> None:
        """Visit the operations nested in `func`, each block before the regions in it."""
        pending = [func]
        while pending:
            blocks = [block for region in pending.pop().regions for block in region.blocks]
            # In order, as "follow" asks of an operand whether it was converted.
            for op in [op for block in blocks for op in in_order(block)]:
                if op.regions:
                    pending.append(op)
                elif isinstance(op, AstypeOp):
                    self.merge_cast(op)
                elif isinstance(op, InfersType):
                    self.visit(op)
        for op in reversed(self.optional):
            if op.parent is not None and op.results[0].first_use is None:
                erase(op)

    def merge_cast(self, op: AstypeOp) -> None:
        """Remove a conversion to the narrower type of a value that was computed in it."""
        source = self.source(op.input)
        # f16 -> f32 -> f16 is the identity; f32 -> f16 -> f32 would not be.
        if source is not None and source.type == op.result.type and self.actions.allowed(op):
            op.result.replace_all_uses_with(source)
            erase(op)

    def visit(self, op: InfersType) -> None:
        """Convert `op` if its policy says so."""
        policy = self.policies.get(op.name, Policy.NEVER)
        # An explicit f64 or i32 is what the author asked for.
        if policy is Policy.NEVER or op.properties.get("out_dtype") not in (None, f32):
            return
        floats = [value for value in op.operands if _element(value) == f32]
        constants = [value for value in floats if isinstance(value.owner, ConstantOp | FullOp)]
        # A mixture of types is invalid for most operations, and an operation on narrow operands is
        # converted already.
        if not floats or any(_element(value) == self.narrow for value in op.operands):
            return
        # Constants do not count: they are converted for nothing, at compile time.
        if policy is Policy.FOLLOW:
            others = [value for value in floats if value not in constants]
            if not others or any(self.source(value) is None for value in others):
                return
        zeros = policy is Policy.FOLLOW  # a divisor must not become zero, but a weight may
        if not self.holds_numbers(op) or not all(self.holds(value, zeros) for value in constants):
            self.actions.missed(op, "OutOfRange", f"has a number that {self.narrow} cannot hold")
        elif not self.keeps_rounding(op):
            self.actions.missed(op, "Rounding", "constants cancel, are great or very small")
        elif self.actions.allowed(op):
            self.convert(op)

    def convert(self, op: InfersType) -> None:
        """Replace `op` by one in the narrower type, unless it does not support that."""
        new = type(op).create(
            operands=[self.narrowed(v) if _element(v) == f32 else v for v in op.operands],
            result_types=[self.narrow_type(result) for result in op.results],
            properties={name: v for name, v in op.properties.items() if name != "out_dtype"},
            attributes=op.attributes,
            location=op.location,
        )
        try:
            inferred = new.inferred_types()
        except VerifyException as error:
            self.actions.missed(op, "NotConverted", f"is not defined for {self.narrow}: {error}")
            inferred = ()
        types = zip(new.result_types, inferred)
        # The operation itself says whether it takes f16: no list of types is kept here.
        if len(inferred) != len(op.results) or any(refine(*pair) is None for pair in types):
            new.erase()
            return
        insert_before(op, new)
        self.actions.count("converted")
        self.actions.passed(new, "Converted", f"computed in {self.narrow}")
        for old, result in zip(op.results, new.results, strict=True):
            if old.type == result.type:
                old.replace_all_uses_with(result)
            else:
                # Made for all users; those that are converted read `result` (`source`), and if all
                # are, it goes.
                wide = AstypeOp(result, dtype=f32, result_types=[old.type], location=op.location)
                insert_before(op, wide)
                self.optional[wide] = None
                old.replace_all_uses_with(wide.result)
                self.converted[wide.result] = result
        erase(op)

    def source(self, value: SSAValue) -> SSAValue | None:
        """Return the value in the narrower type that `value` is converted from."""
        owner = value.owner
        if isinstance(owner, AstypeOp) and owner.dtype == f32:
            return owner.input if _element(owner.input) == self.narrow else None
        return None

    def narrowed(self, value: SSAValue) -> SSAValue:
        """Return `value` in the narrower type, converted after its definition if it must be."""
        # One conversion for each value: it stands after the definition, and so dominates all users.
        if (known := self.source(value) or self.converted.get(value)) is not None:
            return known
        owner = value.owner
        if isinstance(owner, ConstantOp | FullOp):
            new = self.constant(owner)
            self.optional[owner] = None
        else:
            type = with_element(tensor_type(value), self.narrow)
            new = AstypeOp(value, dtype=self.narrow, result_types=[type])
        if isinstance(owner, Block):
            Rewriter.insert_op(new, InsertPoint.at_start(owner))
        else:
            new.location = owner.location
            Rewriter.insert_op(new, InsertPoint.after(owner))
        self.optional[new] = None
        self.converted[value] = new.results[0]
        return new.results[0]

    def narrow_type(self, value: SSAValue) -> Attribute:
        """Return the type of `value` with f32 replaced by the narrower type."""
        return (
            with_element(tensor_type(value), self.narrow) if _element(value) == f32 else value.type
        )

    def constant(self, op: ConstantOp | FullOp) -> ConstantOp | FullOp:
        """Return a constant with the elements of `op`, rounded to the narrower type."""
        from ..arrays import constant_of, known

        elements = known(op.result)
        assert elements is not None
        return constant_of(elements, self.narrow)

    def holds(self, value: SSAValue, zeros: bool) -> bool:
        """Return whether the narrower type holds all elements of a constant without overflow; with
        `zeros`, only zeros may become zero."""
        import numpy as np

        from ...compiler.interpreters.arrays import fit
        from ..arrays import known

        if (elements := known(value)) is None:
            return False
        array = elements.array
        with np.errstate(all="ignore"):
            rounded = fit(array, self.narrow)
        # An infinity that was one before, as in a mask, is kept.
        kept = np.isfinite(rounded) | ~np.isfinite(array)
        if zeros:
            kept &= (rounded != 0) | (array == 0)
        return bool(kept.all())

    def keeps_rounding(self, op: Operation) -> bool:
        """Return whether the sums and products with constants around `op` do not round on purpose,
        and are no results of sums with great constants: the narrower type has fewer digits."""
        from ..float_rounding import is_shifted, keeps_rounding

        return keeps_rounding(op) and not any(map(is_shifted, op.results))

    def holds_numbers(self, op: Operation) -> bool:
        """Return whether no number among the properties of `op` becomes infinite; the bounds of
        `relax.clip` may."""
        from ...compiler.interpreters.arrays import float_limits

        numbers = [v.value.data for v in op.properties.values() if isinstance(v, FloatAttr)]
        maximum = float_limits(self.narrow).maximum
        # Clipping at infinity is no clipping, which is right for numbers that are all below the
        # bound.
        return isinstance(op, ClipOp) or not any(maximum < abs(n) < inf for n in numbers)


def _element(value: SSAValue) -> Attribute | None:
    type = value.type
    return type.element_type if is_tensor(type) else None


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
    before = ("layout",)
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
        import_module("...compiler.interpreters.arrays", __package__)
        import_module("..float_rounding", __package__)

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
