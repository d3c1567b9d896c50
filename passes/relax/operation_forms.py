"""The forms in which exporters write out activation functions, softmax and normalizations: a table
of dataflow patterns, each with the operation that it becomes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from math import isclose, pi, sqrt
from typing import TypeVar

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ...compiler.analysis.dataflow_pattern import Either, Match, OpPattern, Pattern, parse_pattern
from ...compiler.interpreters.arrays import dtype_of, element_of, float_limits
from ...dialects.relax.constant import FullOp
from ...dialects.relax.data.manipulation import ReshapeOp
from ...dialects.relax.elementwise.activation import GeluOp, GeluTanhOp, SiluOp
from ...dialects.relax.elementwise.binary import AddOp, DivideOp, MultiplyOp
from ...dialects.relax.elementwise.unary import FloatUnaryOp
from ...dialects.relax.reduction.nn import SoftmaxOp
from ...dialects.relax.reduction.normalization import LayerNormOp, RMSNormOp
from ...dialects.relax.reduction.reduction import MeanOp, ReductionOp
from ...dialects.relax.shapes import normalize_axes
from ...dialects.relax.types import Float, is_ranked, shape_of, tensor_type
from ...passmanager.fast.pattern_driver import actions_of
from ..arrays import Known, constant_of, known

OpT = TypeVar("OpT", bound=Operation)


def scalar(value: SSAValue) -> float | None:
    """Return the number that all elements of a constant are; None of other values."""
    elements = known(value)
    return float(elements.array.flat[0]) if elements and elements.array.size == 1 else None


def used_outside(op: Operation, ops: set[Operation]) -> bool:
    """Return whether another operation than `ops` uses a result of `op`."""
    return any(use.operation not in ops for result in op.results for use in result.uses)


@dataclass(frozen=True)
class Found:
    """A match of a form, and the builder of what replaces it."""

    op: Operation
    """The last operation of the match."""
    match: Match
    rewriter: PatternRewriter

    def value(self, name: str) -> SSAValue:
        return self.match.values[name]

    def number(self, name: str) -> float | None:
        return scalar(self.value(name))

    def all(self, cls: type[OpT]) -> list[OpT]:
        return [op for op in self.match.ops if isinstance(op, cls)]

    def fill(self, value: float, shape: tuple[int, ...]) -> SSAValue:
        """Insert a fill with the element type of the result."""
        element = element_of(tensor_type(self.op.results[0]))
        fill = Known(np.asarray(value, dtype_of(element)), shape)
        return self.rewriter.insert(constant_of(fill, element)).results[0]


Build = Callable[[Found], Operation | None]
"""Returns the operation that replaces a match, or None, before it inserts any, if there is none."""


@dataclass(frozen=True)
class OperationForm:
    """A way to write out an operation."""

    name: str
    pattern: str
    """Wildcards with the names of `NUMBERS`, or these and a dot, match these constants alone."""
    build: Build

    def fits(self, match: Match, tolerance: float) -> bool:
        """Return whether the constants of a match are those of the form."""
        for name, value in match.values.items():
            if (expected := NUMBERS.get(name.partition(".")[0])) is None:
                continue
            number = scalar(value)
            # sqrt(2) in f16 is 1.414: a constant is that of the form up to the precision of its
            # type.
            if number is None or not isclose(number, expected, rel_tol=tolerance):
                return False
        return True


class RecognizeForm(RewritePattern):
    """Replace an operation that was written out, by the table `FORMS`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: AddOp | MultiplyOp | DivideOp, rewriter: PatternRewriter, /
    ) -> None:
        (result,) = op.results
        type = tensor_type(result)
        if not is_ranked(type) or not isinstance(element := type.element_type, Float):
            return
        tolerance = max(1e-6, float_limits(element).epsilon)
        for pattern, form in candidates(op):
            for match in pattern.matches(result, Match()):
                if not form.fits(match, tolerance) or match.values["x"].type != type:
                    continue
                inner = {*match.ops}
                if any(used_outside(other, inner) for other in match.ops if other is not op):
                    message = f"{form.name}, but a part of it has other uses"
                    actions_of(rewriter).missed(op, "UsedOutside", message)
                    break
                new = form.build(Found(op, match, rewriter))
                if new is not None:
                    rewriter.replace(op, new)
                    return


