"""The builder of kernels, and the tensors that legalizations combine.

A legalization returns the results of an operation as lazy tensors: nothing is computed before an
element is read, and the element is computed again at each read. Chains of operations thus fuse
without further work; a tensor that is read several times has to be put into a buffer first
(`KernelBuilder.buffered`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, TypeGuard, TypeVar

from xdsl.dialects.builtin import AnyFloat, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.types import is_integer, is_number, tensor_type
from ...dialects.target import DEFAULT, Target
from ...dialects.tir.builder import Index, TirBuilder, dimensions
from ...dialects.tir.functions import Extent, Shape, SymbolicExtent, volume
from ...dialects.tir.index_builder import IndexValue
from ...dialects.tir.ops import ForKind, PrimFuncOp
from ...passmanager.actions import Argument
from .choices import Choice, Choices, Space
from .scalars import convert, signless_form, with_sign

if TYPE_CHECKING:
    from ..interpreters.arrays import Array

__all__ = [
    "INDEPENDENT",
    "Buffer",
    "Element",
    "Elements",
    "KernelBuilder",
    "KernelRemark",
    "Legalization",
    "Preparation",
    "Scheduled",
    "Store",
    "Tensor",
    "Winograd",
    "broadcast_index",
    "is_less",
    "is_more",
]

T = TypeVar("T")

# Larger groups would save allocations and fills, but leave fewer iterations for threads: 96
# channels are 6 groups. The size of a group divides the number of channels, so that no group is
# smaller: 17 channels are 17 groups.
CHANNELS = 16
"""The most channels of a group: they are computed one after the other, and share buffers."""

INDEPENDENT = 8
"""The number of vectors of partial results. Additions take 4 cycles, and these keep two units
busy."""


def power_of_two_floor(limit: int) -> int:
    """Return the largest power of two that is at most `limit`; `limit` is at least 1."""
    return 1 << limit.bit_length() - 1


class KernelBuilder(TirBuilder):
    """A builder that also knows which tensors have been computed already."""

    def __init__(
        self,
        func: PrimFuncOp,
        target: Target = DEFAULT,
        *,
        bits: int = 32,
        scalar: str | None = None,
        groups: Sequence[Sequence[int]] | None = None,
        winograd: Winograd = "none",
        measured: Sequence[Choice] | None = None,
    ):
        super().__init__(func)
        self.target = target
        self.lanes = 1 if target.is_cuda else target.lanes(bits)
        """The number of lanes of a vector: a register holds this many elements of `bits` bits.
        Kernels for GPUs have no vectors: tiles take their place later."""
        self.scalar = scalar
        """Why loops over all elements are not vectorized; None if they may be."""
        self.element_lanes = self.lanes if scalar is None else 1
        """The number of adjacent elements that loops over all elements compute at once."""
        self.bytes = -(-bits // 8)
        """The bytes of the widest elements."""
        self.groups = groups
        """The groups of dimensions that the kernel merges into one, counted from the last, -1; None
        if it merges none. Operands of element-wise operations, concatenations, transpositions and
        operations along axes are merged; convolutions return their result merged."""
        self.winograd: Winograd = winograd
        self.choices = Choices(measured)
        self.remarks: list[KernelRemark] = []
        """The decisions that users may want to know."""
        self.warnings: list[tuple[Operation, str]] = []
        """The operations that will fail at run time, and why."""
        self.constants_of: Mapping[SSAValue, Sequence[ConstantOp | FullOp]] = {}
        """The values of the legalized function that are constants, with these constants. A
        parameter has one for each call."""
        self.constants: set[SSAValue] = set()
        """The parameters that callers can prepare: they have one user, and each call passes a
        constant."""
        self.prepared: dict[SSAValue, Preparation] = {}
        """The parameters that callers have to pass in another form."""
        self.sizes: Mapping[SSAValue, Shape] = {}
        """The shapes of the values of the function that is legalized."""
        self.in_place: Mapping[SSAValue, Shape] = {}
        """The value whose loops compute the result of the kernel, with its shape in merged
        dimensions; empty if there is none."""
        self.bound: dict[Tensor, Tensor] = {}
        """Tensor -> a tensor with the same elements that is cheaper to read, such as a buffer."""
        self._reading: object | None = None
        """A key of the outermost element that `read` is computing; None outside of `read`."""

    def number(self, value: float | Index | bool, type: Attribute) -> SSAValue:
        """Return `value` as a constant of `type`; in an integer type it wraps around. An index that
        is known at run time only is converted to `type`."""
        if isinstance(value, SymbolicExtent | IndexValue):
            return convert(self, self.index(value), type)
        plain = signless_form(type)
        if plain == type:
            return super().number(value, type)
        assert is_integer(type)
        half = 1 << type.bitwidth - 1
        # The signless constant has the same bits: 255 of ui8 is -1 of i8.
        return with_sign(self, super().number((int(value) + half) % (2 * half) - half, plain), type)

    def range_of(self, value: SSAValue) -> tuple[int, int] | None:
        """Return the minimum and the maximum element of an operand if they are known."""
        constants = self.constants_of.get(value, ())
        ranges = [range_of(constant) for constant in constants]
        if not ranges or None in ranges:
            return None
        known = [range for range in ranges if range is not None]
        return min(low for low, _ in known), max(high for _, high in known)

    def elements_of(self, value: SSAValue) -> Sequence[Array]:
        """Return the elements of a constant operand, one array for each call; empty if they are not
        known or a fill."""
        from ..interpreters.arrays import array_of

        constants = self.constants_of.get(value, ())
        # All or none: a fact about weights, such as that sums are exact, has to hold in each call.
        known = [array_of(op.value) for op in constants if isinstance(op, ConstantOp)]
        return known if len(known) == len(constants) else ()

    def read(self, tensor: Tensor, index: Sequence[Index]) -> SSAValue:
        """Return the element of `tensor` at `index`.

        A value that the element needs several times at one index is computed once. Otherwise the
        code of `x1 = f(x0, x0)`, `x2 = f(x1, x1)`, ... would double with each step. The value is
        not kept for the next element, as buffers may have changed since.
        """
        tensor = self.bound.get(tensor, tensor)
        if not isinstance(tensor, Elements):
            return tensor.read(self, index)
        is_outermost = self._reading is None
        if is_outermost:
            self._reading = object()
        try:
            # `_pure` has a table for each open block, innermost last. A value of an enclosing block
            # dominates this place. A value of a branch that is closed does not: its table was
            # removed.
            key = (self._reading, tensor, *index)
            for scope in self._pure:
                if (found := scope.get(key)) is not None:
                    return found
            result = tensor.read(self, index)
            self._pure[-1][key] = result
            return result
        finally:
            if is_outermost:
                self._reading = None

    def shape_of(self, value: SSAValue) -> Shape:
        """Return the shape of an operand or a result of an operation that is legalized."""
        return self.sizes[value]

    def count(self, extent: Extent, type: Attribute) -> SSAValue:
        """Return an extent as a float, to divide by it."""
        return self.number(float(extent) if isinstance(extent, int) else extent, type)

    def require_equal(self, lhs: Extent, rhs: Extent, message: str, op: Operation) -> None:
        """Assert that two sizes are equal, unless that is known."""
        if lhs == rhs:
            return
        self.require(self.equal(lhs, rhs), f"{op.name}: {message}", op)

    def fold(
        self,
        extents: Sequence[Extent],
        start: SSAValue,
        function: Callable[[TirBuilder, SSAValue, SSAValue], SSAValue],
        element: Callable[[Sequence[Index]], SSAValue],
        *,
        contiguous: bool,
        vectors: int = INDEPENDENT,
    ) -> SSAValue:
        """Write loops over `extents` that combine all elements by `function`, which is associative
        and has the identity `start`; return the result.

        With `contiguous`, elements along the last dimension are next to each other in memory. The
        lanes of up to `vectors` vectors, in at most half of the registers, then hold partial
        results. A tree combines these at the end, which changes the order of floating-point sums.
        An extent that is unknown may not fill all of these vectors: the remaining elements follow,
        first one vector at a time, then one element at a time.
        """
        # LLVM reorders integer reductions by itself. It may not reorder those of floats without the
        # flag `reassoc`, which would let it change other operations, too. So partial sums are
        # written here; for 15 elements and 2 vectors of 4 lanes:
        #
        #     vector 0: 0 1 2 3, then 8 9 10 11, then 12 13 14 in lanes 0 1 2    vector 1: 4 5 6 7
        #
        # The order depends on the target and the extent only: results are the same in each run.
        lanes = self.target.lanes(start.type.bitwidth) if isinstance(start.type, AnyFloat) else 0
        if (
            self.target.is_cuda
            or not contiguous
            or not lanes
            or not extents
            or is_less(extents[-1], lanes)
        ):
            return self.accumulate(extents, start, lambda x, i: function(self, x, element(i)))
        *outer, last = extents
        vectors = min(vectors, self.target.vector_registers // 2)
        if isinstance(last, int):
            vectors = min(vectors, last // lanes)
        vectors = power_of_two_floor(vectors)
        partial = self.alloc((vectors, lanes), start.type, "local")
        kinds = (ForKind.UNROLLED, ForKind.VECTORIZED)

        def steps(count: Extent, width: Extent, index: Sequence[Index], first: Index) -> None:
            """Combine `count` vectors of `width` elements from `first` on."""
            with self.nest((count, width), kinds) as (vector, lane):
                place = first + vector * width + lane
                number = self.load(partial, [vector, lane])
                number = function(self, number, element([*index, place]))
                self.store(number, partial, [vector, lane])

        with self.nest((vectors, lanes), kinds) as place:
            self.store(start, partial, place)
        together = vectors * lanes
        whole, in_vectors = last // together * together, last // lanes * lanes
        with self.loops(outer) as index:
            with self.loop(last // together) as chunk:
                steps(vectors, lanes, index, chunk * together)
            if isinstance(last, int):
                if whole < in_vectors:
                    steps((in_vectors - whole) // lanes, lanes, index, whole)
                if in_vectors < last:
                    steps(1, last - in_vectors, index, in_vectors)
            else:  # one vector at a time, then one element at a time
                if vectors > 1:
                    with self.loop((in_vectors - whole) // lanes) as chunk:
                        steps(1, lanes, index, whole + chunk * lanes)
                with self.loop(last % lanes, min=in_vectors) as at:
                    steps(1, 1, index, at)
        return self.combine(partial, (vectors, lanes), start.type, function)

    def combine(
        self,
        partial: SSAValue,
        shape: tuple[int, int],
        type: Attribute,
        function: Callable[[TirBuilder, SSAValue, SSAValue], SSAValue],
    ) -> SSAValue:
        """Combine all elements of a buffer of vectors by a tree.

        One half of the vectors is combined with the other until one vector is left, then one half
        of its lanes with the other. The numbers of vectors and lanes are powers of two.
        """
        vectors, lanes = shape
        while vectors * lanes > 1:
            # `vectors` is 0 when lanes are halved. Each level has a buffer of its own with constant
            # indices, which becomes registers: 8 vectors of 8 lanes take 3 additions of vectors one
            # after the other, and 3 of halves.
            vectors, lanes = (vectors // 2, lanes) if vectors > 1 else (0, lanes // 2)
            half = self.alloc((max(vectors, 1), lanes), type, "local")
            kinds = (ForKind.UNROLLED, ForKind.VECTORIZED)
            with self.nest((max(vectors, 1), lanes), kinds) as (vector, lane):
                other = [vector + vectors, lane if vectors else lane + lanes]
                lower, upper = self.load(partial, [vector, lane]), self.load(partial, other)
                self.store(function(self, lower, upper), half, [vector, lane])
            partial, vectors = half, max(vectors, 1)
        return self.load(partial, [0, 0])

    def columns(
        self,
        extents: Sequence[Extent],
        body: Callable[[list[Index]], None],
        vectors: int = INDEPENDENT,
    ) -> None:
        """Write loops over the elements of a tensor of shape `extents`, and write `body` for each.
        The last dimension is computed in vectors, up to `vectors` at a time, which take at most
        half of the registers, and then one vector at a time.

        A last vector that would exceed the dimension begins earlier and overlaps the one before, so
        `body` may not read what it writes. For 13 elements, vectors of 4 lanes, two at a time:

            0 1 2 3 4 5 6 7    8 9 10 11    9 10 11 12

        The rest of a dimension of unknown extent, which may be less than a vector, is computed one
        by one instead.
        """
        if self.target.is_cuda:
            with self.loops(extents) as index:
                body(index)
            return
        *outer, last = extents
        if not isinstance(last, int):
            width = self.lanes * power_of_two_floor(min(vectors, self.target.vector_registers // 2))
            with self.loops(outer) as index, self.vectors_and_rest(last, width, self.lanes) as at:
                body([*index, at])
            return
        lanes = max(1, min(self.lanes, last))
        vectors = min(vectors, self.target.vector_registers // 2, last // lanes)
        width = lanes * power_of_two_floor(max(1, vectors))
        whole = last // width * width
        with self.loops(outer) as index:
            with self.loop(last // width) as tile, self.loop(width, ForKind.VECTORIZED) as lane:
                body([*index, tile * width + lane])
            if whole == last:
                return
            with (
                self.loop(-(-(last - whole) // lanes)) as tile,
                self.loop(lanes, ForKind.VECTORIZED) as lane,
            ):
                # For 13: whole is 8, and the vectors begin at 8 and at 9, not 12.
                first = self.min(whole + tile * lanes, last - lanes)
                body([*index, first + lane])

    @contextmanager
    def covering(
        self, extent: Index, lanes: int, extents: Sequence[int] | None = None
    ) -> Generator[Index]:
        """Build the body of a vectorized loop over 0, ..., `extent - 1` without a mask. `extents`
        has the values that a computed extent may have; None if they are not known.

        The last vector overlaps the one before it, so running the body twice for an index must have
        the same effect as running it once. Vectors are shorter than `lanes` if `extent` is.
        """
        if self.target.is_cuda:
            with self.loop(extent) as position:
                yield position
            return
        if isinstance(extent, int):
            extents = [extent]
        if extents is None:
            with self.overlapping_vectors(extent, lanes) as position:
                yield position
            return
        # All extents get one vector width: for 16 or 10 columns, vectors have 8 lanes, and 10
        # columns are the vectors 0 to 7 and 2 to 9.
        lanes = min(lanes, power_of_two_floor(max(1, min(extents))))
        with self.loop(self.ceildiv(extent, lanes)) as chunk:
            start = chunk * lanes
            if any(value % lanes for value in extents):
                start = self.min(start, extent - lanes)
            with self.loop(lanes, ForKind.VECTORIZED) as lane:
                yield start + lane

    @contextmanager
    def channels(
        self, images: Extent, channels: int
    ) -> Generator[tuple[Index, AbstractContextManager[Index]]]:
        """Build a parallel loop over images and groups of channels; yield the image, and the loop
        over the channels of a group, which may share buffers."""
        # Buffers that the caller allocates between the two loops belong to one thread.
        together = max(n for n in range(1, CHANNELS + 1) if channels % n == 0)
        with self.loops((images, channels // together), ForKind.PARALLEL) as (image, group):
            yield image, self.loop(together, min=group * together)

    def store_all(self, tensor: Tensor, buffer: SSAValue) -> None:
        """Write loops that store all elements of `tensor` into `buffer`, of the same shape."""
        if self.has_own_loops(tensor):
            tensor.write(self, lambda index, value: self.store(value, buffer, index))
            return
        with self.loops(tensor.shape) as index:
            self.store(self.read(tensor, index), buffer, index)

    def has_own_loops(self, tensor: Tensor) -> TypeGuard[Scheduled]:
        """Return whether the loops of `tensor` compute it. On a GPU, where each lane of a tile
        computes an element, plain loops do if its elements can be read one by one."""
        if not isinstance(tensor, Scheduled):
            return False
        return not (self.target.is_cuda and tensor.is_readable)

    def fill(self, buffer: SSAValue, shape: Sequence[Extent], element: Attribute) -> None:
        """Write a loop that sets all elements of `buffer`, of `shape`, to zero."""
        flat = self.view(buffer, (volume(shape),))
        with self.elements([volume(shape)], self.lanes) as index:
            self.store(self.number(0, element), flat, index)

    def reshaped(self, tensor: Tensor, shape: Shape) -> Buffer:
        """Return the elements of `tensor` in a buffer of `shape`."""
        buffer = self.view(self.buffered(tensor).buffer, shape)
        return Buffer(shape, tensor.element, buffer)

    def remark(
        self,
        kind: Literal["passed", "missed", "analysis"],
        name: str,
        message: str,
        /,
        **arguments: Argument,
    ) -> None:
        """Record a choice and its reason. The same choice of several results is recorded once."""
        if (remark := KernelRemark(kind, name, message, arguments)) not in self.remarks:
            self.remarks.append(remark)

    def decide(self, space: Space[T]) -> T:
        """Return the candidate of `space` that was measured to be the fastest. If none was
        measured, return the candidate with the lowest estimate."""
        candidate, is_measured = self.choices.decide(space)
        if is_measured:
            text = f"measured {space.kind}: {space.choice(candidate)}"
            self.remark("passed", "Tuned", text)
        elif self.choices.measured is not None:
            text = f"no candidate for {space.kind} was measured: the one with the lowest estimate"
            self.remark("missed", "Tuned", text)
        return candidate

    def prepare(
        self, constant: Buffer, shape: Shape, element: Attribute, preparation: Preparation
    ) -> Buffer:
        """Return the buffer of a constant parameter that callers then have to pass prepared: in
        `shape`, with the elements that `preparation` returns."""
        parameter = constant.buffer
        # A parameter is prepared only once, since its type becomes that of the prepared form. The
        # exception is `converted`, which adds the parameter again: the preparations are then
        # composed, the earlier one first.
        self.constants.discard(parameter)
        earlier = self.prepared.pop(parameter, None)
        value = Rewriter.replace_value_with_new_type(
            parameter, MemRefType(element, dimensions(shape))
        )
        self.prepared[value] = preparation
        if earlier is not None:
            self.prepared[value] = lambda array: preparation(earlier(array))
        return Buffer(shape, element, value)

    def converted(
        self, constant: Buffer, shape: Shape, element: Attribute, preparation: Preparation
    ) -> Buffer:
        """Return the constant that `preparation` computes from a constant parameter when the module
        is compiled. It may be prepared again."""
        buffer = self.prepare(constant, shape, element, preparation)
        self.constants.add(buffer.buffer)
        return buffer

    def as_elements(self, tensor: Tensor, element: Attribute) -> Tensor:
        """Return `tensor` with its elements converted to type `element`, which can represent all of
        them. A constant that callers can prepare is converted when the module is compiled."""
        if tensor.element == element:
            return tensor
        if (constant := self.constant(tensor)) is not None and is_number(element):
            known = element

            def cast(array: Array) -> Array:
                from ..interpreters.arrays import dtype_of

                return array.astype(dtype_of(known))

            return self.converted(constant, constant.shape, element, cast)
        return Elements(
            tensor.shape, element, lambda b, index: convert(b, b.read(tensor, index), element)
        )

    def constant(self, tensor: Tensor) -> Buffer | None:
        """Return the tensor if it is a constant that callers can prepare."""
        if isinstance(tensor, Buffer) and tensor.buffer in self.constants:
            return tensor
        return None

    def buffered(self, tensor: Tensor) -> Buffer:
        """Return `tensor` in a buffer. Write loops that compute it, unless it is in a buffer
        already."""
        tensor = self.bound.get(tensor, tensor)
        if isinstance(tensor, Buffer):
            return tensor
        buffer = self.alloc(tensor.shape, tensor.element)
        self.store_all(tensor, buffer)
        self.bound[tensor] = result = Buffer(tensor.shape, tensor.element, buffer)
        return result


def range_of(constant: ConstantOp | FullOp) -> tuple[int, int] | None:
    """Return the minimum and the maximum element of an integer constant; None for a constant of
    another type or without elements."""
    from ..interpreters.arrays import array_of

    if not is_integer(tensor_type(constant.result).element_type):
        return None
    if isinstance(constant, FullOp):
        value = int(constant.value.value.data)
        return value, value
    elements = array_of(constant.value)
    return (int(elements.min()), int(elements.max())) if elements.size else None


Winograd: TypeAlias = Literal["none", "f2", "f4"]
"""The largest tiles of outputs that convolutions by Winograd's algorithm may have: 2x2 or 4x4."""


