"""Access to memory by tiles of pointers, atomic operations, and the tokens that order accesses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import I64, IntegerAttr, UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from ..signature import of_signature
from .attributes import (
    AtomicRMWModeAttr,
    MemoryOrderingSemanticsAttr,
    MemoryScopeAttr,
    OptimizationHintsAttr,
)
from .checks import (
    LOAD_ORDERS,
    STORE_ORDERS,
    check_access,
    check_atomic,
    check_mode,
    check_same_shape,
    check_types,
    tile,
    width_of,
)
from .constraints import BOOL, NUMBER, POINTER, SCALAR_POINTER, TILE
from .memory_effects import LoadEffect, StoreEffect
from .syntax import HINTS, MEMORY, types
from .tile_op import CudaTileOp, Operand, PureOp
from .types import PointerType, TokenType, pointee

__all__ = [
    "AllocaOp",
    "AtomicCASTkoOp",
    "AtomicRMWTkoOp",
    "JoinTokensOp",
    "LoadPtrTkoOp",
    "MakeTokenOp",
    "StorePtrTkoOp",
]


@irdl_op_definition
class MakeTokenOp(PureOp):
    """A token that waits for nothing."""

    name = "cuda_tile.make_token"

    RESULTS: ClassVar = (TokenType(),)

    result = result_def(TokenType)

    assembly_format = "attr-dict " + types("result")


@irdl_op_definition
class JoinTokensOp(PureOp):
    """A token that waits for all of `tokens`."""

    name = "cuda_tile.join_tokens"

    RESULTS: ClassVar = (TokenType(),)

    tokens = var_operand_def(TokenType)
    result = result_def(TokenType)

    assembly_format = "$tokens attr-dict " + types("result")

    @of_signature
    def verify_(self) -> None:
        if len(self.tokens) < 2:
            raise VerifyException(f"expected two tokens or more, got {len(self.tokens)}")


@irdl_op_definition
class AllocaOp(CudaTileOp):
    """Memory for `num_elem` elements until the end of the block; of this tile block alone, unless
    `global`."""

    name = "cuda_tile.alloca"

    num_elem = prop_def(IntegerAttr[I64])
    alignment = prop_def(IntegerAttr[I64])
    global_ = opt_prop_def(UnitAttr, prop_name="global")
    result = result_def(SCALAR_POINTER)

    assembly_format = (
        "`num_elem` `=` $num_elem `,` `alignment` `=` $alignment (`global` $global^)? attr-dict "
        + types("result")
    )

    @of_signature
    def verify_(self) -> None:
        if (count := self.num_elem.value.data) < 0:
            raise VerifyException(f"num_elem {count}: expected 0 or more")
        alignment, pointer = self.alignment.value.data, tile(self.result.type).element_type
        if alignment <= 0 or alignment & (alignment - 1):
            raise VerifyException(f"alignment {alignment}: expected a power of two")
        assert isinstance(pointer, PointerType)
        if alignment < (size := width_of(pointer.pointee_type) // 8):
            raise VerifyException(
                f"alignment {alignment}: expected {size} at least, for {pointer.pointee_type}"
            )


@irdl_op_definition
class LoadPtrTkoOp(CudaTileOp):
    """The numbers at pointers, loaded after the operations of `token`. Where `mask` is false,
    nothing is loaded, and the element is that of `paddingValue`."""

    name = "cuda_tile.load_ptr_tko"

    memory_ordering_semantics = prop_def(MemoryOrderingSemanticsAttr)
    memory_scope = opt_prop_def(MemoryScopeAttr)
    source = operand_def(POINTER)
    mask = opt_operand_def(BOOL)
    paddingValue = opt_operand_def(NUMBER)
    token = opt_operand_def(TokenType)
    optimization_hints = opt_prop_def(OptimizationHintsAttr)
    result = result_def(TILE)
    result_token = result_def(TokenType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(LoadEffect())

    assembly_format = (
        MEMORY
        + " $source (`,` $mask^)? (`,` $paddingValue^)? (`token` `` `=` `` $token^)? "
        + HINTS
        + " attr-dict "
        + types("source[, mask][, paddingValue] -> result, result_token")
    )

    @classmethod
    def infer_types(cls, *operands: Operand) -> Sequence[Attribute]:
        (type,) = super().infer_types(*operands)
        return (pointee(type), TokenType())

    @of_signature
    def verify_(self) -> None:
        type = pointee(self.source.type)
        check_types("result", [type], [self.result.type])
        if self.mask is not None:
            check_same_shape(type, self.mask.type)
        if self.paddingValue is not None:
            check_types("padding value", [type], [self.paddingValue.type])
        check_access(self.memory_ordering_semantics, self.memory_scope, LOAD_ORDERS)


@irdl_op_definition
class StorePtrTkoOp(CudaTileOp):
    """Store numbers at pointers where `mask` is true, after the operations of `token`."""

    name = "cuda_tile.store_ptr_tko"

    RESULTS: ClassVar = (TokenType(),)

    memory_ordering_semantics = prop_def(MemoryOrderingSemanticsAttr)
    memory_scope = opt_prop_def(MemoryScopeAttr)
    destination = operand_def(POINTER)
    value = operand_def(TILE)
    mask = opt_operand_def(BOOL)
    token = opt_operand_def(TokenType)
    optimization_hints = opt_prop_def(OptimizationHintsAttr)
    result_token = result_def(TokenType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(StoreEffect())

    assembly_format = (
        MEMORY
        + " $destination `,` $value (`,` $mask^)? (`token` `` `=` `` $token^)? "
        + HINTS
        + " attr-dict "
        + types("destination, value[, mask] -> result_token")
    )

    @of_signature
    def verify_(self) -> None:
        type = pointee(self.destination.type)
        check_types("value", [type], [self.value.type])
        if self.mask is not None:
            check_same_shape(type, self.mask.type)
        check_access(self.memory_ordering_semantics, self.memory_scope, STORE_ORDERS)


@irdl_op_definition
class AtomicRMWTkoOp(CudaTileOp):
    """The numbers at pointers; each is replaced by its combination with the element of `arg`."""

    name = "cuda_tile.atomic_rmw_tko"

    T: ClassVar = VarConstraint("T", TILE)
    memory_ordering_semantics = prop_def(MemoryOrderingSemanticsAttr)
    memory_scope = prop_def(MemoryScopeAttr)
    pointers = operand_def(POINTER)
    mode = prop_def(AtomicRMWModeAttr)
    arg = operand_def(T)
    mask = opt_operand_def(BOOL)
    token = opt_operand_def(TokenType)
    result = result_def(T)
    result_token = result_def(TokenType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    assembly_format = (
        MEMORY + " $pointers `,` custom<Keyword>($mode) `,` $arg (`,` $mask^)? "
        "(`token` `` `=` `` $token^)? attr-dict "
        + types("pointers, arg[, mask] -> result, result_token")
    )

    @classmethod
    def infer_types(cls, *operands: Operand) -> Sequence[Attribute]:
        (type,) = super().infer_types(*operands)
        return (pointee(type), TokenType())

    @of_signature
    def verify_(self) -> None:
        type = pointee(self.pointers.type)
        check_types("value", [type], [self.arg.type])
        if self.mask is not None:
            check_same_shape(type, self.mask.type)
        check_mode(self.mode, tile(type).element_type)
        check_atomic(self.memory_ordering_semantics)


@irdl_op_definition
class AtomicCASTkoOp(CudaTileOp):
    """The numbers at pointers; each that equals the element of `cmp` is replaced by that of
    `val`."""

    name = "cuda_tile.atomic_cas_tko"

    T: ClassVar = VarConstraint("T", TILE)
    memory_ordering_semantics = prop_def(MemoryOrderingSemanticsAttr)
    memory_scope = prop_def(MemoryScopeAttr)
    pointers = operand_def(POINTER)
    cmp = operand_def(T)
    val = operand_def(T)
    mask = opt_operand_def(BOOL)
    token = opt_operand_def(TokenType)
    result = result_def(T)
    result_token = result_def(TokenType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    assembly_format = (
        MEMORY + " $pointers `,` $cmp `,` $val (`,` $mask^)? "
        "(`token` `` `=` `` $token^)? attr-dict "
        + types("pointers, val[, mask] -> result, result_token")
    )

    @classmethod
    def infer_types(cls, *operands: Operand) -> Sequence[Attribute]:
        (type,) = super().infer_types(*operands)
        return (pointee(type), TokenType())

    @of_signature
    def verify_(self) -> None:
        type = pointee(self.pointers.type)
        check_types("value", [type], [self.val.type])
        if width_of(element := tile(type).element_type) not in (32, 64):
            raise VerifyException(f"expected numbers of 32 or 64 bits, got {element}")
        if self.mask is not None:
            check_same_shape(type, self.mask.type)
        check_atomic(self.memory_ordering_semantics)
