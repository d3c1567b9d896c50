"""Products of matrices, reductions and scans along a dimension."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    I32,
    ArrayAttr,
    BoolAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerAttr,
    UnitAttr,
    i8,
    i32,
)
from xdsl.ir import Attribute
from xdsl.irdl import (
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import RecursiveMemoryEffect, is_side_effect_free
from xdsl.utils.exceptions import VerifyException

from ...passmanager.ir.text.default_dialect import DefaultDialect
from ...passmanager.releases.floats import (
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    FloatTF32Type,
)
from ..signature import of_signature
from .attributes import SignednessAttr
from .constraints import TILE, TileOf, check_same_element, check_same_shape, check_types, tile
from .control_ops import YieldOp
from .elements import FLOATS
from .syntax import types
from .tile_op import CudaTileOp, PureOp
from .types import TileType, scalar

MMAF = TileOf((*FLOATS, FloatTF32Type, Float8E4M3FNType, Float8E5M2Type))
MMAI = TileOf((i8,))
MMAF_SCALED = TileOf((Float8E4M3FNType, Float8E5M2Type, Float4E2M1FNType))
IDENTITIES = "`identities` `` `=` `` custom<Identities>($identities)"
SCALE = TileOf((Float8E4M3FNType, Float8E8M0FNUType))


class ProductOp(PureOp, ABC):
    """A sum of products of matrices: of rank 2, or 3 with a batch dimension."""

    RESULT_OF: ClassVar = 2

    def check_product(self) -> None:
        """Check that the shapes are those of a product."""
        lhs, rhs, acc = self.operand_types[:3]
        check_same_element(lhs, rhs)
        left, right = tile(lhs).get_shape(), tile(rhs).get_shape()
        if len(left) not in (2, 3):
            raise VerifyException(f"expected tiles of 2 or 3 dimensions, got {lhs}")
        expected = tile(acc).with_shape((*left[:-1], right[-1]))
        if left[:-2] != right[:-2] or left[-1] != right[-2] or acc != expected:
            raise VerifyException(f"{lhs} and {rhs} have no product {acc}")


@irdl_op_definition
class MmaFOp(ProductOp):
    """Compute lhs @ rhs + acc on floats."""

    name = "cuda_tile.mmaf"

    T: ClassVar = VarConstraint("T", TileOf((Float16Type, Float32Type, Float64Type)))
    lhs = operand_def(MMAF)
    rhs = operand_def(MMAF)
    acc = operand_def(T)
    fast_acc = opt_prop_def(UnitAttr)
    result = result_def(T)

    assembly_format = "$lhs `,` $rhs `,` $acc (`fast_acc` $fast_acc^)? attr-dict " + types(
        "lhs, rhs, acc"
    )

    @of_signature
    def verify_(self) -> None:
        self.check_product()
        element, acc = tile(self.lhs.type).element_type, tile(self.acc.type).element_type
        if acc not in (allowed := _accumulators(element)):
            raise VerifyException(
                f"products of {element} are summed in {' or '.join(map(str, allowed))}, not {acc}"
            )


@irdl_op_definition
class MmaIOp(ProductOp):
    """Compute lhs @ rhs + acc on integers of 8 bits, summed in 32 bits."""

    name = "cuda_tile.mmai"

    T: ClassVar = VarConstraint("T", TileOf((i32,)))
    lhs = operand_def(MMAI)
    rhs = operand_def(MMAI)
    acc = operand_def(T)
    signedness_lhs = prop_def(SignednessAttr)
    signedness_rhs = prop_def(SignednessAttr)
    result = result_def(T)

    assembly_format = (
        "$lhs `,` $rhs `,` $acc custom<Keyword>($signedness_lhs) "
        "custom<Keyword>($signedness_rhs) attr-dict " + types("lhs, rhs, acc")
    )

    @of_signature
    def verify_(self) -> None:
        self.check_product()


@irdl_op_definition
class MmaFScaledOp(ProductOp):
    """Compute (lhs * lhs_scale) @ (rhs * rhs_scale) + acc, with a scale for each block of elements
    along the dimension of the sums."""

    name = "cuda_tile.mmaf_scaled"

    T: ClassVar = VarConstraint("T", TileOf((Float32Type,)))
    lhs = operand_def(MMAF_SCALED)
    rhs = operand_def(MMAF_SCALED)
    acc = operand_def(T)
    lhs_scale = operand_def(SCALE)
    rhs_scale = operand_def(SCALE)
    result = result_def(T)

    assembly_format = "$lhs `,` $rhs `,` $acc `,` $lhs_scale `,` $rhs_scale attr-dict " + types(
        "lhs, rhs, acc, lhs_scale, rhs_scale"
    )

    @of_signature
    def verify_(self) -> None:
        self.check_product()
        check_same_element(self.lhs_scale.type, self.rhs_scale.type)
        lhs, scale = tile(self.lhs.type), tile(self.lhs_scale.type)
        element, scale_element = lhs.element_type, scale.element_type
        size = lhs.get_shape()[-1] // scale.get_shape()[-1]
        if size not in (allowed := _block_sizes(element, scale_element)):
            raise VerifyException(
                f"blocks of {size} elements {element} for a scale {scale_element}: expected "
                f"{' or '.join(map(str, allowed)) or 'other types'}"
            )
        blocks = lhs.get_shape()[-1] // size
        *batch, rows, _ = lhs.get_shape()
        columns = tile(self.rhs.type).get_shape()[-1]
        check_types(
            "scales",
            [scale.with_shape((*batch, rows, blocks)), scale.with_shape((*batch, blocks, columns))],
            [self.lhs_scale.type, self.rhs_scale.type],
        )


def _accumulators(element: Attribute) -> list[Attribute]:
    match element:
        case Float64Type():
            return [element]
        case Float16Type() | Float8E4M3FNType() | Float8E5M2Type():
            return [Float16Type(), Float32Type()]
        case _:
            return [Float32Type()]


def _block_sizes(element: Attribute, scale: Attribute) -> list[int]:
    """Return how many elements can have one scale."""
    if isinstance(scale, Float8E4M3FNType):
        return [16] if isinstance(element, Float4E2M1FNType) else []
    return [16, 32] if isinstance(element, Float4E2M1FNType) else [32]


class AggregateOp(CudaTileOp, ABC):
    """A combination of the elements of all operands together along dimension `dim`.

    The block of `body` has for each operand the value so far and the next element, both scalars,
    one pair after the other, and yields the new value for each. It is associative, and
    `identities` are its neutral elements.
    """

    inputs = var_operand_def(TILE)
    dim = prop_def(IntegerAttr[I32])
    identities = prop_def(ArrayAttr)
    outputs = var_result_def(TILE)
    body = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect(), DefaultDialect())

    def expected_type(self, type: TileType) -> TileType:
        """Return the type of the result for an operand."""
        return type

    def verify_(self) -> None:
        if not self.inputs or len(self.outputs) != len(self.inputs):
            raise VerifyException(
                f"got {len(self.inputs)} operands and {len(self.outputs)} results"
            )
        check_same_shape(*self.inputs.types)
        if not 0 <= (dim := self.dim.value.data) < len(tile(self.inputs.types[0]).shape):
            raise VerifyException(f"dim {dim}: expected a dimension of {self.inputs.types[0]}")
        elements = [tile(type).element_type for type in self.inputs.types]
        types = [getattr(identity, "type", None) for identity in self.identities]
        if types != elements:
            got = ", ".join(map(str, self.identities))
            expected = ", ".join(map(str, elements))
            raise VerifyException(f"expected identities of {expected}, got {got}")
        self._verify_body([scalar(element) for element in elements])
        expected = [self.expected_type(tile(type)) for type in self.inputs.types]
        check_types("results", expected, self.outputs.types)

    def _verify_body(self, scalars: Sequence[Attribute]) -> None:
        block = self.body.block
        check_types("arguments", [type for type in scalars for _ in range(2)], block.arg_types)
        if not isinstance(end := block.last_op, YieldOp):
            raise VerifyException("expected a block that ends with a yield")
        check_types("yield", scalars, end.operand_types)
        for inner in block.ops:
            if not is_side_effect_free(inner):
                raise VerifyException(
                    f"'{inner.name}' has side effects: expected a function of values"
                )


@irdl_op_definition
class ReduceOp(AggregateOp):
    """Reduce tiles along a dimension, which the results lack."""

    name = "cuda_tile.reduce"

    assembly_format = (
        f"$inputs attr-dict `dim` `` `=` `` $dim {IDENTITIES} "
        + types("inputs -> outputs")
        + " custom<ArgumentRegion>($body)"
    )

    def expected_type(self, type: TileType) -> TileType:
        shape, dim = type.get_shape(), self.dim.value.data
        return type.with_shape((*shape[:dim], *shape[dim + 1 :]))


@irdl_op_definition
class ScanOp(AggregateOp):
    """Compute inclusive prefix reductions along a dimension, from its end with `reverse`."""

    name = "cuda_tile.scan"

    reverse = prop_def(BoolAttr)

    assembly_format = (
        f"$inputs attr-dict `dim` `` `=` `` $dim `reverse` `` `=` `` $reverse {IDENTITIES} "
        + types("inputs -> outputs")
        + " custom<ArgumentRegion>($body)"
    )
