"""FoldScaleAxis: operations of other projects, actions, names, random programs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from random import Random

import numpy as np
import pytest
from support.budget import some
from support.passes.results import run
from xdsl.dialects.builtin import (
    BFloat16Type,
    FileLineColLoc,
    Float16Type,
    FloatAttr,
    IntAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    f32,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def

from passline.compiler.interpreters.arrays import Array, array_of, dense_of
from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.constant import ConstantOp, FullOp
from passline.dialects.relax.contraction.convolution import Conv2dOp, Conv2dTransposeOp
from passline.dialects.relax.data.manipulation import TransposeOp
from passline.dialects.relax.elementwise.activation import LeakyReluOp, PReluOp, ReluOp
from passline.dialects.relax.elementwise.binary import AddOp, MaximumOp, MultiplyOp, SubtractOp
from passline.dialects.relax.elementwise.unary import NegativeOp
from passline.dialects.relax.interfaces import Axes, ScaleAxisRule, Scaling
from passline.dialects.relax.reduction.nn import BiasAddOp, PadOp
from passline.dialects.relax.types import TENSOR, Float
from passline.dialects.relax.windows import AvgPool2dOp, MaxPool2dOp
from passline.passes.relax.fold_scale_axis import (
    FoldScaleAxis,
    fold_scales_backward,
    fold_scales_forward,
)
from passline.passmanager import Actions, CollectingActions, Diagnostic, PassContext
from passline.passmanager.ir.verifier import verify

IMAGE = TensorType(f32, [1, 2, 3, 3])


def constant(array: Sequence[object] | Array, element: Float = f32) -> ConstantOp:
    numbers = np.asarray(array, np.float16 if element == Float16Type() else np.float32)
    return ConstantOp(dense_of(numbers, TensorType(element, numbers.shape)))


def scale(*numbers: float) -> ConstantOp:
    return constant([[[number]] for number in numbers])


def function(ops: Sequence[Operation], *results: SSAValue, block: Block | None = None) -> FuncOp:
    block = block or Block()
    block.add_ops([*ops, ReturnOp(*results)])
    types = block.arg_types, [value.type for value in results]
    return FuncOp("main", types, Region(block))


class Limited(CollectingActions):
    """Allows the first `limit` actions."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit
        self.asked = 0

    def allowed(self, op: Operation | None = None, tag: str = "") -> bool:
        self.asked += 1
        return self.asked <= self.limit


def moved(fold: Callable[[Operation, Actions], None], func: Operation) -> int:
    """Run `fold` on `func`, and return the number of scales that it moved."""
    fold(func, recorder := CollectingActions())
    return recorder.counts["moved"]


def names(func: FuncOp) -> list[str]:
    return [op.name.removeprefix("relax.") for op in func.body.block.ops]


@irdl_op_definition
class TripleOp(ScaleAxisRule, TensorOp):
    """An operation of another project: three times a tensor."""

    name = "other.triple"

    data = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        return (self.data.type,)

    def scale_result(self, axes: Axes) -> Scaling | None:
        return Scaling({0: axes})

    def scale_operand(self, index: int, axes: Axes) -> Scaling | None:
        return Scaling(result=axes)


def conv_bn(block: Block) -> list[Operation]:
    w, s = constant(np.ones((2, 2, 1, 1))), scale(2, 4)
    conv = Conv2dOp(block.args[0], w)
    triple = TripleOp(conv)
    return [w, s, conv, triple, MultiplyOp(triple, s)]


def test_operations_of_others_take_part():
    block = Block(arg_types=[IMAGE])
    *ops, product = conv_bn(block)
    func = function([*ops, product], product.results[0], block=block)
    assert moved(fold_scales_backward, func) == 1
    assert names(func) == ["constant", "nn.conv2d", "other.triple", "func.return"]

    block = Block(arg_types=[IMAGE])
    s, w = scale(2, 4), constant(np.ones((2, 2, 1, 1)))
    product = MultiplyOp(block.args[0], s)
    triple = TripleOp(product)
    conv = Conv2dOp(triple, w)
    func = function([s, w, product, triple, conv], conv.result, block=block)
    assert moved(fold_scales_forward, func) == 1
    assert names(func) == ["other.triple", "constant", "nn.conv2d", "func.return"]


