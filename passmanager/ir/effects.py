"""The memory effects of operations as sets of flags, by their class where that decides.

xDSL's `get_effects` makes objects for all effects of all nested operations, by recursion and at
each question: time that grows with the square of the depth.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from xdsl.dialects.builtin import IntegerAttr, MemRefType, UnrankedMemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.traits import (
    IsTerminator,
    MemoryAllocEffect,
    MemoryEffect,
    MemoryEffectKind,
    MemoryFreeEffect,
    MemoryReadEffect,
    MemoryWriteEffect,
    NoMemoryEffect,
    Pure,
    RecursiveMemoryEffect,
    SymbolOpInterface,
    get_effects,
)
from xdsl.transforms.dead_code_elimination import result_only_effects

from .per_class import PerClass

# Plain integers: an `IntFlag` takes ten times as long to combine.
READS: Final = 1
WRITES: Final = 2
FREES: Final = 4
"""Frees memory, or allocates memory that is no value."""
ALLOCATES_INSIDE: Final = 8
"""Allocates a value that the operation, or one nested in it, defines."""
ALLOCATES_OUTSIDE: Final = 16
"""Allocates a value defined outside of the operation; it may be inside of one around it."""
UNKNOWN: Final = 32
NESTED: Final = 64
"""A flag of a class: its operations also have the effects of the operations in their regions."""
VARYING: Final = 128
"""A flag of a class: the effects differ from operation to operation."""
OBSERVABLE: Final = WRITES | FREES | ALLOCATES_OUTSIDE | UNKNOWN
"""The effects that keep an operation without uses alive."""

# Exact classes: a subclass may have effects of its own.
_STATIC: Final[dict[type[MemoryEffect], int]] = {
    NoMemoryEffect: 0,
    Pure: 0,
    MemoryReadEffect: READS,
    MemoryWriteEffect: WRITES,
    # The trait does not say which value is allocated. As memory that is no value it keeps the op
    # alive, which is the safe answer.
    MemoryAllocEffect: FREES,
    MemoryFreeEffect: FREES,
    RecursiveMemoryEffect: NESTED,
}


_WITHOUT_TRAIT: Final = {
    **dict.fromkeys(("arith.extsi", "arith.remui", "affine.min", "affine.max"), 0),
    **dict.fromkeys(("vector.bitcast", "vector.create_mask", "vector.reduction"), 0),
    **dict.fromkeys(("bufferization.to_buffer", "linalg.yield", "tensor.yield"), 0),
    **dict.fromkeys(("affine.load", "affine.vector_load", "bufferization.to_tensor"), READS),
    **dict.fromkeys(("vector.load", "vector.maskedload", "vector.transfer_read"), READS),
    **dict.fromkeys(("affine.for", "affine.parallel", "scf.execute_region"), NESTED),
    "llvm.alloca": ALLOCATES_INSIDE,
    **dict.fromkeys(("llvm.inline_asm", "llvm.load"), VARYING),
    "tosa.cond_if": NESTED,
}
"""The effects of operations for which xDSL 0.75 declares none, and MLIR does; those that are
VARYING are found by `_undeclared_effects`."""
_LINALG: Final = "linalg."
_TOSA: Final = "tosa."
"""The dialect whose operations are on tensors alone, without effects."""


def _class_effects(cls: type[Operation]) -> int:
    traits = cls.get_traits_of_type(MemoryEffect)
    if not traits and (known := _WITHOUT_TRAIT.get(cls.name)) is not None:
        return known
    if not traits and cls.name.startswith(_LINALG):
        return VARYING
    if not traits and cls.name.startswith(_TOSA):
        return 0
    # No trait at all is no promise; an op without effects says so (`NoMemoryEffect`).
    effects = 0 if traits else UNKNOWN
    for trait in traits:
        effects |= _STATIC.get(type(trait), VARYING)
    return effects


class_effects: Final = PerClass[Operation, int](_class_effects)
"""The effects that all operations of a class have."""


def own_effects(op: Operation) -> int:
    """Return the effects of an operation; unless they are VARYING, without those of nested ones."""
    effects = class_effects[type(op)]
    if not effects & VARYING:
        return effects
    if (found := get_effects(op)) is None:
        return _undeclared_effects(op)
    effects = 0
    for effect in found:
        if effect.kind is MemoryEffectKind.READ:
            effects |= READS
        elif effect.kind is MemoryEffectKind.WRITE:
            effects |= WRITES
        elif effect.kind is MemoryEffectKind.ALLOC and isinstance(value := effect.value, SSAValue):
            effects |= ALLOCATES_INSIDE if op.is_ancestor(value.owner) else ALLOCATES_OUTSIDE
        else:
            effects |= FREES
    return effects


def all_effects(op: Operation) -> int:
    """Return the effects of `op`, with those of the operations nested in it if it has them."""
    effects = 0
    pending = [op]
    while pending:
        found = own_effects(inner := pending.pop())
        effects |= found & ~NESTED
        if found & NESTED:
            blocks = (block for region in inner.regions for block in region.blocks)
            pending += (nested for block in blocks for nested in block.ops)
    return effects


def _undeclared_effects(op: Operation) -> int:
    """Return the effects of an operation for which xDSL declares none, and MLIR does."""
    match op.name:
        case "llvm.inline_asm":
            return UNKNOWN if "has_side_effects" in op.properties else 0
        case "llvm.load":
            # xDSL's operation has no such property, in another release it may be an attribute.
            if op.get_attr_or_prop("volatile_") is not None:
                return UNKNOWN
            ordering = op.properties.get("ordering")
            # Above `unordered`, others see in which order memory is read.
            is_ordered = isinstance(ordering, IntegerAttr) and ordering.value.data > 1
            return READS | WRITES if is_ordered else READS
        case name if name.startswith(_LINALG):
            on_buffers = any(isinstance(v.type, MemRefType) for v in op.operands)
            return NESTED | READS | WRITES if on_buffers else NESTED
        case _:
            return UNKNOWN


def _is_kept(cls: type[Operation]) -> bool:
    traits = (IsTerminator, SymbolOpInterface)
    return any(cls.has_trait(trait, value_if_unregistered=False) for trait in traits)


is_kept: Final = PerClass[Operation, bool](_is_kept)
"""Whether operations of a class need no uses to be alive: terminators and symbols."""


def would_be_dead(op: Operation, effects_of: Callable[[Operation], int] = own_effects) -> bool:
    """Return whether `op` is dead if its results have no uses: xDSL's `would_be_trivially_dead`.

    The search for effects that keep it alive ends at the first one, and nothing recurses. An
    analysis that knows more than `own_effects`, as those of calls, may be given.
    """
    if is_kept[type(op)]:
        return False
    pending = [op]
    while pending:
        inner = pending.pop()
        effects = effects_of(inner)
        # Whether the op around defines the value is known at `op` only: xDSL's own check decides.
        if effects & ALLOCATES_OUTSIDE:
            return result_only_effects(op)
        if effects & OBSERVABLE:
            return False
        if inner is not op and (following := inner.next_op) is not None:
            pending.append(following)
        if effects & NESTED:
            blocks = (block for region in inner.regions for block in region.blocks)
            pending += (first for block in blocks if (first := block.first_op) is not None)
    return True


# The writes of operations that xDSL does not declare. `canonicalize` and `cse` do not ask for them,
# so that they remove what xDSL's passes remove, and no more.


_UNDECLARED: Final = frozenset(
    ("affine.store", "affine.vector_store", "vector.maskedstore", "vector.store")
)
"""The operations that write memory in MLIR, without a trait in xDSL."""


def effects_as_in_mlir(op: Operation) -> int:
    """Return `own_effects` of an operation, or, if xDSL does not declare them, those of MLIR."""
    if (effects := own_effects(op)) != UNKNOWN:
        return effects
    if op.name == "vector.transfer_write":  # to a tensor, it makes a new one
        on_buffers = any(isinstance(v.type, MemRefType | UnrankedMemRefType) for v in op.operands)
        return WRITES if on_buffers else 0
    return WRITES if op.name in _UNDECLARED else UNKNOWN