def candidates(op: Operation) -> Iterable[tuple[OpPattern, OperationForm]]:
    """Return the patterns that may end with `op`, judged by the operations before it: few sums and
    products have any."""
    table = _patterns()
    # A hash of two names in place of 20 patterns: most operations match none, and cost this
    # look-up.
    names = {value.owner.name for value in op.operands if isinstance(value.owner, Operation)}
    found: dict[int, tuple[OpPattern, OperationForm]] = {}
    for name in names:
        found |= table.get((op.name, name), {})
    return [found[number] for number in sorted(found)]


@cache
def _patterns() -> Mapping[tuple[str, str], Mapping[int, tuple[OpPattern, OperationForm]]]:
    """Parse the patterns; return them by the name of the operation that they end with, and that of
    one before it, with their numbers in the table."""
    table: dict[tuple[str, str], dict[int, tuple[OpPattern, OperationForm]]] = {}
    patterns = [(p, form) for form in FORMS for p in alternatives(parse_pattern(form.pattern))]
    for number, (pattern, form) in enumerate(patterns):
        before = [operand.last_ops() for operand in pattern.operands or ()]
        # By the operand with the fewest possible names; one of them must be there in any match.
        for name in min(filter(None, before), key=len):
            table.setdefault((pattern.name, name), {})[number] = pattern, form
    return table


def alternatives(pattern: Pattern) -> Iterator[OpPattern]:
    """Yield the patterns of operations that `pattern` is a choice of."""
    if isinstance(pattern, Either):
        yield from alternatives(pattern.first)
        yield from alternatives(pattern.second)
    elif isinstance(pattern, OpPattern):
        yield pattern


# What forms become


def unary(cls: type[FloatUnaryOp]) -> Build:
    """Build an operation on the value `%x` alone."""
    return lambda found: cls(found.value("x"))


def axes_of(found: Found, cls: type[ReductionOp]) -> tuple[int, ...] | None:
    """Return the axes of all reductions of a class, if they are the same and keep them as
    dimensions of size 1."""
    rank = len(shape_of(tensor_type(found.value("x"))) or ())
    # Mean and variance have to be over the same axes.
    axes = {
        tuple(sorted(range(rank) if op.axis is None else normalize_axes(op.axis, rank)))
        for op in found.all(cls)
        if op.keepdims
    }
    kept = all(op.keepdims for op in found.all(cls))
    return axes.pop() if kept and len(axes) == 1 else None


def softmax(found: Found) -> Operation | None:
    axes, x = axes_of(found, ReductionOp), found.value("x")
    if axes is None or len(axes) != 1:
        return None
    return SoftmaxOp(x, axis=axes[0] - len(shape_of(tensor_type(x)) or ()))


def runs_along(found: Found, name: str, axes: tuple[int, ...]) -> bool:
    """Return whether the operand `name` has the dimensions `axes` of the data, whose sizes are
    known, and broadcasts along all others."""
    value = found.value(name)
    shape, given = shape_of(tensor_type(found.value("x"))), shape_of(tensor_type(value))
    if shape is None or given is None or len(given) > len(shape):
        return False
    whole = (*(1,) * (len(shape) - len(given)), *given)
    # (8, 1, 1) runs along axis 1 of (n, 8, h, w); a parameter that also runs along others is none.
    expected = tuple(size if axis in axes else 1 for axis, size in enumerate(shape))
    return whole == expected and DYNAMIC_INDEX not in expected


def parameter(found: Found, name: str, axes: tuple[int, ...]) -> SSAValue:
    """Return the operand `name`, which runs along `axes`, as a tensor of these dimensions."""
    value, shape = found.value(name), shape_of(tensor_type(found.value("x")))
    assert shape is not None
    sizes = tuple(shape[axis] for axis in axes)
    if shape_of(tensor_type(value)) == sizes:
        return value
    if (elements := known(value)) is not None:
        array = elements.array.reshape(sizes) if elements.array.ndim else elements.array
        constant = constant_of(Known(array, sizes), element_of(tensor_type(value)))
        return found.rewriter.insert(constant).results[0]
    return found.rewriter.insert(ReshapeOp(value, newshape=sizes, allowzero=True)).result


