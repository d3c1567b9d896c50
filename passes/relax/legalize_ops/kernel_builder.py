"""The builder of kernels, and the tensors that legalizations combine.

A legalization returns the results of an operation as lazy tensors: nothing is computed before an
element is read, and the element is computed again at each read. Chains of operations thus fuse
without further work; a tensor that is read several times has to be put into a buffer first
(`KernelBuilder.buffered`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Literal, TypeAlias

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import Rewriter

from ....dialects.relax.shapes import Shape
from ....dialects.tir.builder import Index, TirBuilder
from ....dialects.tir.ops import ForKind, PrimFuncOp
from ....dialects.tir.target import DEFAULT, Target
from .scalars import signless

if TYPE_CHECKING:
    from ....interpreters.arrays import Array

__all__ = [
    "Buffer",
    "Element",
    "Elements",
    "KernelBuilder",
    "Legalization",
    "Preparation",
    "Remark",
    "Tensor",
    "Winograd",
    "broadcast_index",
]


class KernelBuilder(TirBuilder):
    """A builder that also knows which tensors have been computed already."""

    def __init__(
        self,
        func: PrimFuncOp,
        target: Target = DEFAULT,
        *,
        bits: int = 32,
        groups: Sequence[Sequence[int]] | None = None,
        winograd: Winograd = "none",
    ):
        super().__init__(func)
        self.target = target
        self.lanes = target.lanes(bits)
        """The number of elements of a vector: as many as a register has of `bits` bits each."""
        self.groups = groups
        """The groups of dimensions that the kernel merges into one, counted from the last, -1; None
        if it merges none. Operands of element-wise operations and of concatenations are merged; a
        convolution with windows of one element has to return its result merged."""
        self.winograd: Winograd = winograd
        self.remarks: list[Remark] = []
        """The decisions that users may want to know."""
        self.constants: set[SSAValue] = set()
        """The parameters that are the same constants in each call and have one user."""
        self.prepared: dict[SSAValue, Preparation] = {}
        """The parameters that callers have to pass in another form."""
        self.bound: dict[Tensor, Tensor] = {}
        """Tensor -> a tensor with the same elements that is cheaper to read, such as a buffer."""

    def number(self, value: float | int | bool, type: Attribute) -> SSAValue:
        """Return a constant of `type`; NoKernel if kernels do not compute with that type."""
        return super().number(value, signless(type))

    def read(self, tensor: Tensor, index: Sequence[Index]) -> SSAValue:
        """Return the element of `tensor` at `index`."""
        return self.bound.get(tensor, tensor).read(self, index)

    def fold(
        self,
        extents: Sequence[int],
        start: SSAValue,
        function: Callable[[TirBuilder, SSAValue, SSAValue], SSAValue],
        element: Callable[[Sequence[Index]], SSAValue],
        *,
        contiguous: bool,
    ) -> SSAValue:
        """Write loops over `extents` that combine all elements by `function`, which is associative
        and has the identity `start`; return the result.

        With `contiguous`, elements along the last dimension are next to each other in memory: each
        lane of a vector then combines every `lanes`-th of them, and the lanes are combined at the
        end. That changes the order of floating-point sums.
        """
        if not contiguous or not extents or extents[-1] < 2 * self.lanes:
            return self.accumulate(extents, start, lambda x, i: function(self, x, element(i)))
        *outer, last = extents
        rest = last % self.lanes
        numbers = self.alloc((self.lanes,), start.type, "local")

        def step(lane: Index, index: Sequence[Index]) -> None:
            number = function(self, self.load(numbers, [lane]), element(index))
            self.store(number, numbers, [lane])

        with self.loop(self.lanes, ForKind.VECTORIZED) as lane:
            self.store(start, numbers, [lane])
        with self.loops(outer) as index:
            with (
                self.loop(last // self.lanes) as chunk,
                self.loop(self.lanes, ForKind.VECTORIZED) as lane,
            ):
                step(lane, [*index, self.add(self.mul(chunk, self.lanes), lane)])
            if rest:
                with self.loop(rest, ForKind.VECTORIZED) as lane:
                    step(lane, [*index, self.add(last - rest, lane)])
        return self.accumulate(
            (self.lanes,), start, lambda x, lane: function(self, x, self.load(numbers, lane))
        )

    def store_all(self, tensor: Tensor, buffer: SSAValue) -> None:
        """Write loops that store all elements of `tensor` into `buffer`, of the same shape."""
        with self.loops(tensor.shape) as index:
            self.store(self.read(tensor, index), buffer, index)

    def fill(
        self, buffer: SSAValue, shape: Sequence[int], element: Attribute, value: float = 0
    ) -> None:
        """Write a loop that sets all elements of `buffer`, of `shape`, to `value`."""
        flat = self.view(buffer, (prod(shape),))
        with self.elements([prod(shape)], self.lanes) as index:
            self.store(self.number(value, element), flat, index)

    def reshaped(self, tensor: Tensor, shape: Shape) -> Buffer:
        """Return the elements of `tensor` in a buffer of `shape`."""
        buffer = self.view(self.buffered(tensor).buffer, shape)
        return Buffer(shape, tensor.element, buffer)

    def prepare(self, constant: Buffer, shape: Shape, preparation: Preparation) -> Buffer:
        """Return the buffer of a constant parameter, which callers then have to pass in `shape`,
        its elements as `preparation` returns them."""
        parameter = constant.buffer
        type = MemRefType(constant.element, shape)
        value = Rewriter.replace_value_with_new_type(parameter, type)
        self.constants.discard(parameter)
        self.prepared[value] = preparation
        return Buffer(shape, constant.element, value)

    def constant(self, tensor: Tensor) -> Buffer | None:
        """Return the tensor if it is a constant that callers can prepare."""
        if isinstance(tensor, Buffer) and tensor.buffer in self.constants:
            return tensor
        return None

    def buffered(self, tensor: Tensor) -> Buffer:
        """Return `tensor` in a buffer; loops that compute it are written unless it is in one."""
        tensor = self.bound.get(tensor, tensor)
        if isinstance(tensor, Buffer):
            return tensor
        buffer = self.alloc(tensor.shape, tensor.element)
        self.store_all(tensor, buffer)
        self.bound[tensor] = result = Buffer(tensor.shape, tensor.element, buffer)
        return result


Winograd: TypeAlias = Literal["none", "f2", "f4"]
"""The largest tiles of outputs that convolutions by Winograd's algorithm may have: 2x2 or 4x4."""


