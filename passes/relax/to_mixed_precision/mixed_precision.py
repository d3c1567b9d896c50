"""Mixed precision: operations on f32 tensors are computed in f16 or bf16 where that is safe."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import TypeAlias

from xdsl.dialects.builtin import BFloat16Type, Float16Type, FloatAttr, f32
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import VerifyException

from ....dialects.relax.constant import ConstantOp, FullOp
from ....dialects.relax.elementwise.elementwise import AstypeOp, ClipOp
from ....dialects.relax.interfaces import InfersType
from ....dialects.relax.types import is_tensor, refine, tensor_type, with_element
from ....passmanager.diagnostics.actions import SILENT, Actions
from ....passmanager.fast.edit import erase, insert_before
from ....passmanager.ir.ordering import in_order
from .precision_policies import Policy

__all__ = ["Narrow", "to_mixed_precision"]

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
        from ...constants.arrays import constant_of, known

        elements = known(op.result)
        assert elements is not None
        return constant_of(elements, self.narrow)

    def holds(self, value: SSAValue, zeros: bool) -> bool:
        """Return whether the narrower type holds all elements of a constant without overflow; with
        `zeros`, only zeros may become zero."""
        import numpy as np

        from ....compiler.interpreters.arrays import fit
        from ...constants.arrays import known

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
        from ...constants.float_rounding import is_shifted, keeps_rounding

        return keeps_rounding(op) and not any(map(is_shifted, op.results))

    def holds_numbers(self, op: Operation) -> bool:
        """Return whether no number among the properties of `op` becomes infinite; the bounds of
        `relax.clip` may."""
        from ....compiler.interpreters.arrays import float_limits

        numbers = [v.value.data for v in op.properties.values() if isinstance(v, FloatAttr)]
        maximum = float_limits(self.narrow).maximum
        # Clipping at infinity is no clipping, which is right for numbers that are all below the
        # bound.
        return isinstance(op, ClipOp) or not any(maximum < abs(n) < inf for n in numbers)


def _element(value: SSAValue) -> Attribute | None:
    type = value.type
    return type.element_type if is_tensor(type) else None
