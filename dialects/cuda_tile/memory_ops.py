"""Access to memory by tiles of pointers, and the tokens that order accesses."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import I64, IntegerAttr, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue
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
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind
from xdsl.utils.exceptions import VerifyException

from ..signature import of_signature
from .attributes import (
    AtomicRMWModeAttr,
    MemoryOrderingSemantics,
    MemoryOrderingSemanticsAttr,
    MemoryScopeAttr,
    OptimizationHintsAttr,
)
from .constraints import (
    BOOL,
    NUMBER,
    POINTER,
    SCALAR_POINTER,
    TILE,
    check_mode,
    check_same_shape,
    check_types,
    tile,
    width_of,
)
from .syntax import HINTS, MEMORY, TOKEN, types
from .tile_op import CudaTileOp, Operand, PureOp
from .types import PointerType, TokenType, accessed

VALUE = VarConstraint("T", TILE)

# Tokens


@irdl_op_definition
class MakeTokenOp(PureOp):
    """Make a token that waits for nothing."""

    name = "cuda_tile.make_token"

    RESULTS: ClassVar = (TokenType(),)

    result = result_def(TokenType)

    assembly_format = "attr-dict " + types("result")


@irdl_op_definition
class JoinTokensOp(PureOp):
    """Make a token that waits for all of `tokens`."""

    name = "cuda_tile.join_tokens"

    RESULTS: ClassVar = (TokenType(),)

    tokens = var_operand_def(TokenType)
    result = result_def(TokenType)

    assembly_format = "$tokens attr-dict " + types("result")

    @of_signature
    def verify_(self) -> None:
        if len(self.tokens) < 2:
            raise VerifyException(f"expected two tokens or more, got {len(self.tokens)}")


# Programmatic dependent launch: the grids of a stream overlap


class GridOrderOp(CudaTileOp, ABC):
    """An order of accesses and other grids: after the accesses that `token` waits for."""

    RESULTS: ClassVar = (TokenType(),)

    token = opt_operand_def(TokenType)
    result_token = result_def(TokenType)

    assembly_format = "(`token` `=` $token^)? attr-dict `->` custom<Types>(type($result_token))"


@irdl_op_definition
class GdcWaitTkoOp(GridOrderOp):
    """Wait until the grids before this one have ended, and their writes are visible."""

    name = "cuda_tile.gdc_wait_tko"


@irdl_op_definition
class GdcLaunchDependentsTkoOp(GridOrderOp):
    """Let the grids after this one begin, once all tile blocks have come here or ended."""

    name = "cuda_tile.gdc_launch_dependents_tko"


@irdl_op_definition
class MemoryFenceAliasTkoOp(CudaTileOp):
    """Order the accesses that `token` waits for before later ones by other pointers to the same
    memory."""

    name = "cuda_tile.memory_fence_alias_tko"

    RESULTS: ClassVar = (TokenType(),)

    token = operand_def(TokenType)
    result_token = result_def(TokenType())

    assembly_format = "$token attr-dict"


# Memory


@irdl_op_definition
class AllocaOp(CudaTileOp):
    """Allocate memory for `num_elem` elements until the end of the block; for this tile block
    alone, unless `global`."""

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


class AccessEffect(MemoryEffect):
    """A read or a write; an access that is ordered with other threads is both, so that passes keep
    it where it is."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        order = op.properties.get("memory_ordering_semantics")
        kinds = [MemoryEffectKind.READ, MemoryEffectKind.WRITE]
        if order == MemoryOrderingSemanticsAttr(MemoryOrderingSemantics.WEAK):
            kinds = kinds[:1] if len(op.results) > 1 else kinds[1:]
        return {EffectInstance(kind) for kind in kinds}