def normalization(found: Found) -> tuple[tuple[int, ...], tuple[int, ...], float] | None:
    """Return the axes of a normalization, their sizes and epsilon, if all are known."""
    axes, epsilon = axes_of(found, MeanOp), found.number("epsilon")
    if axes is None or not axes or epsilon is None or epsilon < 0:
        return None
    shape = shape_of(tensor_type(found.value("x")))
    assert shape is not None
    sizes = tuple(shape[axis] for axis in axes)
    return None if DYNAMIC_INDEX in sizes else (axes, sizes, epsilon)


def layer_norm(found: Found) -> Operation | None:
    """Build a normalization without parameters, which `with_gamma` and `with_beta` add."""
    if (parts := normalization(found)) is None:
        return None
    axes, sizes, epsilon = parts
    # In steps: the pattern without parameters matches first, and the driver then visits its users,
    # which are a product with gamma and a sum with beta.
    one, zero = found.fill(1.0, sizes), found.fill(0.0, sizes)
    return LayerNormOp(
        found.value("x"), one, zero, axes=axes, epsilon=epsilon, center=False, scale=False
    )


def folded_layer_norm(found: Found) -> Operation | None:
    """Build a normalization from a product and a sum, if gamma is known to be finite: with infinity
    both may be NaN, and the normalization is not."""
    gamma = known(found.value("gamma"))
    if gamma is None or not np.isfinite(gamma.array).all():
        return None
    if (parts := normalization(found)) is None:
        return None
    axes, _, epsilon = parts
    if not all(runs_along(found, name, axes) for name in ("gamma", "beta")):
        return None
    scale, shift = (parameter(found, name, axes) for name in ("gamma", "beta"))
    return LayerNormOp(found.value("x"), scale, shift, axes=axes, epsilon=epsilon)


def with_parameter(name: str) -> Build:
    """Build a normalization with the operand `name` as its gamma or beta, in the place of a neutral
    one."""

    def build(found: Found) -> Operation | None:
        (norm,) = found.all(LayerNormOp)
        if not runs_along(found, name, axes_in(norm)):
            return None
        parameters = {"gamma": norm.gamma, "beta": norm.beta}
        parameters[name] = parameter(found, name, axes_in(norm))
        return LayerNormOp(
            norm.data,
            *parameters.values(),
            axes=norm.axes,
            epsilon=norm.epsilon,
            center=norm.center or name == "beta",
            scale=norm.scale or name == "gamma",
        )

    return build


def axes_in(norm: LayerNormOp | RMSNormOp) -> tuple[int, ...]:
    """Return the axes of a normalization as non-negative numbers."""
    return (*normalize_axes(norm.axes, len(shape_of(tensor_type(norm.data)) or ())),)


def rms_norm(found: Found) -> Operation | None:
    """Build a normalization whose weight is 1, which `with_weight` replaces."""
    if (parts := normalization(found)) is None:
        return None
    axes, sizes, epsilon = parts
    return RMSNormOp(found.value("x"), found.fill(1.0, sizes), axes=axes, epsilon=epsilon)


def with_weight(found: Found) -> Operation | None:
    (norm,) = found.all(RMSNormOp)
    if not isinstance(norm.weight.owner, FullOp) or scalar(norm.weight) != 1:
        return None
    if not runs_along(found, "weight", axes_in(norm)):
        return None
    weight = parameter(found, "weight", axes_in(norm))
    return RMSNormOp(norm.data, weight, axes=norm.axes, epsilon=norm.epsilon)


# The patterns. Operands of sums and products match in any order.


def square(x: str) -> str:
    return f"(relax.power({x}, %two) | relax.multiply({x}, {x}) | relax.square({x}))"


def inverse_root(x: str) -> str:
    return (
        f"(relax.rsqrt({x}) | relax.divide(%one, relax.sqrt({x})) | relax.power({x}, %minus_half))"
    )