def test_each_move_is_an_action():
    block = Block(arg_types=[IMAGE])
    ops = [op for _ in range(2) for op in conv_bn(block)]
    func = function(ops, ops[4].results[0], ops[9].results[0], block=block)
    fold_scales_backward(func, limited := Limited(1))
    assert (limited.asked, limited.counts["moved"]) == (2, 1)
    assert names(func).count("multiply") == 1


def test_a_weight_has_the_name_and_location_of_what_it_replaces():
    block = Block(arg_types=[IMAGE])
    w, s, conv, *rest = conv_bn(block)
    w.results[0].name_hint = "weight"
    w.location = FileLineColLoc(StringAttr("model.mlir"), IntAttr(3), IntAttr(4))
    func = function([w, s, conv, *rest], rest[-1].results[0], block=block)
    fold_scales_backward(func)
    new = conv.operands[1]
    assert isinstance(new.owner, ConstantOp)
    assert new.name_hint == "weight" and new.owner.location == w.location
    assert w.parent is None and s.parent is None


def test_a_weight_that_is_shared_is_not_changed():
    block = Block(arg_types=[IMAGE])
    w, s, conv, *rest = conv_bn(block)
    other = Conv2dOp(block.args[0], w.results[0])
    ops = [w, s, conv, *rest, other]
    func = function(ops, rest[-1].results[0], other.result, block=block)
    fold_scales_backward(func)
    assert other.weight.owner is w
    assert isinstance(new := conv.operands[1].owner, ConstantOp)
    assert array_of(new.value).reshape(-1).tolist() == [2, 2, 4, 4]


@pytest.mark.parametrize("element", [Float16Type(), BFloat16Type()])
def test_narrow_floats(element: Float):
    block = Block(arg_types=[TensorType(element, [1, 2, 3, 3])])
    w = constant(np.full((2, 2, 1, 1), 1.5), element)
    s = constant([[[2.0]], [[0.5]]], element)
    conv = Conv2dOp(block.args[0], w)
    product = MultiplyOp(conv, s)
    func = function([w, s, conv, product], product.result, block=block)
    assert moved(fold_scales_backward, func) == 1
    assert isinstance(new := conv.weight.owner, ConstantOp)
    assert array_of(new.value).reshape(-1).tolist() == [3, 3, 0.75, 0.75]


def test_sums_in_another_type_take_no_scale():
    """The weights are less precise than the scale."""
    block = Block(arg_types=[TensorType(Float16Type(), [1, 2, 3, 3])])
    w, s = constant(np.ones((2, 2, 1, 1)), Float16Type()), scale(2, 4)
    conv = Conv2dOp(block.args[0], w, out_dtype=f32)
    product = MultiplyOp(conv, s)
    func = function([w, s, conv, product], product.result, block=block)
    assert moved(fold_scales_backward, func) == 0


def test_a_level_below_that_of_both_directions_is_a_warning():
    said: list[Diagnostic] = []
    for level in (0, 1, 2, 3):
        said.clear()
        with PassContext(opt_level=level, renderer=said.extend):
            FoldScaleAxis()(ModuleOp([]))
        assert len(said) == (level < 3)
    with PassContext(opt_level=2, disabled_pass=["ForwardFoldScaleAxis"], renderer=said.extend):
        FoldScaleAxis()(ModuleOp([]))
    assert not said