@dataclass(frozen=True)
class Remark:
    """A decision about a kernel: `passed` is true if the faster alternative was taken."""

    passed: bool
    name: str
    message: str


Preparation: TypeAlias = Callable[["Array"], "Array"]
"""A function that brings the elements of a constant into the form that a kernel reads."""


@dataclass(eq=False)
class Tensor(ABC):
    """A tensor of static shape."""

    shape: Shape
    element: Attribute
    """The type of the elements."""

    @abstractmethod
    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        """Return the element at `index`, computed by operations that `b` writes."""


@dataclass(eq=False)
class Buffer(Tensor):
    """A tensor in memory, in row-major order."""

    buffer: SSAValue

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        return b.load(self.buffer, index)


Element: TypeAlias = Callable[[KernelBuilder, Sequence[Index]], SSAValue]
"""A function that returns the element at an index."""


@dataclass(eq=False)
class Elements(Tensor):
    """A tensor whose elements are computed independently, each time they are read."""

    compute: Element

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        return self.compute(b, index)


Legalization: TypeAlias = Callable[..., Tensor | tuple[Tensor, ...]]
"""A function of an operation, the builder and the operands that returns the result, or a tuple of
results; NoKernel if kernels do not support the operation."""


def broadcast_index(b: KernelBuilder, index: Sequence[Index], shape: Shape) -> list[Index]:
    """Return the index in a tensor of `shape` of the element at `index` of its broadcast form."""
    last = index[len(index) - len(shape) :]
    return [0 if size == 1 else i for i, size in zip(last, shape, strict=True)]