def over_root(x: str, of: str) -> str:
    """Return the pattern of `x` divided by the root of `of`."""
    root = f"(relax.sqrt({of}) | relax.power({of}, %half))"
    return f"relax.divide({x}, {root}) | relax.multiply({x}, {inverse_root(of)})"


def half_times(x: str, y: str) -> str:
    """Return the pattern of `x / 2 * y`, in any order."""
    half_x = f"(relax.multiply({x}, %half) | relax.divide({x}, %two))"
    half_y = f"(relax.multiply({y}, %half) | relax.divide({y}, %two))"
    product = f"relax.multiply({x}, {y})"
    return (
        f"relax.multiply({half_x}, {y}) | relax.multiply({x}, {half_y}) "
        f"| relax.multiply({product}, %half) | relax.divide({product}, %two)"
    )


_CENTERED = "relax.subtract(%x, relax.mean(%x))"
_VARIANCE = f"relax.add(relax.mean({square(_CENTERED)}), %epsilon)"
_FACTOR = f"relax.multiply({inverse_root(_VARIANCE)}, %gamma)"
_ERF = "relax.erf((relax.divide(%x, %root2) | relax.multiply(%x, %inverse_root2)))"
_CUBE = (
    "(relax.power(%x, %three) | relax.multiply(relax.multiply(%x, %x), %x) "
    "| relax.multiply(relax.square(%x), %x) | relax.multiply(relax.power(%x, %two), %x))"
)
_SUM = (
    f"(relax.add(%x, relax.multiply({_CUBE}, %cubic)) "
    f"| relax.multiply(%x, relax.add(relax.multiply({square('%x')}, %cubic), %one.inner)))"
)
_TANH = (
    f"relax.tanh((relax.multiply({_SUM}, %factor) | relax.multiply(relax.multiply(%x, %factor), "
    f"relax.add(relax.multiply({square('%x')}, %cubic), %one.inner))))"
)
# Without the maximum, a row with infinity has zeros where softmax has NaN.
_POWERS = "relax.exp(relax.subtract(%x, relax.max(%x)))"

NUMBERS = {
    "minus_half": -0.5,
    "cubic": 0.044715,
    "factor": sqrt(2 / pi),
    "half": 0.5,
    "inverse_root2": sqrt(0.5),
    "one": 1.0,
    "root2": sqrt(2),
    "three": 3.0,
    "two": 2.0,
}

FORMS = (
    OperationForm("gelu", half_times("%x", f"relax.add({_ERF}, %one)"), unary(GeluOp)),
    OperationForm("gelu_tanh", half_times("%x", f"relax.add({_TANH}, %one)"), unary(GeluTanhOp)),
    OperationForm(
        "silu",
        "relax.multiply(%x, relax.sigmoid(%x)) "
        "| relax.divide(%x, relax.add(relax.exp(relax.negative(%x)), %one))",
        unary(SiluOp),
    ),
    OperationForm(
        "softmax",
        f"relax.divide({_POWERS}, relax.sum({_POWERS})) "
        f"| relax.multiply({_POWERS}, relax.divide(%one, relax.sum({_POWERS})))",
        softmax,
    ),
    OperationForm("layer_norm", over_root(_CENTERED, _VARIANCE), layer_norm),
    OperationForm(
        "layer_norm",
        f"relax.add(relax.multiply(%x, {_FACTOR}), "
        f"relax.subtract(%beta, relax.multiply(relax.mean(%x), {_FACTOR})))",
        folded_layer_norm,
    ),
    OperationForm(
        "layer_norm with gamma",
        "relax.multiply(relax.nn.layer_norm{center=false, scale=false}(%x, *, *), %gamma)",
        with_parameter("gamma"),
    ),
    OperationForm(
        "layer_norm with beta",
        "relax.add(relax.nn.layer_norm{center=false}(%x, *, *), %beta)",
        with_parameter("beta"),
    ),
    OperationForm(
        "rms_norm",
        over_root("%x", f"relax.add(relax.mean({square('%x')}), %epsilon)"),
        rms_norm,
    ),
    OperationForm(
        "rms_norm with weight", "relax.multiply(relax.nn.rms_norm(%x, *), %weight)", with_weight
    ),
)
"""The forms, those to try first at the front."""
