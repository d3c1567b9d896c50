"""Random functions of tensors of known shapes, with arguments and what they give for these."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from random import Random
from typing import Any

import numpy as np
from support.evaluation import Array
from xdsl.dialects.builtin import (
    FunctionType,
    IntegerType,
    ModuleOp,
    TensorType,
    f16,
    f32,
    i1,
    i8,
    i32,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.test import TestOp
from xdsl.interpreter import Interpreter
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from passline.dialects.relax import (
    activation,
    binary,
    convolution,
    creation,
    elementwise,
    image,
    linear_algebra,
    nn,
    normalization,
    pooling,
    reduction,
    scan,
    sorting,
    unary,
)
from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.broadcast import BroadcastToOp, RepeatOp, TileOp
from passline.dialects.relax.comparison import (
    EqualOp,
    GreaterEqualOp,
    GreaterOp,
    LessEqualOp,
    LessOp,
    NotEqualOp,
)
from passline.dialects.relax.concatenation import ConcatenateOp, StackOp
from passline.dialects.relax.constant import ConstantOp, FullOp
from passline.dialects.relax.gather import TakeOp
from passline.dialects.relax.logical import (
    BitwiseAndOp,
    BitwiseNotOp,
    BitwiseOrOp,
    BitwiseXorOp,
    LogicalAndOp,
    LogicalNotOp,
    LogicalOrOp,
    LogicalXorOp,
)
from passline.dialects.relax.permutation import (
    FlipOp,
    LayoutTransformOp,
    ReverseSequenceOp,
    TransposeOp,
)
from passline.dialects.relax.reshape import ExpandDimsOp, FlattenOp, ReshapeOp, SqueezeOp
from passline.dialects.relax.split import SplitOp
from passline.dialects.relax.strided_slice import StridedSliceOp
from passline.dialects.relax.transcendental import (
    AsinhOp,
    AtanOp,
    CosOp,
    ErfOp,
    Expm1Op,
    ExpOp,
    Log1pOp,
    LogOp,
    SigmoidOp,
    SinhOp,
    SinOp,
    TanhOp,
    TanOp,
)
from passline.dialects.relax.types import Element, shape_of, tensor_type
from passline.interpreters.arrays import dense_of, dtype_of, element_of, number_of
from passline.interpreters.relax import RelaxFunctions

__all__ = ["Network", "random_network"]

SIZES = (1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17, 31, 33)
MOST = 3000
"""Elements of a tensor."""
LARGEST = 1000.0
"""Numbers of floats; up to that, integers are exact in f16, and their products in f32."""
NOISE: dict[Element, float] = {f16: 1e-3, f32: 2.5e-7}
"""Relative errors of an operation."""

SMOOTH = (
    *(unary.AbsOp, unary.NegativeOp, unary.SquareOp, ExpOp, LogOp, unary.SqrtOp),
    *(unary.RsqrtOp, SinOp, CosOp, AtanOp, TanhOp, ErfOp),
    *(SigmoidOp, Expm1Op, Log1pOp, AsinhOp, SinhOp, TanOp),
    *(activation.ReluOp, activation.LeakyReluOp, activation.GeluOp, activation.GeluTanhOp),
    *(activation.SiluOp, activation.SoftplusOp, nn.DropoutOp),
)
STEPS = (
    *(unary.SignOp, unary.CeilOp, unary.FloorOp, unary.RoundOp, unary.TruncOp),
    *(unary.IsNanOp, unary.IsInfOp, unary.IsFiniteOp),
)
ARITHMETIC = (
    *(binary.AddOp, binary.SubtractOp, binary.MultiplyOp, binary.DivideOp),
    *(binary.MaximumOp, binary.MinimumOp, binary.AddOp, binary.MultiplyOp),
)
ROUNDED = (binary.FloorDivideOp, binary.FloorModOp, binary.ModOp)
COMPARISONS = (
    *(EqualOp, NotEqualOp, LessOp, LessEqualOp),
    *(GreaterOp, GreaterEqualOp),
)
LOGICAL = (LogicalAndOp, LogicalOrOp, LogicalXorOp)
BITWISE = (BitwiseAndOp, BitwiseOrOp, BitwiseXorOp)
SUMS = (reduction.SumOp, reduction.MeanOp, reduction.MaxOp, reduction.MinOp, reduction.ProdOp)
ARGS = (reduction.ArgmaxOp, reduction.ArgminOp)
CONVOLUTIONS = (convolution.Conv1dOp, convolution.Conv2dOp, convolution.Conv3dOp)
TRANSPOSED = (
    convolution.Conv1dTransposeOp,
    convolution.Conv2dTransposeOp,
    convolution.Conv3dTransposeOp,
)
POOLS = (
    (pooling.MaxPool1dOp, pooling.AvgPool1dOp, pooling.AdaptiveAvgPool1dOp),
    (pooling.MaxPool2dOp, pooling.AvgPool2dOp, pooling.AdaptiveAvgPool2dOp),
    (pooling.MaxPool3dOp, pooling.AvgPool3dOp, pooling.AdaptiveMaxPool3dOp),
)
INEXACT = (
    *SMOOTH[3:-7],
    *SMOOTH[-6:],
    *(binary.DivideOp, binary.PowerOp, reduction.MeanOp, nn.SoftmaxOp, nn.LogSoftmaxOp),
    *(normalization.BatchNormOp, normalization.LayerNormOp, normalization.InstanceNormOp),
    *(normalization.GroupNormOp, normalization.RMSNormOp, normalization.L2NormalizeOp),
    *(normalization.LRNOp, pooling.AvgPool1dOp, pooling.AvgPool2dOp, pooling.AvgPool3dOp),
    *(pooling.AdaptiveAvgPool1dOp, pooling.AdaptiveAvgPool2dOp, pooling.GlobalAvgPool2dOp),
)
"""What may round even if it is computed of integers."""


class Unfit(Exception):
    """There is no such operation on what there is."""


@dataclass(frozen=True)
class Known:
    """A value, what it is, and what it would be with other errors of rounding."""

    value: SSAValue
    array: Array
    near: Array

    @property
    def exact(self) -> bool:
        """Whether it is the same however it is computed."""
        return self.near is self.array

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def element(self) -> Element:
        return element_of(tensor_type(self.value))


@dataclass(frozen=True)
class Network:
    """A module with a function `@main`."""

    module: ModuleOp
    arguments: tuple[Array, ...]
    results: tuple[Array, ...]
    tolerances: tuple[float, ...]
    """The greatest absolute difference of each result that errors of rounding explain."""


def random_network(seed: int, parts: int = 12, steps: int = 6) -> Network:
    """A function that consists of parts, of so many operations each, that share few values."""
    writer = Writer(seed)
    for _ in range(parts):
        writer.part(steps)
    return writer.network()


class Writer:
    """Adds operations to a function, and computes them."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.rng = np.random.default_rng(seed)
        self.func = FuncOp("main", ([], []))
        self.arguments: list[Array] = []
        self.values: list[Known] = []
        """What operations of this part are of."""
        self.everything: list[Known] = []
        self.results: list[Known] = []
        self.interpreter = Interpreter(ModuleOp([]))
        self.interpreter.register_implementations(RelaxFunctions())
        self.given: dict[SSAValue, Known] = {}
        """What the stand-ins stand for."""
        self.special = False
        """Whether there are infinities, NaN and signed zeros in this part."""

    def network(self) -> Network:
        outputs = [known.value for known in self.results]
        self.func.body.block.add_op(ReturnOp(*outputs))
        types = [v.type for v in self.func.args], [v.type for v in outputs]
        self.func.properties["function_type"] = FunctionType.from_lists(*types)
        tolerances: list[float] = []
        for known in self.results:
            tolerance = 0.0
            if not known.exact and known.array.size:
                numbers = finite(known.array.astype(float))
                difference = np.abs(numbers - finite(known.near.astype(float))).max()
                rounding = NOISE[known.element] * (1 + np.abs(numbers).max())
                tolerance = float(16 * (difference + rounding))
            tolerances.append(tolerance)
        arrays = tuple(known.array for known in self.results)
        return Network(ModuleOp([self.func]), (*self.arguments,), arrays, (*tolerances,))

    def part(self, steps: int) -> None:
        element = self.random.choice([f32, f32, f32, f32, f32, f16, i32, i8])
        shape = self.shape(self.random.choice([1, 2, 2, 3, 3, 4, 4, 4, 5]))
        self.special = self.random.random() < 0.15
        self.values = [self.parameter(shape, element)]
        if self.everything and self.random.random() < 0.3:
            self.values.append(self.random.choice(self.everything))
        done = failed = 0
        while done < steps and failed < 200:
            self.given = {}
            try:
                rule = self.random.choice(RULES)
                if self.special and rule in LINEAR:
                    raise Unfit  # an optimized one may multiply an infinity by 0, or not
                self.add(rule(self))
                done += 1
            except (Unfit, VerifyException):
                failed += 1
        chosen = [known for known in self.values if self.random.random() < 0.15]
        self.results += [self.values[-1], *chosen]
        self.everything += self.values

    # What operations are of

    def shape(self, rank: int) -> tuple[int, ...]:
        while True:
            sizes = SIZES if self.random.random() < 0.97 else (0, *SIZES)
            shape = tuple(self.random.choice(sizes) for _ in range(rank))
            if prod(shape) <= MOST:
                return shape

    def numbers(self, shape: Sequence[int], element: Element) -> Array:
        if element == i1:
            return self.rng.integers(0, 2, shape).astype(bool)
        integers = self.rng.integers(-3, 4, shape)
        if isinstance(element, IntegerType):
            return integers.astype(dtype_of(element))
        if self.special:
            special = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -2.0, 3.0]
            return self.rng.choice(special, shape).astype(dtype_of(element))
        if self.random.random() < 0.4:
            return integers.astype(dtype_of(element))
        return self.rng.uniform(-2, 2, shape).astype(dtype_of(element))

    def parameter(self, shape: Sequence[int], element: Element) -> Known:
        array = self.numbers(shape, element)
        block = self.func.body.block
        value = block.insert_arg(TensorType(element, shape), len(block.args))
        self.arguments.append(array)
        return Known(value, array, array)

    def constant(self, shape: Sequence[int], element: Element) -> Known:
        if self.random.random() < 0.3:
            (number,) = self.numbers((1,), element)
            op = FullOp(number_of(number, element), TensorType(element, shape))
            array = np.full(shape, number)
        else:
            array = self.numbers(shape, element)
            op = ConstantOp(dense_of(array, TensorType(element, shape)))
        self.func.body.block.add_op(op)
        return Known(op.results[0], array, array)

    def stand_in(self, known: Known) -> SSAValue:
        """A value of the type, that an operation may be made of which is then not used."""
        (result,) = TestOp(result_types=[known.value.type]).results
        self.given[result] = known
        return result

    def some(
        self,
        fits: Callable[[Known], bool] = lambda _: True,
        elements: Sequence[Element] | None = None,
        exact: bool = False,
    ) -> tuple[SSAValue, Known]:
        """One of the last values that there are."""
        found = [
            known
            for known in self.values
            if (elements is None or known.element in elements)
            and (known.exact or not exact)
            and fits(known)
        ]
        if not found:
            raise Unfit
        known = self.random.choice(found[-4:])
        return self.stand_in(known), known

    def operand(self, shape: Sequence[int], element: Element) -> SSAValue:
        """A value of that type, or a new parameter or constant."""
        shape = tuple(shape)
        found = [k for k in self.values if k.shape == shape and k.element == element]
        if found and self.random.random() < 0.6:
            return self.stand_in(self.random.choice(found))
        if self.everything and self.random.random() < 0.1:
            found = [k for k in self.everything if k.shape == shape and k.element == element]
            if found:
                return self.stand_in(self.random.choice(found))
        known = self.random.choice([self.parameter, self.constant])(shape, element)
        if self.random.random() < 0.2:
            self.values.append(known)
        return self.stand_in(known)

    def broadcast(self, shape: Sequence[int]) -> tuple[int, ...]:
        """A shape that becomes that one."""
        match self.random.randrange(4):
            case 0:
                return tuple(shape)
            case 1:
                return ()
            case 2:
                shape = shape[self.random.randint(0, len(shape)) :]
            case _:
                pass
        return tuple(1 if self.random.random() < 0.4 else n for n in shape)

    def coin(self) -> bool:
        return self.random.random() < 0.5

    def axis(self, known: Known) -> int:
        if not known.shape:
            raise Unfit
        return self.random.randrange(len(known.shape))

    def axes(self, known: Known) -> list[int]:
        rank = len(known.shape)
        if not rank:
            raise Unfit
        return sorted(self.random.sample(range(rank), self.random.randint(1, rank)))

    def split(self, number: int) -> list[int]:
        """Factors of a number."""
        divisors = [d for d in range(1, number + 1) if number % d == 0]
        first = self.random.choice(divisors) if divisors else 0
        return [first, number // first] if first else [0]

    # Operations

    def compute(self, op: Operation, arrays: Sequence[Array]) -> tuple[Array, ...]:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return tuple(map(np.asarray, self.interpreter.run_op(op, tuple(arrays))))

    def add(self, made: TensorOp) -> None:
        """Add the operation to the function if what it gives can be compared."""
        made.verify_()
        if any(prod(shape_of(tensor_type(v)) or ()) > MOST for v in made.results):
            raise Unfit
        operands = [self.given[operand] for operand in made.operands]
        arrays = self.compute(made, [known.array for known in operands])
        others = self.compute(made, [known.near for known in operands])
        exact = all(known.exact for known in operands) and not isinstance(made, INEXACT)
        pairs = [
            self.checked(element_of(tensor_type(result)), array, near, exact)
            for result, array, near in zip(made.results, arrays, others, strict=True)
        ]
        op = made.clone({value: known.value for value, known in self.given.items()})
        self.func.body.block.add_op(op)
        self.values += [Known(v, *pair) for v, pair in zip(op.results, pairs, strict=True)]

    def checked(
        self, element: Element, array: Array, near: Array, exact: bool
    ) -> tuple[Array, Array]:
        """A result, and one with other errors; Unfit if they are far apart."""
        if array.dtype.kind != "f":
            if not np.array_equal(array, near):
                raise Unfit
            return array, array
        wide, other = array.astype(float), near.astype(float)
        special = ~np.isfinite(wide)
        if special.any() and not self.special:
            raise Unfit
        if not np.array_equal(wide[special], other[special], equal_nan=True):
            raise Unfit
        wide, other = finite(wide), finite(other)
        if np.abs(wide).max(initial=0) > LARGEST:
            raise Unfit
        if exact and (wide == np.rint(wide)).all():
            return array, array
        bound = 1e-3 if element == f32 else 0.05
        if not (np.abs(wide - other) <= bound * (1 + np.abs(wide))).all():
            raise Unfit
        errors = self.rng.choice([-1, 1], array.shape) * NOISE[element]
        return array, np.asarray(near * (1 + errors)).astype(array.dtype)


def finite(array: Array) -> Array:
    """The array with zeros in the place of infinities and NaN."""
    return np.where(np.isfinite(array), array, 0)


# Rules: each gives an operation on stand-ins


def unary_rule(w: Writer) -> TensorOp:
    x, known = w.some()
    if known.element == i1:
        return LogicalNotOp(x)
    if isinstance(known.element, IntegerType):
        kinds = (unary.AbsOp, unary.NegativeOp, unary.SignOp, unary.SquareOp, BitwiseNotOp)
        return w.random.choice((*kinds, activation.ReluOp))(x)
    return w.random.choice((*SMOOTH, *STEPS) if known.exact else SMOOTH)(x)


def binary_rule(w: Writer) -> TensorOp:
    x, known = w.some()
    y = w.operand(w.broadcast(known.shape), known.element)
    kinds: tuple[type[TensorOp], ...] = ARITHMETIC
    if known.element == i1:
        kinds = (*LOGICAL, *BITWISE, *COMPARISONS)
    elif isinstance(known.element, IntegerType):
        kinds = (*ARITHMETIC[:3], *ARITHMETIC[4:], *ROUNDED, *COMPARISONS, *BITWISE)
    elif known.exact and w.given[y].exact:
        kinds = (*ARITHMETIC, *COMPARISONS, *ROUNDED, binary.PowerOp)
    kind = w.random.choice(kinds)
    if issubclass(kind, ROUNDED) and not w.given[y].array.all():
        raise Unfit  # a division by zero
    return kind(y, x) if w.random.random() < 0.3 and not issubclass(kind, ROUNDED) else kind(x, y)


def where_rule(w: Writer) -> TensorOp:
    x, known = w.some()
    condition = w.operand(w.broadcast(known.shape), i1)
    return elementwise.WhereOp(condition, x, w.operand(w.broadcast(known.shape), known.element))


def clip_rule(w: Writer) -> TensorOp:
    x, _ = w.some(elements=(f32, f16, i32, i8))
    low = float(w.random.randint(-3, 0))
    return elementwise.ClipOp(x, min=low, max=low + w.random.randint(0, 4))


def astype_rule(w: Writer) -> TensorOp:
    x, _ = w.some(exact=True)
    return elementwise.AstypeOp(x, dtype=w.random.choice([f32, f32, f32, f16, i32, i8, i1]))


def windows(w: Writer, sizes: Sequence[int]) -> dict[str, Any]:
    """The properties of windows over dimensions of these sizes."""
    rank = len(sizes)
    pick = w.random
    padding = [pick.choice([0, 0, 1, 1, 2]) for _ in range(rank)]
    if pick.random() < 0.4:
        padding += [pick.randint(0, 2) for _ in range(rank)]
    return {
        "strides": [pick.choice([1, 1, 1, 2, 3]) for _ in range(rank)],
        "dilation": [pick.choice([1, 1, 1, 2]) for _ in range(rank)],
        "padding": padding if pick.random() < 0.7 else [0] * rank,
    }


def kernel(w: Writer, sizes: Sequence[int]) -> list[int]:
    if w.random.random() < 0.3:
        return [1] * len(sizes)
    return [w.random.choice([1, 2, 3, 3, 3, 5]) for _ in sizes]


def convolution_rule(w: Writer) -> TensorOp:
    x, known = w.some(lambda k: len(k.shape) in (3, 4, 5), (f32, f32, f16, i32, i8))
    channels, sizes = known.shape[1], known.shape[2:]
    groups = w.random.choice(w.split(channels)) if w.random.random() < 0.4 else 1
    outputs = groups * w.random.choice([1, 1, 2, 3, 4, 8, 16, 17])
    window = windows(w, sizes)
    if not groups:
        raise Unfit
    if w.random.random() < 0.1:
        shape = (channels, outputs // groups, *kernel(w, sizes))
        made = TRANSPOSED[len(sizes) - 1]
        return made(x, w.operand(shape, known.element), groups=groups, **window)
    shape = (outputs, channels // groups, *kernel(w, sizes))
    made = CONVOLUTIONS[len(sizes) - 1]
    return made(x, w.operand(shape, known.element), groups=groups, **window)


def convolution_last_rule(w: Writer) -> TensorOp:
    """One whose channels are the last dimension."""
    x, known = w.some(lambda k: len(k.shape) == 4, (f32, f16))
    *sizes, channels = known.shape[1:]
    outputs = w.random.choice([1, 2, 3, 8, 17])
    weight = w.operand((*kernel(w, sizes), channels, outputs), known.element)
    layouts = {"data_layout": "NHWC", "kernel_layout": "HWIO"}
    return convolution.Conv2dOp(x, weight, **layouts, **windows(w, sizes))


def pool_rule(w: Writer) -> TensorOp:
    x, known = w.some(lambda k: len(k.shape) in (3, 4, 5), (f32, f16))
    sizes = known.shape[2:]
    most, average, adaptive = POOLS[len(sizes) - 1]
    match w.random.randrange(4):
        case 0:
            return adaptive(x, output_size=[w.random.randint(1, 4) for _ in sizes])
        case 1:
            size = kernel(w, sizes)
            return most(x, pool_size=size, ceil_mode=w.coin(), **windows(w, sizes))
        case 2:
            made = w.random.choice([pooling.GlobalMaxPool2dOp, pooling.GlobalAvgPool2dOp])
            return made(x)
        case _:
            flags: dict[str, Any] = {"ceil_mode": w.coin(), "count_include_pad": w.coin()}
            return average(x, pool_size=kernel(w, sizes), **flags, **windows(w, sizes))


def product_rule(w: Writer) -> TensorOp:
    x, known = w.some(lambda k: len(k.shape) > 0, (f32, f32, f16, i32, i8))
    n = w.random.choice(SIZES)
    *batch, depth = known.shape
    match w.random.randrange(4):
        case 0:
            return linear_algebra.DenseOp(x, w.operand((n, depth), known.element))
        case 1 if len(known.shape) == 3:
            a, b = w.coin(), w.coin()
            first, rows, columns = known.shape
            inner = rows if a else columns
            shape = (first, n, inner) if b else (first, inner, n)
            rhs = w.operand(shape, known.element)
            return linear_algebra.BatchMatmulOp(x, rhs, transpose_a=a, transpose_b=b)
        case 2 if len(known.shape) > 1:
            lead = w.broadcast(batch[:-1])
            return linear_algebra.MatmulOp(x, w.operand((*lead, depth, n), known.element))
        case _:
            return linear_algebra.MatmulOp(x, w.operand((depth, n), known.element))


def einsum_rule(w: Writer) -> TensorOp:
    x, known = w.some(lambda k: len(k.shape) in (2, 3), (f32,))
    n = w.random.choice([1, 2, 5])
    if len(known.shape) == 2:
        y = w.operand((known.shape[1], n), known.element)
        return linear_algebra.EinsumOp(x, y, subscripts=w.random.choice(["ij,jk->ki", "ij,jk->i"]))
    y = w.operand((known.shape[0], known.shape[1], n), known.element)
    subscripts = w.random.choice(["bij,bik->bjk", "bij,bik->kj", "bij,bik->bijk"])
    return linear_algebra.EinsumOp(x, y, subscripts=subscripts)


def bias_rule(w: Writer) -> TensorOp:
    x, known = w.some(lambda k: len(k.shape) > 1, (f32, f16, i32))
    axis = w.random.choice([1, w.axis(known)])
    made = w.random.choice([nn.BiasAddOp, nn.BiasAddOp, activation.PReluOp])
    return made(x, w.operand((known.shape[axis],), known.element), axis=axis)


def norm_rule(w: Writer) -> TensorOp:
    x, known = w.some(lambda k: len(k.shape) > 1, (f32, f32, f16))
    axis = w.axis(known)

    def row(axis: int) -> SSAValue:
        return w.operand((known.shape[axis],), known.element)

    match w.random.randrange(9):
        case 0 | 1:
            return nn.SoftmaxOp(x, axis=axis)
        case 2:
            return nn.LogSoftmaxOp(x, axis=axis)
        case 3:
            axis = w.random.choice([1, axis])
            variance = w.constant(known.shape[axis : axis + 1], known.element)
            if variance.array.min(initial=1) < 0.1:
                raise Unfit
            parts = [row(axis), row(axis), row(axis), w.stand_in(variance)]
            return normalization.BatchNormOp(x, *parts, axis=axis)
        case 4:
            return normalization.LayerNormOp(x, row(axis), row(axis), axes=[axis])
        case 5:
            return normalization.RMSNormOp(x, row(axis), axes=[axis])
        case 6:
            return normalization.L2NormalizeOp(x, eps=0.1, axis=w.axes(known))
        case 7:
            return normalization.LRNOp(x, size=w.random.choice([1, 3, 5]), axis=axis, alpha=0.1)
        case _:
            if len(known.shape) < 3:
                raise Unfit
            if w.random.random() < 0.5:
                return normalization.InstanceNormOp(x, row(1), row(1))
            groups = w.random.choice(w.split(known.shape[1]))
            axes = [*range(2, len(known.shape))]
            return normalization.GroupNormOp(x, row(1), row(1), num_groups=groups, axes=axes)


def reduction_rule(w: Writer) -> TensorOp:
    x, known = w.some()
    keep = w.coin()
    axes = None if w.random.random() < 0.2 else w.axes(known)
    if known.element == i1:
        made = w.random.choice([reduction.AnyOp, reduction.AllOp])
        return made(x, axis=axes, keepdims=keep)
    if known.exact and w.random.random() < 0.2:
        made = w.random.choice(ARGS)
        last = w.coin()
        return made(x, axis=w.axis(known), keepdims=keep, select_last_index=last)
    return w.random.choice(SUMS)(x, axis=axes, keepdims=keep)


def scan_rule(w: Writer) -> TensorOp:
    x, known = w.some(elements=(f32, f16, i32, i8))
    made = w.random.choice([scan.CumsumOp, scan.CumprodOp])
    return made(x, axis=w.axis(known), exclusive=w.coin(), reverse=w.coin())


def sort_rule(w: Writer) -> TensorOp:
    x, known = w.some(lambda k: k.array.size < 200, (f32, i32, i8), exact=True)
    axis, flag = w.axis(known), w.coin()
    match w.random.randrange(3):
        case 0:
            return sorting.SortOp(x, axis=axis, descending=flag)
        case 1:
            return sorting.ArgsortOp(x, axis=axis, descending=flag)
        case _:
            k = w.random.randint(1, max(1, known.shape[axis]))
            return sorting.TopkOp(x, k=k, axis=axis, largest=flag)


def concatenate_rule(w: Writer) -> TensorOp:
    x, known = w.some(lambda k: len(k.shape) > 0)
    axis = w.axis(known)
    parts = [x]
    for _ in range(w.random.randint(1, 3)):
        if w.random.random() < 0.2:
            parts.append(x)
            continue
        shape = [*known.shape]
        shape[axis] = w.random.choice([shape[axis], shape[axis], 1, 2, 5])
        parts.append(w.operand(shape, known.element))
    w.random.shuffle(parts)
    return ConcatenateOp(*parts, axis=axis)


def stack_rule(w: Writer) -> TensorOp:
    x, known = w.some(lambda k: len(k.shape) < 5)
    parts = [x, w.operand(known.shape, known.element)]
    return StackOp(*parts, axis=w.random.randint(0, len(known.shape)))


def split_rule(w: Writer) -> TensorOp:
    x, known = w.some(lambda k: len(k.shape) > 0)
    axis = w.axis(known)
    size = known.shape[axis]
    if w.random.random() < 0.5:
        return SplitOp(x, sections=w.random.choice(w.split(size)), axis=axis)
    indices = sorted(w.random.sample(range(size + 1), min(2, size)))
    return SplitOp(x, indices=indices, axis=axis)


def shape_rule(w: Writer) -> TensorOp:
    x, known = w.some()
    shape = [*known.shape]
    match w.random.randrange(6):
        case 0:
            axes = [*range(len(shape))]
            w.random.shuffle(axes)
            return TransposeOp(x, axes=axes)
        case 1:
            new = w.split(known.array.size)
            if w.random.random() < 0.6:
                new[-1:] = w.split(new[-1])
            return ReshapeOp(x, newshape=new, allowzero=1)
        case 2:
            return FlattenOp(x)
        case 3:
            return SqueezeOp(x)
        case 4 if len(shape) < 5:
            return ExpandDimsOp(x, axis=[w.random.randint(0, len(shape))])
        case _ if len(shape) > 1:
            return TransposeOp(x, axes=[*range(2, len(shape)), 1, 0])
        case _:
            raise Unfit


def copy_rule(w: Writer) -> TensorOp:
    x, known = w.some(lambda k: len(k.shape) > 0)
    axis, rank = w.axis(known), len(known.shape)
    match w.random.randrange(6):
        case 0:
            return FlipOp(x, axis=w.axes(known))
        case 1:
            return TileOp(x, reps=[w.random.choice([1, 1, 2, 3]) for _ in range(rank)])
        case 2:
            return RepeatOp(x, repeats=w.random.randint(1, 3), axis=axis)
        case 3:
            lead = [w.random.randint(1, 3) for _ in range(w.random.randint(0, 1))]
            shape = [w.random.choice(SIZES) if n == 1 else n for n in known.shape]
            return BroadcastToOp(x, shape=[*lead, *shape])
        case 4:
            lengths = w.constant(known.shape[:1], i32)
            if lengths.array.min(initial=0) < 0 or rank < 2:
                raise Unfit
            if lengths.array.max(initial=0) > known.shape[1]:
                raise Unfit
            return ReverseSequenceOp(x, w.stand_in(lengths))
        case _:
            return creation.TriluOp(x, w.stand_in(w.constant((), i32)), upper=w.coin())


def pad_rule(w: Writer) -> TensorOp:
    x, known = w.some(lambda k: len(k.shape) > 0)
    widths = [w.random.choice([0, 0, 0, 1, 2, -1]) for _ in range(2 * len(known.shape))]
    mode = w.random.choice(["constant", "constant", *nn.PAD_MODES])
    value = float(w.random.randint(-1, 1)) if known.element != i1 else 0.0
    return nn.PadOp(x, pad_width=widths, pad_mode=mode, pad_value=value)


def slice_rule(w: Writer) -> TensorOp:
    x, known = w.some(lambda k: len(k.shape) > 0)
    axes = w.axes(known)
    begin = [w.random.randint(-known.shape[a], known.shape[a]) for a in axes]
    end = [w.random.randint(-known.shape[a], known.shape[a] + 2) for a in axes]
    strides = [w.random.choice([1, 1, 1, 2, 3, -1, -2]) for _ in axes]
    made = StridedSliceOp(x, begin=begin, end=end, strides=strides, axes=axes)
    if 0 in (shape_of(tensor_type(made.result)) or ()) and w.random.random() < 0.9:
        raise Unfit
    return made


def take_rule(w: Writer) -> TensorOp:
    x, known = w.some(lambda k: len(k.shape) > 0)
    axis = w.axis(known)
    indices = w.operand(w.shape(w.random.randint(0, 2)), i32)
    mode = w.random.choice(["clip", "wrap"])
    return TakeOp(x, indices, axis=axis, mode=mode)


def image_rule(w: Writer) -> TensorOp:
    x, _ = w.some(lambda k: len(k.shape) == 4)
    match w.random.randrange(3):
        case 0:
            mode = w.random.choice(["DCR", "CRD"])
            return image.DepthToSpaceOp(x, block_size=2, mode=mode)
        case 1:
            return image.SpaceToDepthOp(x, block_size=w.random.choice([1, 2, 3]))
        case _:
            return image.UpsamplingOp(x, scale_h=float(w.random.randint(1, 3)), scale_w=2.0)


def layout_rule(w: Writer) -> TensorOp:
    x, known = w.some(lambda k: len(k.shape) == 4)
    block = w.random.choice([b for b in (1, 2, 3, 4, 8) if known.shape[1] % b == 0])
    target = w.random.choice(["NHWC", "CHWN", f"NCHW{block}c", f"NHCW{block}c"])
    return LayoutTransformOp(x, src_layout="NCHW", dst_layout=target)


RULES: tuple[Callable[[Writer], TensorOp], ...] = (
    *(unary_rule, binary_rule, binary_rule, unary_rule, binary_rule, where_rule, clip_rule),
    *(astype_rule, convolution_rule, convolution_rule, convolution_rule, convolution_last_rule),
    *(pool_rule, product_rule, product_rule, einsum_rule, bias_rule, norm_rule, norm_rule),
    *(reduction_rule, reduction_rule, scan_rule, sort_rule, concatenate_rule, concatenate_rule),
    *(stack_rule, split_rule, shape_rule, shape_rule, copy_rule, pad_rule, slice_rule, take_rule),
    *(image_rule, layout_rule),
)

LINEAR = (convolution_rule, convolution_last_rule, pool_rule, product_rule, einsum_rule, norm_rule)
"""Rules of operations that scales move through."""
