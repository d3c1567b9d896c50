from __future__ import annotations

from support.tables import table_test

from passline.passmanager.bytecode.op_properties import (
    FieldKind,
    PropertyField,
    fields_of,
    sparse_array,
)


def test_fields_are_known_by_operation() -> None:
    assert fields_of("arith.addf", 6) == [PropertyField("fastmath", FieldKind.MAYBE_ATTRIBUTE)]
    assert fields_of("arith.constant", 6) == [PropertyField("value", FieldKind.ATTRIBUTE)]
    assert fields_of("llvm.add", 6) == [PropertyField("overflowFlags", FieldKind.VARINT)]
    assert fields_of("test.unknown", 6) is None


def test_sizes_of_segments_moved_to_the_end() -> None:
    old, new = fields_of("scf.forall", 5), fields_of("scf.forall", 6)
    assert old is not None and new is not None
    assert [field.name for field in old].index("operandSegmentSizes") == 1
    assert new[-1] == PropertyField("operandSegmentSizes", FieldKind.SEGMENTS, 4)
    assert {*old} == {*new}


@table_test(
    ("values", "encoded"),
    [
        ([1, 2], [4, 1, 2]),
        ([0, 0], [1]),
        ([0, 1], [3, 1, 3]),
        ([0, 0, 5, 0], [3, 2, 22]),
        ([3, 0], [3, 0, 3]),
        ([], [1]),
    ],
)
def test_sizes_that_are_mostly_zero_are_sparse(values: list[int], encoded: list[int]) -> None:
    assert sparse_array(values) == encoded