@dataclass(frozen=True)
class KernelRemark:
    """A choice that was made for a kernel: that a faster algorithm was taken or missed, or which
    schedule was chosen."""

    kind: Literal["passed", "missed", "analysis"]
    name: str
    message: str
    arguments: Mapping[str, Argument]
    """The numbers behind the choice."""


Preparation: TypeAlias = Callable[["Array"], "Array"]
"""A function that brings the elements of a constant into the form that a kernel reads."""


@dataclass(eq=False)
class Tensor(ABC):
    """A tensor whose shape consists of numbers and expressions of the sizes of parameters."""

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


class Scheduled(Tensor):
    """A tensor whose elements are best computed together, by a loop nest of its own."""

    is_readable: ClassVar = True
    """Whether elements can be read one by one, too."""

    @abstractmethod
    def write(self, b: KernelBuilder, store: Store) -> None:
        """Write loops that compute all elements, and call `store` for each."""


Element: TypeAlias = Callable[[KernelBuilder, Sequence[Index]], SSAValue]
"""A function that returns the element at an index."""

Store: TypeAlias = Callable[[Sequence[Index], SSAValue], None]
"""A function that stores the value of the element at an index. It is called in a vectorized loop if
adjacent elements are computed together, and may be called twice for an element."""


@dataclass(eq=False)
class Elements(Tensor):
    """A tensor whose elements are computed independently, each time they are read."""

    compute: Element

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        return self.compute(b, index)


