"""The builder of functions on tensors."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.tables import table_test
from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import ParseError, VerifyException

import passline
from passline import BlockBuilder, PasslineError
from passline.dialects.relax.elementwise.binary import AddOp
from passline.dialects.relax.elementwise.unary import ExpOp, NegativeOp


def test_a_function_in_ten_lines() -> None:
    builder = BlockBuilder()
    with builder.function("main", x="tensor<4x8xf32>", w="tensor<8x2xf32>") as (x, w):
        product = builder.emit("relax.matmul", x, w)
        both = builder.emit("concatenate", product, product, axis=1, name="both")
        builder.emit_func_output(both, product)
    with builder.function("id", private=True, x=TensorType(f32, [3])) as (x,):
        builder.emit_func_output(x)
    passline.assert_equal(
        builder.get(),
        """
        func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>)
            -> (tensor<4x4xf32>, tensor<4x2xf32>) {
          %0 = relax.matmul %x, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
          %both = relax.concatenate %0, %0 {axis = 1}
              : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32>
          func.return %both, %0 : tensor<4x4xf32>, tensor<4x2xf32>
        }
        func.func private @id(%x: tensor<3xf32>) -> tensor<3xf32> {
          func.return %x : tensor<3xf32>
        }
        """,
    )
    assert "%both = " in str(builder.get())


def test_operands_in_no_block_are_inserted_first() -> None:
    builder = BlockBuilder()
    with builder.function("main", x="tensor<3xf32>") as (x,):
        shared = ExpOp(x)
        builder.emit_func_output(builder.emit(AddOp(NegativeOp(shared), shared)))
    names = [op.name for op in next(iter(builder.get().ops)).regions[0].block.ops]
    assert names == ["relax.exp", "relax.negative", "relax.add", "func.return"]


def test_a_long_chain_of_operands_is_inserted() -> None:
    builder = BlockBuilder()
    with builder.function("main", x="tensor<3xf32>") as (x,):
        value: SSAValue = x
        for _ in range(20_000):
            value = ExpOp(value).results[0]
        assert isinstance(value.owner, ExpOp)
        builder.emit_func_output(builder.emit(value.owner))
    assert len([*next(iter(builder.get().ops)).regions[0].block.ops]) == 20_001


def test_all_results_of_an_operation() -> None:
    builder = BlockBuilder()
    with builder.function("main", x="tensor<4xf32>") as (x,):
        with pytest.raises(PasslineError, match="'relax.split' has 2 results: call emit_all"):
            builder.emit("relax.split", x, sections=2)
        parts = builder.emit_all("relax.split", x, sections=2)
        builder.emit_func_output(*parts)
    assert len(parts) == 2


def unknown_name(builder: BlockBuilder, x: SSAValue) -> None:
    builder.emit("relax.ad", x, x)


def second_function(builder: BlockBuilder, x: SSAValue) -> None:
    with builder.function("g"):
        pass


def second_output(builder: BlockBuilder, x: SSAValue) -> None:
    builder.emit_func_output(x)
    builder.emit("exp", x)


def no_output(builder: BlockBuilder, x: SSAValue) -> None:
    builder.emit("exp", x)


@table_test(
    "body, message",
    [
        (unknown_name, "no operation 'relax.ad', did you mean"),
        (second_function, "function @f is not finished yet"),
        (second_output, "@f has its output already"),
        (no_output, "function @f has no output: call emit_func_output"),
    ],
)
def test_mistakes_in_a_function(
    body: Callable[[BlockBuilder, SSAValue], None], message: str
) -> None:
    builder = BlockBuilder()
    with pytest.raises(PasslineError, match=message):
        with builder.function("f", x="tensor<4xf32>") as (x,):
            body(builder, x)
    assert [*builder.get().ops] == []


def test_mistakes_around_functions() -> None:
    builder = BlockBuilder()
    with pytest.raises(PasslineError, match="no function is open: write"):
        builder.emit_func_output()
    with builder.function("f"):
        builder.emit_func_output()
    with pytest.raises(PasslineError, match="there is a function @f already"):
        with builder.function("f"):
            pass
    with pytest.raises(ParseError), builder.function("g", x="tenser<3xf32>"):
        pass
    with builder.function("g", x="tensor<3xf32>", y="tensor<4xf32>") as (x, y):
        with pytest.raises(VerifyException):
            builder.emit("relax.add", x, y)
        builder.emit_func_output(x)
