"""Views of tensors in memory: how they are made, loaded from and stored to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    BaseAttr,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import NoMemoryEffect, Pure

from .attributes import (
    AtomicRMWModeAttr,
    MemoryOrderingSemanticsAttr,
    MemoryScopeAttr,
    OptimizationHintsAttr,
)
from .constraints import INT, SCALAR_INT, SCALAR_POINTER, TILE
from .memory_effects import LoadEffect, StoreEffect
from .tile_op import Operand, TileOp
from .types import (
    GatherScatterViewType,
    PartitionViewType,
    StridedViewType,
    TensorViewType,
    TileView,
    TokenType,
)

__all__ = [
    "AtomicRedViewTkoOp",
    "GetIndexSpaceShapeOp",
    "GetTensorShapeOp",
    "LoadViewTkoOp",
    "MakeGatherScatterViewOp",
    "MakePartitionViewOp",
    "MakeStridedViewOp",
    "MakeTensorViewOp",
    "StoreViewTkoOp",
]

VIEW = BaseAttr(TileView)


@irdl_op_definition
class MakeTensorViewOp(TileOp):
    """A tensor at the address `base`. The operands are the sizes and strides that its type does
    not have, as unsigned integers."""

    name = "cuda_tile.make_tensor_view"

    base = operand_def(SCALAR_POINTER)
    dynamicShape = var_operand_def(SCALAR_INT)
    dynamicStrides = var_operand_def(SCALAR_INT)
    result = result_def(TensorViewType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(NoMemoryEffect())


@irdl_op_definition
class MakePartitionViewOp(TileOp):
    """The grid of tiles of a tensor."""

    name = "cuda_tile.make_partition_view"

    tensor_view = operand_def(TensorViewType)
    result = result_def(PartitionViewType)

    traits = traits_def(Pure())


@irdl_op_definition
class MakeStridedViewOp(TileOp):
    """The tiles of a tensor at the multiples of strides."""

    name = "cuda_tile.make_strided_view"

    tensor_view = operand_def(TensorViewType)
    result = result_def(StridedViewType)

    traits = traits_def(Pure())


@irdl_op_definition
class MakeGatherScatterViewOp(TileOp):
    """The tiles of a tensor at indices that are a tile in one dimension."""

    name = "cuda_tile.make_gather_scatter_view"

    tensor_view = operand_def(TensorViewType)
    result = result_def(GatherScatterViewType)

    traits = traits_def(Pure())


@irdl_op_definition
class GetTensorShapeOp(TileOp):
    """The sizes of a tensor."""

    name = "cuda_tile.get_tensor_shape"

    src = operand_def(TensorViewType)
    result = var_result_def(SCALAR_INT)

    traits = traits_def(NoMemoryEffect())


@irdl_op_definition
class GetIndexSpaceShapeOp(TileOp):
    """The number of tiles of a view in each dimension."""

    name = "cuda_tile.get_index_space_shape"

    src = operand_def(VIEW)
    result = var_result_def(SCALAR_INT)

    traits = traits_def(NoMemoryEffect())


@irdl_op_definition
class LoadViewTkoOp(TileOp):
    """The tile of a view at an index, loaded after the operations of `token`."""

    name = "cuda_tile.load_view_tko"

    memory_ordering_semantics = prop_def(MemoryOrderingSemanticsAttr)
    memory_scope = opt_prop_def(MemoryScopeAttr)
    view = operand_def(VIEW)
    index = var_operand_def(INT)
    token = opt_operand_def(TokenType)
    optimization_hints = opt_prop_def(OptimizationHintsAttr)
    tile = result_def(TILE)
    result_token = result_def(TokenType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(LoadEffect())

    @classmethod
    def infer_types(cls, *operands: Operand) -> Sequence[Attribute]:
        (type,) = super().infer_types(*operands)
        return (type.tile_type if isinstance(type, TileView) else type, TokenType())


@irdl_op_definition
class StoreViewTkoOp(TileOp):
    """Store a tile to a view at an index, after the operations of `token`."""

    name = "cuda_tile.store_view_tko"

    RESULTS: ClassVar = (TokenType(),)

    memory_ordering_semantics = prop_def(MemoryOrderingSemanticsAttr)
    memory_scope = opt_prop_def(MemoryScopeAttr)
    tile = operand_def(TILE)
    view = operand_def(VIEW)
    index = var_operand_def(INT)
    token = opt_operand_def(TokenType)
    optimization_hints = opt_prop_def(OptimizationHintsAttr)
    result_token = result_def(TokenType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(StoreEffect())


@irdl_op_definition
class AtomicRedViewTkoOp(TileOp):
    """Combine a tile with that of a view at an index, each element atomically."""

    name = "cuda_tile.atomic_red_view_tko"

    RESULTS: ClassVar = (TokenType(),)

    memory_ordering_semantics = prop_def(MemoryOrderingSemanticsAttr)
    memory_scope = prop_def(MemoryScopeAttr)
    view = operand_def(VIEW)
    index = var_operand_def(INT)
    mode = prop_def(AtomicRMWModeAttr)
    value = operand_def(TILE)
    token = opt_operand_def(TokenType)
    result_token = result_def(TokenType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
