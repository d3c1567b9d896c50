"""EliminateCommonSubexpr: identity of constants, deep nesting, many operands."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.arith import AddiOp
from xdsl.dialects.arith import ConstantOp as ArithConstantOp
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
    f32,
    i1,
    i32,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.scf import IfOp, YieldOp
from xdsl.dialects.test import TestOp, TestPureOp
from xdsl.ir import Attribute, Block, Operation, Region

from passline.dialects.relax.constant import ConstantOp
from passline.dialects.relax.elementwise.unary import ExpOp
from passline.passes.generic.attribute_numbering import LARGE
from passline.passes.generic.eliminate_common_subexpr import (
    EliminateCommonSubexpr,
    eliminate_common_subexpressions,
)
from passline.passmanager import CollectingActions


def function(ops: Sequence[Operation], inputs: Sequence[Attribute] = ()) -> FuncOp:
    return FuncOp("main", (inputs, ()), Region(Block([*ops, ReturnOp()], arg_types=inputs)))


def merged(func: FuncOp) -> int:
    """Run the algorithm on `func`, and return the number of operations that it merged."""
    eliminate_common_subexpressions(func, actions=(recorder := CollectingActions()))
    return recorder.counts["merged"]


def large(number: int) -> DenseIntOrFPElementsAttr:
    data = bytes([number]) * (2 * LARGE)
    return DenseIntOrFPElementsAttr(TensorType(f32, [LARGE // 2]), BytesAttr(data))


def test_large_constants_are_compared_by_identity():
    first, second = large(1), large(1)
    assert first == second
    func = function([ConstantOp(first), ConstantOp(second), ConstantOp(first)])
    assert merged(func) == 1


def test_small_constants_are_compared_by_value():
    type = TensorType(f32, [4])
    values = [DenseIntOrFPElementsAttr.from_list(type, v) for v in ([1.0], [2.0], [1.0])]
    func = function([ConstantOp(value) for value in values])
    assert merged(func) == 1


def test_zeros_of_either_sign_and_nans_are_not_confused():
    type = TensorType(f32, [1])
    values = [DenseIntOrFPElementsAttr.from_list(type, [v]) for v in (0.0, -0.0)]
    assert merged(function([ConstantOp(v) for v in values])) == 0


def test_attributes_in_another_order_are_equal():
    a, b = StringAttr("a"), UnitAttr()
    first = TestPureOp(attributes={"x": a, "y": b}, result_types=[i32])
    second = TestPureOp(attributes={"y": b, "x": a}, result_types=[i32])
    assert merged(function([first, second])) == 1


def test_properties_and_attributes_are_not_confused():
    first = TestPureOp(attributes={"prop1": UnitAttr()}, result_types=[i32])
    second = TestPureOp(properties={"prop1": UnitAttr()}, result_types=[i32])
    assert merged(function([first, second])) == 0


def test_operations_with_several_results():
    ops = [TestPureOp(result_types=[i32, i1]) for _ in range(2)]
    user = TestOp(operands=[ops[1].results[1], ops[1].results[0]])
    assert merged(function([*ops, user])) == 1
    assert list(user.operands) == [ops[0].results[1], ops[0].results[0]]


def test_pure_operations_with_regions_stay():
    ops = [TestPureOp(result_types=[i32], regions=[Region(Block())]) for _ in range(2)]
    assert merged(function(ops)) == 0


def test_a_name_is_passed_on():
    block = Block(arg_types=[TensorType(f32, [4])])
    first, second = ExpOp(block.args[0]), ExpOp(block.args[0])
    second.result.name_hint = "name"
    block.add_ops([first, second, ReturnOp()])
    func = FuncOp("main", (block.arg_types, ()), Region(block))
    eliminate_common_subexpressions(func)
    assert first.result.name_hint == "name"


def test_a_thousand_regions_deep():
    condition, one = TestOp(result_types=[i1]), ArithConstantOp.from_int_and_width(1, 32)
    inner: Operation = AddiOp(one, one)
    for _ in range(1000):
        inner = IfOp(condition.results[0], [], [AddiOp(one, one), inner, YieldOp()])
    func = function([condition, one, inner])
    assert merged(func) == 1000


def test_an_operation_with_many_operands():
    one = ArithConstantOp.from_int_and_width(1, 32)
    adds = [AddiOp(one, one) for _ in range(20_000)]
    user = TestOp(operands=[add.result for add in adds])
    assert merged(function([one, *adds, user])) == 19_999
    assert set(user.operands) == {adds[0].result}


def test_uses_before_the_definition_follow_too():
    """In graph regions, and between blocks that do not stand in the order of their dominance."""
    one = ArithConstantOp.from_int_and_width(1, 32)
    first, second = AddiOp(one, one), AddiOp(one, one)
    user = TestOp(operands=[second.result])
    graph = TestOp(regions=[Region(Block([user, one, first, second]))])
    eliminate_common_subexpressions(function([graph]))
    assert list(user.operands) == [first.result]


def test_the_pass_has_the_options_of_relay_and_relax():
    one, two = (ArithConstantOp.from_int_and_width(1, 32) for _ in range(2))
    ops = [one, two, AddiOp(one, one), AddiOp(one, one)]
    module = ModuleOp([function(ops)])

    def count(pass_: EliminateCommonSubexpr) -> int:
        return len(list(pass_(module).walk())) - 3

    assert count(EliminateCommonSubexpr()) == 2
    assert count(EliminateCommonSubexpr(call_only=True)) == 3
    assert count(EliminateCommonSubexpr(skip=("arith.addi",))) == 3