class AccessOp(CudaTileOp, ABC):
    """An access to memory after those that `token` waits for, and its own token. Unless it is weak,
    it is ordered with those of the threads in `memory_scope`."""

    ORDERS: ClassVar[Sequence[MemoryOrderingSemantics]]
    """The memory orders that it can have."""

    memory_ordering_semantics = prop_def(MemoryOrderingSemanticsAttr)
    memory_scope = opt_prop_def(MemoryScopeAttr)
    token = opt_operand_def(TokenType)
    result_token = result_def(TokenType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(AccessEffect())

    @classmethod
    def infer_types(cls, *operands: Operand) -> Sequence[Attribute]:
        if len(cls.get_irdl_definition().results) == 1:
            return (TokenType(),)
        (type,) = super().infer_types(*operands)
        return (accessed(type), TokenType())

    @of_signature
    def verify_(self) -> None:
        order, scope = self.memory_ordering_semantics.data, self.memory_scope
        if order not in self.ORDERS:
            raise VerifyException(f"memory order {order}: expected {', '.join(self.ORDERS)}")
        if (order is MemoryOrderingSemantics.WEAK) != (scope is None):
            expected = "no memory scope" if scope is not None else "a memory scope"
            raise VerifyException(f"memory order {order}: expected {expected}")


class ReadOp(AccessOp, ABC):
    """An access that reads memory."""

    ORDERS: ClassVar = (
        MemoryOrderingSemantics.WEAK,
        MemoryOrderingSemantics.RELAXED,
        MemoryOrderingSemantics.ACQUIRE,
    )


class WriteOp(AccessOp, ABC):
    """An access that writes memory."""

    ORDERS: ClassVar = (
        MemoryOrderingSemantics.WEAK,
        MemoryOrderingSemantics.RELAXED,
        MemoryOrderingSemantics.RELEASE,
    )


class AtomicOp(AccessOp, ABC):
    """An access that reads and writes each element in one step."""

    ORDERS: ClassVar = (
        MemoryOrderingSemantics.RELAXED,
        MemoryOrderingSemantics.ACQUIRE,
        MemoryOrderingSemantics.RELEASE,
        MemoryOrderingSemantics.ACQ_REL,
    )

    memory_scope = prop_def(MemoryScopeAttr)


def check_pointed(pointers: Attribute, mask: Operand, **values: Operand) -> Attribute:
    """Check that values are those at pointers, and that a mask has their shape; return their
    type."""
    type = accessed(pointers)
    for name, value in values.items():
        if isinstance(value, SSAValue):
            check_types(name, [type], [value.type])
    if isinstance(mask, SSAValue):
        check_same_shape(type, mask.type)
    return type


@irdl_op_definition
class LoadPtrTkoOp(ReadOp):
    """Load the numbers at pointers. Where `mask` is false, nothing is loaded, and the element is
    that of `paddingValue`."""

    name = "cuda_tile.load_ptr_tko"

    source = operand_def(POINTER)
    mask = opt_operand_def(BOOL)
    paddingValue = opt_operand_def(NUMBER)
    optimization_hints = opt_prop_def(OptimizationHintsAttr)
    result = result_def(TILE)

    assembly_format = (
        f"{MEMORY} $source (`,` $mask^)? (`,` $paddingValue^)? {TOKEN} {HINTS} attr-dict "
        + types("source[, mask][, paddingValue] -> result, result_token")
    )

    @of_signature
    def verify_(self) -> None:
        values = {"result": self.result, "padding value": self.paddingValue}
        check_pointed(self.source.type, self.mask, **values)
        super().verify_()


@irdl_op_definition
class StorePtrTkoOp(WriteOp):
    """Store numbers at pointers where `mask` is true."""

    name = "cuda_tile.store_ptr_tko"

    destination = operand_def(POINTER)
    value = operand_def(TILE)
    mask = opt_operand_def(BOOL)
    optimization_hints = opt_prop_def(OptimizationHintsAttr)

    assembly_format = (
        f"{MEMORY} $destination `,` $value (`,` $mask^)? {TOKEN} {HINTS} attr-dict "
        + types("destination, value[, mask] -> result_token")
    )

    @of_signature
    def verify_(self) -> None:
        check_pointed(self.destination.type, self.mask, value=self.value)
        super().verify_()


@irdl_op_definition
class AtomicRMWTkoOp(AtomicOp):
    """Load the numbers at pointers, and replace each by its combination with the element of
    `arg`."""

    name = "cuda_tile.atomic_rmw_tko"

    pointers = operand_def(POINTER)
    mode = prop_def(AtomicRMWModeAttr)
    arg = operand_def(VALUE)
    mask = opt_operand_def(BOOL)
    result = result_def(VALUE)

    assembly_format = (
        f"{MEMORY} $pointers `,` custom<Keyword>($mode) `,` $arg (`,` $mask^)? {TOKEN} attr-dict "
        + types("pointers, arg[, mask] -> result, result_token")
    )

    @of_signature
    def verify_(self) -> None:
        type = check_pointed(self.pointers.type, self.mask, value=self.arg)
        check_mode(self.mode, tile(type).element_type)
        super().verify_()


@irdl_op_definition
class AtomicCASTkoOp(AtomicOp):
    """Load the numbers at pointers, and replace each that equals the element of `cmp` by that of
    `val`."""

    name = "cuda_tile.atomic_cas_tko"

    pointers = operand_def(POINTER)
    cmp = operand_def(VALUE)
    val = operand_def(VALUE)
    mask = opt_operand_def(BOOL)
    result = result_def(VALUE)

    assembly_format = (
        f"{MEMORY} $pointers `,` $cmp `,` $val (`,` $mask^)? {TOKEN} attr-dict "
        + types("pointers, val[, mask] -> result, result_token")
    )

    @of_signature
    def verify_(self) -> None:
        type = check_pointed(self.pointers.type, self.mask, value=self.val)
        if width_of(element := tile(type).element_type) not in (32, 64):
            raise VerifyException(f"expected numbers of 32 or 64 bits, got {element}")
        super().verify_()
