"""The table of inferred signatures, and the operations that may use it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest
from xdsl.dialects.builtin import IntegerAttr, TensorType, f32, i64
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.utils.exceptions import VerifyException

from passline.dialects.relax import Relax
from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.constant import FullOp
from passline.dialects.relax.data.concatenation import ConcatenateOp
from passline.dialects.relax.data.creation import ArangeOp
from passline.dialects.relax.elementwise.binary import AddOp, MultiplyOp
from passline.dialects.relax.interfaces import InfersType
from passline.dialects.relax.interfaces.computing import SignatureTable
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.walk import walk
from passline.passmanager.registry import make_ir_context

FILES = Path(__file__).parents[4] / "filecheck/dialects/relax"


class Counter:
    """An inference that counts how often it is asked."""

    def __init__(self, *types: Attribute) -> None:
        self.types = types
        self.count = 0

    def __call__(self) -> Sequence[Attribute]:
        self.count += 1
        return self.types


def values(*types: Attribute) -> Sequence[SSAValue]:
    return TestOp(result_types=types).results


def test_a_signature_is_inferred_once():
    table, infer, type = SignatureTable(), Counter(f32), TensorType(f32, [2])
    x, y = values(type, type)
    assert table.types_of(AddOp(x, y), infer) == (f32,)
    assert table.types_of(AddOp(y, x), infer) == (f32,)
    assert infer.count == 1


def test_class_properties_and_operand_types_are_the_signature():
    table, infer = SignatureTable(), Counter(f32)
    square, vector = TensorType(f32, [2, 2]), TensorType(f32, [2])
    (x, v) = values(square, vector)
    ops = [
        AddOp(x, x),
        MultiplyOp(x, x),
        AddOp(x, v),
        AddOp(v, x),
        ConcatenateOp(x, x, axis=0),
        ConcatenateOp(x, x, axis=1),
        ConcatenateOp(x, x, x, axis=1),
    ]
    for _ in range(2):
        for op in ops:
            table.types_of(op, infer)
    assert infer.count == len(ops)


def test_an_error_is_not_recorded():
    def fail() -> Sequence[Attribute]:
        raise VerifyException("wrong")

    table, infer, (x,) = SignatureTable(), Counter(f32), values(TensorType(f32, [2]))
    op = AddOp(x, x)
    for _ in range(2):
        with pytest.raises(VerifyException, match="wrong"):
            table.types_of(op, fail)
    assert table.types_of(op, infer) == (f32,)
    assert infer.count == 1


def test_the_table_has_a_capacity():
    table, infer = SignatureTable(capacity=2), Counter(f32)
    ops = [AddOp(x, x) for x in values(*(TensorType(f32, [n]) for n in range(3)))]
    for op in ops:
        table.types_of(op, infer)
    table.types_of(ops[2], infer)
    assert infer.count == 3
    table.types_of(ops[0], infer)
    assert infer.count == 4


# The operations


@cache
def examples() -> Sequence[InfersType]:
    """Return the valid operations in the FileCheck tests of the dialect."""
    return [*_examples()]


def _examples() -> Iterator[InfersType]:
    for file in sorted(FILES.glob("*.mlir")):
        for text in [] if file.name.startswith("invalid") else file.read_text().split("// -----"):
            for op in walk(parse_module(make_ir_context(), text, file.name)):
                if isinstance(op, InfersType):
                    yield op


def types_from_signature(op: InfersType) -> Sequence[Attribute]:
    """Return the inferred types of an operation like `op`, of whose operands only the types are
    known."""
    arguments = Block(arg_types=op.operand_types).args
    return type(op).create(operands=arguments, properties=op.properties).infer_types()


FROM_SIGNATURE = [
    cls for cls in Relax.operations if issubclass(cls, TensorOp) and cls.FROM_SIGNATURE
]


def test_types_follow_from_the_signature():
    for cls in FROM_SIGNATURE:
        found = [op for op in examples() if type(op) is cls]
        assert found, f"no example of {cls.name} in tests/filecheck/dialects/relax"
        for op in found:
            assert [*types_from_signature(op)] == [*op.infer_types()] == [*op.inferred_types()]


def test_types_from_constants_are_not_shared():
    def integer(n: int) -> SSAValue:
        return FullOp(IntegerAttr(n, i64), TensorType(i64, [])).result

    nought, one = integer(0), integer(1)
    three, five = (ArangeOp(nought, integer(n), one).result.type for n in (3, 5))
    assert (three, five) == (TensorType(i64, [3]), TensorType(i64, [5]))