def test_numpy_is_imported_when_it_runs():
    code = (
        "import sys, passline.passes.relax.fold_scale_axis as f; f.FoldScaleAxis();"
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


class Programs:
    """Random programs of operations that scales go through."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.block = Block(arg_types=[IMAGE, IMAGE, TensorType(f32, [2, 1, 1])])
        self.values: list[SSAValue] = [*self.block.args[:2]]
        self.ops: list[Operation] = []

    def add(self, op: Operation) -> SSAValue:
        self.ops.append(op)
        return op.results[0]

    def numbers(self, *shape: int, signed: bool = True) -> SSAValue:
        choices = [0.5, 1.0, 2.0, 4.0] + [-1.0, -2.0, 0.0] * signed
        size = int(np.prod(shape))
        if self.random.random() < 0.2:
            return self.add(
                FullOp(FloatAttr(self.random.choice(choices), f32), TensorType(f32, shape))
            )
        return self.add(constant(np.reshape(self.random.choices(choices, k=size), shape)))

    def value(self) -> SSAValue:
        """Choose a value, most often the last one, to make chains."""
        return self.values[-1] if self.random.random() < 0.8 else self.random.choice(self.values)

    def factor(self) -> SSAValue:
        shape = self.random.choice([(2, 1, 1), (1, 2, 1, 1), (), (3,), (2, 1, 1)])
        if self.random.random() < 0.1:
            return self.block.args[2]
        return self.numbers(*shape, signed=self.random.random() < 0.3)

    def step(self) -> Operation:
        x, kind = self.value(), self.random.randrange(16)
        match kind:
            case 0 | 1 | 2 | 3:
                pair = [x, self.factor()]
                self.random.shuffle(pair)
                return MultiplyOp(*pair)
            case 4 | 5:
                return self.random.choice([AddOp, SubtractOp, MaximumOp])(x, self.factor())
            case 6:
                return AddOp(x, self.value())
            case 7:
                return BiasAddOp(x, self.numbers(2))
            case 8:
                return self.random.choice([ReluOp, NegativeOp, LeakyReluOp])(x)
            case 9:
                return PReluOp(x, self.numbers(2))
            case 10:
                groups = self.random.choice([1, 2])
                layout = self.random.choice([(0, 1, 2, 3), (2, 3, 1, 0), (2, 3, 0, 1)])
                shape = (2, 2 // groups, 1, 1)
                weight = self.numbers(*(shape[i] for i in layout))
                text = "".join("OIHW"[i] for i in layout)
                return Conv2dOp(x, weight, groups=groups, kernel_layout=text)
            case 11:
                groups = self.random.choice([1, 2])
                return Conv2dTransposeOp(x, self.numbers(2, 2 // groups, 1, 1), groups=groups)
            case 12:
                return Conv2dOp(x, self.numbers(2, 2, 3, 3), padding=(1, 1))
            case 13:
                pool = self.random.choice([MaxPool2dOp, AvgPool2dOp])
                return pool(x, pool_size=(3, 3), padding=(1, 1))
            case 14:
                there = self.add(TransposeOp(x, axes=(0, 2, 3, 1)))
                return TransposeOp(self.add(ReluOp(there)), axes=(0, 3, 1, 2))
            case _:
                wide = self.add(PadOp(x, pad_width=(0, 0, 0, 0, 1, 1, 1, 1)))
                return AvgPool2dOp(wide, pool_size=(3, 3))

    def module(self, steps: int) -> ModuleOp:
        for _ in range(steps):
            self.values.append(self.add(self.step()))
        results = [self.values[-1]]
        if self.random.random() < 0.3:
            results.append(self.random.choice(self.values))
        return ModuleOp([function(self.ops, *results, block=self.block)])


@pytest.mark.parametrize("start", some(range(0, 300, 50), 2))
def test_random_programs(start: int):
    """The results are the same, and a second run changes nothing."""
    total = 0
    rng = np.random.default_rng(start)
    for seed in range(start, start + 50):
        module = Programs(seed).module(8)
        arguments = tuple(rng.uniform(-2, 2, s).astype("f4") for s in [(1, 2, 3, 3)] * 2)
        arguments += (rng.uniform(-2, 2, (2, 1, 1)).astype("f4"),)
        expected = run(module, "main", arguments)
        func = module.body.block.first_op
        assert func is not None
        for fold in (fold_scales_backward, fold_scales_forward):
            total += moved(fold, func)
            verify(module)
            actual = run(module, "main", arguments)
            for a, b in zip(actual, expected, strict=True):
                np.testing.assert_allclose(
                    np.asarray(a),
                    np.asarray(b),
                    rtol=1e-4,
                    atol=1e-4,
                    err_msg=f"seed {seed}\n{module}",
                )
            assert moved(fold, func) == 0, f"seed {seed}"
    assert total > 20