Legalization: TypeAlias = Callable[..., Tensor | tuple[Tensor, ...]]
"""A function of an operation, the builder and the operands that returns the result, or a tuple of
results. It raises NoKernel if kernels do not support the operation."""


def is_less(extent: Extent, than: int) -> bool:
    """Return whether an extent is known to be less than a number."""
    return isinstance(extent, int) and extent < than


def is_more(extent: Extent, than: int) -> bool:
    """Return whether an extent is known to be more than a number."""
    return isinstance(extent, int) and extent > than


def broadcast_index(
    b: KernelBuilder, index: Sequence[Index], shape: Shape, frame: Shape | None = None
) -> list[Index]:
    """Map `index` in the broadcast form of a tensor to an index in the tensor, which has `shape`.
    `frame` is the broadcast shape. A size that may be 1 is compared with 1 at run time; without
    `frame`, unknown sizes are taken to be those of the broadcast form."""
    # The index [i, j, k] in (2, 3, 4) becomes [j, 0] in the shape (3, 1). The index of a dimension
    # of size 1 is the constant 0, so loads do not depend on that loop and LLVM moves them out of
    # it.
    skipped = len(index) - len(shape)
    sizes = shape if frame is None else frame[len(frame) - len(shape) :]

    def place(i: Index, size: Extent, whole: Extent) -> Index:
        if size == 1:
            return 0
        if isinstance(size, int) or size == whole:
            return i
        return b.select(b.equal(size, 1), 0, i)

    return [place(*each) for each in zip(index[skipped:], shape, sizes, strict=True)]
