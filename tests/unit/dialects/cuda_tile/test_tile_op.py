"""Operations of CUDA Tile IR made by Python: their result types, properties and effects."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import UnitAttr, f32, i1, i32
from xdsl.ir import SSAValue
from xdsl.traits import MemoryEffectKind, get_effects, is_side_effect_free
from xdsl.utils.test_value import create_ssa_value

from passline.dialects.cuda_tile.attributes import (
    ComparisonOrdering,
    ComparisonPredicate,
    MemoryOrderingSemantics,
    MemoryScope,
    RoundingMode,
    RoundingModeAttr,
    Signedness,
)
from passline.dialects.cuda_tile.elementwise_ops import (
    AddFOp,
    BitcastOp,
    CmpFOp,
    DivIOp,
    MaxFOp,
    SelectOp,
)
from passline.dialects.cuda_tile.memory_ops import LoadPtrTkoOp, MakeTokenOp
from passline.dialects.cuda_tile.module_ops import GetTileBlockIdOp
from passline.dialects.cuda_tile.shape_ops import ConstantOp
from passline.dialects.cuda_tile.types import PointerType, TileType, TokenType, scalar


def value(element: object = f32, shape: tuple[int, ...] = (4,)) -> SSAValue:
    return create_ssa_value(TileType(shape, element))  # pyright: ignore[reportArgumentType]


def test_the_result_has_the_type_of_the_first_operand() -> None:
    x = value()
    assert AddFOp(x, x).result.type == x.type
    condition = value(i1)
    assert SelectOp(condition, x, x).result.type == x.type


def test_a_comparison_has_bools() -> None:
    op = CmpFOp(
        value(),
        value(),
        comparison_predicate=ComparisonPredicate.EQUAL,
        comparison_ordering=ComparisonOrdering.ORDERED,
    )
    assert op.result.type == TileType((4,), i1)
    op.verify()


def test_members_of_enumerations_and_flags_are_properties() -> None:
    op = AddFOp(value(), value(), rounding_mode=RoundingMode.ZERO, flush_to_zero=True)
    assert op.rounding_mode == RoundingModeAttr(RoundingMode.ZERO)
    assert op.flush_to_zero == UnitAttr()
    assert MaxFOp(value(), value(), propagate_nan=False).propagate_nan is None
    assert AddFOp(value(), value()).rounding_mode.data is RoundingMode.NEAREST_EVEN


def test_operations_whose_results_are_always_the_same() -> None:
    assert MakeTokenOp().result.type == TokenType()
    assert GetTileBlockIdOp().result_types == (scalar(i32),) * 3


def test_a_conversion_needs_the_type_of_its_result() -> None:
    x = value()
    assert BitcastOp(x, types=[TileType((4,), i32)]).result.type == TileType((4,), i32)


def test_a_constant_has_the_type_of_its_elements() -> None:
    op = ConstantOp.splat(2, TileType((2, 4), i32))
    assert op.result.type == TileType((2, 4), i32)
    assert op.value.get_values() == (2,) * 8
    op.verify()


def load(order: MemoryOrderingSemantics, scope: MemoryScope | None = None) -> LoadPtrTkoOp:
    pointers = value(PointerType(f32))
    return LoadPtrTkoOp(
        pointers, None, None, None, memory_ordering_semantics=order, memory_scope=scope
    )


def test_a_load_has_the_type_at_its_pointers() -> None:
    assert load(MemoryOrderingSemantics.WEAK).result_types == (TileType((4,), f32), TokenType())


@pytest.mark.parametrize(
    ("order", "kinds"),
    [
        (MemoryOrderingSemantics.WEAK, {MemoryEffectKind.READ}),
        (MemoryOrderingSemantics.ACQUIRE, {MemoryEffectKind.READ, MemoryEffectKind.WRITE}),
    ],
)
def test_a_load_that_others_see_is_kept(
    order: MemoryOrderingSemantics, kinds: set[MemoryEffectKind]
) -> None:
    effects = get_effects(load(order, MemoryScope.DEVICE))
    assert effects is not None and {effect.kind for effect in effects} == kinds


def test_no_pass_divides_where_the_program_does_not() -> None:
    from xdsl.traits import Pure

    n = value(i32)
    op = DivIOp(n, n, signedness=Signedness.SIGNED)
    assert is_side_effect_free(op) and not op.has_trait(Pure)
