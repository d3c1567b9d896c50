"""The sizes of tensors in callers of kernels: values of type index, computed beside the calls."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TypeAlias

from xdsl.dialects import arith, memref, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, FloatAttr, IndexType, IntegerAttr, f64, i64
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from ...dialects.numbers import Computed, Dimension, Element, Insert, Number, Scalar, Symbolic
from ...dialects.relax.constant import constant_integers, constant_number
from ...dialects.relax.dimensions import symbolic_type
from ...dialects.relax.types import is_ranked, is_tensor
from ...dialects.size_values import SizeValues
from ...dialects.sizes import Size, Symbol
from ...dialects.tir.functions import extent_of
from ...dialects.tir.index_builder import IndexBuilder, unknown
from ...passmanager.ir.walk import walk
from ..analysis.symbolic_shapes import SymbolicShapes, computed_dimensions
from .choices import NoKernel
from .scalars import is_unsigned

Function: TypeAlias = Callable[..., SSAValue]


def operation(cls: Callable[..., Operation]) -> Function:
    """Return the function that inserts one operation."""

    def function(insert: Insert, *operands: SSAValue) -> SSAValue:
        return insert(cls(*operands))

    return function


def scale(insert: Insert, size: SSAValue, factor: SSAValue) -> SSAValue:
    """Insert the product of a size and an f64, rounded down."""
    number = insert(arith.SIToFPOp(insert(arith.IndexCastOp(size, i64)), f64))
    product = insert(arith.FPToSIOp(insert(arith.MulfOp(number, factor)), i64))
    return insert(arith.IndexCastOp(product, IndexType()))


FUNCTIONS: dict[str, Function] = {
    "addi": operation(arith.AddiOp),
    "divsi": operation(arith.DivSIOp),
    "eq": operation(partial(arith.CmpiOp, arg="eq")),
    "maxsi": operation(arith.MaxSIOp),
    "minsi": operation(arith.MinSIOp),
    "muli": operation(arith.MuliOp),
    "ori": operation(arith.OrIOp),
    "scale": scale,
    "select": operation(arith.SelectOp),
    "slt": operation(partial(arith.CmpiOp, arg="slt")),
    "subi": operation(arith.SubiOp),
}
"""Name -> the function that inserts an operation on numbers."""


class SizeScope(ABC):
    """The sizes of the tensors of a function, computed by shape rules as values in front of a
    call."""

    def __init__(self, func: FuncOp, shapes: SymbolicShapes) -> None:
        self.shapes = shapes
        self.places: dict[Symbol, tuple[SSAValue, int]] = {}
        """The first value that has each symbol as a dimension, and the number of that dimension."""
        for value in values_of(func):
            if is_tensor(value.type):
                for axis, size in enumerate(shapes.of(value) or ()):
                    if (symbol := size.lone_symbol) is not None:
                        self.places.setdefault(symbol, (value, axis))

    def of(self, value: SSAValue) -> Sequence[Size | Dimension] | None:
        """Return the shape of a tensor, as shape rules read it."""
        return self.shapes.of(value)

    def type_of(self, value: SSAValue) -> Attribute:
        """Return the type of a value with the sizes that shape rules compute with."""
        return symbolic_type(value.type, self.of(value))

    def elements_of(self, value: SSAValue) -> Sequence[Size | None] | None:
        """Return the elements of a small integer vector or scalar, as shape rules read them."""
        return self.shapes.elements_of(value)

    @abstractmethod
    def value_of(self, size: Size) -> SSAValue:
        """Return the value of `size`."""

    def size(self, value: SSAValue, axis: int) -> SSAValue:
        """Return the size of a dimension of a tensor."""
        shape = self.shapes.of(value)
        assert shape is not None
        return self.value_of(shape[axis])

    def element(self, value: SSAValue, index: int) -> SSAValue:
        """Return an element of a vector of integers, or of a scalar, as an index."""
        elements = self.elements_of(value)
        if elements is not None and (element := elements[index]) is not None:
            return self.value_of(element)
        if (known := constant_integers(value)) is not None:
            return self.value_of(Size.of(known[index]))
        return self.read_element(value, index)

    @abstractmethod
    def read_element(self, value: SSAValue, index: int) -> SSAValue:
        """Return an element that is known at run time only."""

    def number(self, value: SSAValue) -> SSAValue:
        """Return the number in a scalar, in its type."""
        if (number := constant_number(value)) is not None:
            return self.insert(arith.ConstantOp(number))
        return self.read_number(value)

    @abstractmethod
    def read_number(self, value: SSAValue) -> SSAValue:
        """Return the number in a scalar that is known at run time only."""

    @abstractmethod
    def insert(self, op: Operation) -> SSAValue:
        """Insert a pure operation and return its result."""

    def of_result(self, result: OpResult, axis: int) -> SSAValue:
        """Return the size of a dimension of the result of an operation, by its shape rule; NoKernel
        if there is none."""
        rows = computed_dimensions(result.op, self)
        row = None if rows is None else rows[result.index]
        if row is None or (number := row[axis]) is None:
            raise NoKernel(f"the size of a result of '{result.op.name}' is not known before it")
        return self.computed(number, {})

    def computed(self, number: Number, known: dict[Number, SSAValue]) -> SSAValue:
        """Return the value of `number`; `known` has the values of other numbers."""
        if (value := known.get(number)) is None:
            match number:
                case int():
                    value = self.value_of(Size.of(number))
                case Symbolic(size):
                    value = self.value_of(size)
                case Element():
                    value = self.element(number.value, number.index)
                case Dimension():
                    value = self.size(number.value, number.axis)
                case Scalar():
                    value = self.number(number.value)
                case Computed(function, given):
                    operands = [
                        self.insert(arith.ConstantOp(FloatAttr(operand, f64)))
                        if isinstance(operand, float)
                        else self.computed(operand, known)
                        for operand in given
                    ]
                    if isinstance(function, str):
                        function = FUNCTIONS[function]
                    value = function(self.insert, *operands)
            known[number] = value
        return value


class CallSizes(SizeScope):
    """The sizes of the tensors of a function, as values.

    A size that depends on the parameters alone is computed at the start of the function. Any other
    size is computed before the first operation in a block that needs it.
    """

    def __init__(self, func: FuncOp, shapes: SymbolicShapes, callees: Mapping[str, FuncOp]) -> None:
        """`callees` are the functions that became kernels, in their form before that."""
        super().__init__(func, shapes)
        self._func = func
        self._callees = callees
        self._last: Operation | None = None
        """The last operation at the start of the function."""
        self._constants: dict[int, SSAValue] = {}
        self._given = {
            size: (arg, axis)
            for arg in func.args
            for axis, size in enumerate(self.shapes.of(arg) or ())
            if any(symbol not in self.places for symbol in size.symbols())
        }
        """The sizes of parameters with a symbol that is the dimension of no tensor: `n * h`."""
        self._roots = self._solve()
        self._in_block: dict[Block, SizeValues] = {}
        self._before: Operation | None = None

    def of_results(self, op: Operation) -> list[SSAValue]:
        """Return the size of each unknown dimension of the results of `op`. NoKernel if a size
        cannot be computed before `op`."""
        return [size for result in op.results for size in self.of_dimensions(result, op, False)]

    def of_dimensions(
        self, value: SSAValue, before: Operation, known: bool = True
    ) -> list[SSAValue]:
        """Return the sizes of all dimensions of `value`, the `known` ones included, computed before
        an operation."""
        type = value.type
        if not is_ranked(type):
            raise NoKernel(f"the rank of {type} is not known")
        # Let h be a symbol of the parameters, and n one of the result of `nonzero`. Then 2 * h is
        # computed once, at the start of the function; n + h in each block, before its first user.
        self._before, shape = before, self.shapes.of(value)
        assert shape is not None
        return [
            self.value_of(shape[axis])
            for axis, size in enumerate(type.get_shape())
            if known or size == DYNAMIC_INDEX
        ]

    def value_of(self, size: Size) -> SSAValue:
        """Return the value of `size` before the current operation."""
        if size in self._given or all(self._is_parameter(symbol) for symbol in size.symbols()):
            return self._at_start.of(size)
        assert self._before is not None
        block = self._before.parent
        assert block is not None
        if (values := self._in_block.get(block)) is None:
            # A table for each block: a value that was computed in one branch does not dominate the
            # other.
            values = self._table(self.insert, self._dimension)
            self._in_block[block] = values
        return values.of(size)

    @cached_property
    def _at_start(self) -> SizeValues:
        """The values at the start of the function."""
        return self._table(self.insert_at_start, self._parameter)

    def _table(self, insert: Insert, symbol: Callable[[Symbol], SSAValue]) -> SizeValues:
        """Return a table of the values of sizes, which begins with those that are read from
        parameters."""
        values = SizeValues(insert, self.constant, symbol)
        for size, place in self._given.items():
            values.define(size, self._read(*place))
        return values

    # Operations

    def insert(self, op: Operation) -> SSAValue:
        """Insert `op` before the current operation and return its result."""
        before = self._before
        assert before is not None and before.parent is not None
        op.location = before.location
        before.parent.insert_op_before(op, before)
        return op.results[0]

    def insert_at_start(self, op: Operation) -> SSAValue:
        """Insert `op` behind the operations that this class inserted at the start of the block."""
        block = self._func.body.block
        if self._last is not None:
            block.insert_op_after(op, self._last)
        elif block.first_op is not None:
            block.insert_op_before(op, block.first_op)
        self._last = op
        return op.results[0]

    def constant(self, number: int) -> SSAValue:
        """Return a constant of type index, at the start of the function."""
        if (found := self._constants.get(number)) is None:
            op = arith.ConstantOp(IntegerAttr(number, IndexType()))
            found = self._constants[number] = self.insert_at_start(op)
        return found

    # Symbols

    def _solve(self) -> dict[Symbol, tuple[Size, Size, Size]]:
        """Return the symbols that are no dimension of a parameter, but can be solved for: each is
        the only unknown in the size `a * symbol + b` of a parameter. The values are that size, a
        and b."""
        roots: dict[Symbol, tuple[Size, Size, Size]] = {}
        for size in sorted(self._given, key=lambda size: len({*size.symbols()})):
            unknown = {s for s in size.symbols() if s not in roots and not self._is_read(s)}
            if len(unknown) == 1 and (line := size.linear_in(symbol := unknown.pop())) is not None:
                roots[symbol] = size, *line
        return roots

    def _is_read(self, symbol: Symbol) -> bool:
        """Return whether a symbol is a dimension of a parameter."""
        place = self.places.get(symbol)
        return place is not None and place[0].owner is self._func.body.block

    def _is_parameter(self, symbol: Symbol) -> bool:
        """Return whether a symbol depends on the parameters alone."""
        return symbol in self._roots or self._is_read(symbol)

    def _depends_on_result(self, size: Size) -> bool:
        """Return whether a symbol of `size` is a dimension of a result of the current operation."""
        places = map(self.places.get, size.symbols())
        return any(place is not None and place[0].owner is self._before for place in places)

    def _parameter(self, symbol: Symbol) -> SSAValue:
        if symbol in self._roots:
            return self._root(*self._roots[symbol])
        return self._read(*self.places[symbol])

    def _read(self, parameter: SSAValue, axis: int) -> SSAValue:
        return self.insert_at_start(tensor.DimOp(parameter, self.constant(axis)))

    def _root(self, size: Size, slope: Size, rest: Size) -> SSAValue:
        """Return `(size - rest) / slope`. If the slope is 0, any number is a solution."""
        insert, of = self.insert_at_start, self._at_start.of
        divisor = of(slope)
        if not slope.is_positive():
            is_zero = insert(arith.CmpiOp(divisor, self.constant(0), "eq"))
            divisor = insert(arith.SelectOp(is_zero, self.constant(1), divisor))
        return insert(arith.DivSIOp(insert(arith.SubiOp(of(size), of(rest))), divisor))

    def _dimension(self, symbol: Symbol) -> SSAValue:
        """Return the value of `symbol`. If it is a size of a result of the current operation, it is
        computed, else it is read from the value that has it."""
        if self._is_parameter(symbol):
            return self._at_start.of(Size.symbol(symbol.name))
        if (place := self.places.get(symbol)) is None:
            raise NoKernel("a size is a dimension of no tensor")
        value, axis = place
        # The result of the current operation does not exist yet. If the operation is a call, the
        # size of the result follows from the arguments, by the shape rules of the operations in the
        # callee.
        if (owner := value.owner) is self._before:
            assert isinstance(value, OpResult)
            if isinstance(owner, CallOp):
                callee = self._callees[owner.callee.string_value()]
                return CalleeScope(self, owner, callee).result(value.index, axis)
            return self.of_result(value, axis)
        return self.insert(tensor.DimOp(value, self.constant(axis)))

    # Rules

    def of(self, value: SSAValue) -> Sequence[Size | Dimension] | None:
        # If the size of an operand is `2 * h`, where `h` is a size of the result, it is read from
        # the operand.
        if (shape := self.shapes.of(value)) is None:
            return None
        return [
            Dimension(value, axis) if self._depends_on_result(size) else size
            for axis, size in enumerate(shape)
        ]

    def elements_of(self, value: SSAValue) -> Sequence[Size | None] | None:
        elements = self.shapes.elements_of(value)
        if elements is None:
            return None
        return [None if size and self._depends_on_result(size) else size for size in elements]

    def size(self, value: SSAValue, axis: int) -> SSAValue:
        shape = self.of(value)
        assert shape is not None
        if isinstance(size := shape[axis], Dimension):
            return self.insert(tensor.DimOp(value, self.constant(axis)))
        return self.value_of(size)

    def read_element(self, value: SSAValue, index: int) -> SSAValue:
        type = value.type
        assert is_ranked(type)
        if is_unsigned(type.element_type):
            raise NoKernel(f"a range of {type.element_type} has a size that is not constant")
        at = [self.constant(index)] * type.get_num_dims()
        element = self.insert(tensor.ExtractOp(value, at, type.element_type))
        return self.insert(arith.IndexCastOp(element, IndexType()))

    def read_number(self, value: SSAValue) -> SSAValue:
        type = value.type
        assert is_ranked(type)
        return self.insert(tensor.ExtractOp(value, [], type.element_type))


class CalleeScope(SizeScope):
    """The sizes in a function that became a kernel, computed in its caller for a call."""

    def __init__(self, caller: CallSizes, call: CallOp, callee: FuncOp) -> None:
        super().__init__(callee, SymbolicShapes.of_function(callee))
        self._caller = caller
        self._call = call
        self._callee = callee
        self._values = SizeValues(caller.insert, caller.constant, self._dimension)

    def result(self, number: int, axis: int) -> SSAValue:
        """Return the size of a dimension of a result."""
        end = self._callee.body.block.last_op
        assert isinstance(end, ReturnOp)
        return self.size(end.operands[number], axis)

    def elements_of(self, value: SSAValue) -> Sequence[Size | None] | None:
        elements = self.shapes.elements_of(value)
        if elements is None and value.owner is self._callee.body.block:
            # The elements that the call passes as constants. The other sizes are expressions of the
            # caller's symbols.
            given = self._caller.elements_of(self._argument(value)) or ()
            known = [None if size is None or size.known is None else size for size in given]
            return known or None
        return elements

    def value_of(self, size: Size) -> SSAValue:
        return self._values.of(size)

    def read_element(self, value: SSAValue, index: int) -> SSAValue:
        return self._caller.element(self._argument(value), index)

    def read_number(self, value: SSAValue) -> SSAValue:
        return self._caller.number(self._argument(value))

    def insert(self, op: Operation) -> SSAValue:
        return self._caller.insert(op)

    def _argument(self, value: SSAValue) -> SSAValue:
        """Return the argument that the call passes for a parameter; NoKernel if `value` is no
        parameter."""
        if not isinstance(value, BlockArgument):
            raise NoKernel("a size is computed in the same kernel as the tensor that has it")
        return self._call.arguments[value.index]

    def _dimension(self, symbol: Symbol) -> SSAValue:
        value, axis = self.places[symbol]
        if not isinstance(value.owner, Operation):
            return self._caller.size(self._argument(value), axis)
        assert isinstance(value, OpResult)
        return self.of_result(value, axis)


def values_of(func: FuncOp) -> Iterator[SSAValue]:
    """Yield the parameters of `func`, and all other values in order."""
    yield from func.args
    for op in walk(func):
        for region in op.regions:
            if op is not func:
                for block in region.blocks:
                    yield from block.args
        yield from op.results


# The sizes of intermediate results that are not expressions of the sizes of a kernel's parameters:
# the kernel computes them when it starts.


class KernelSizes(SizeScope):
    """The sizes of the intermediate results of a kernel, computed at its start.

    A slice `x[:128]` of n elements has min(n, 128) elements, which a `Size` cannot express.
    """

    def __init__(
        self,
        func: FuncOp,
        shapes: SymbolicShapes,
        b: IndexBuilder,
        parameters: Mapping[SSAValue, SSAValue],
    ) -> None:
        """`parameters` are the buffers of the parameters of `func`."""
        super().__init__(func, shapes)
        self._b = b
        self._parameters = parameters

    def of_symbol(self, symbol: Symbol) -> SSAValue:
        """Return the value of the size `symbol`, by the shape rule of the operation whose result
        has it.

        Errors: UnknownExtent if no result in the kernel has this size, NoKernel if the rule needs a
        value that the kernel computes.
        """
        value, axis = self.places.get(symbol, (None, 0))
        return self.of_result(value, axis) if isinstance(value, OpResult) else unknown(symbol)

    def value_of(self, size: Size) -> SSAValue:
        return self._b.index(extent_of(size))

    def read_element(self, value: SSAValue, index: int) -> SSAValue:
        buffer, type = self._parameter(value), value.type
        assert is_ranked(type)
        if is_unsigned(type.element_type):
            raise NoKernel(f"a size is an element of unsigned type {type.element_type}")
        at = [self._b.index(index)] * type.get_num_dims()  # a vector, or a scalar without indices
        return self.insert(
            arith.IndexCastOp(self.insert(memref.LoadOp.get(buffer, at)), IndexType())
        )

    def read_number(self, value: SSAValue) -> SSAValue:
        return self.insert(memref.LoadOp.get(self._parameter(value), []))

    def insert(self, op: Operation) -> SSAValue:
        return self._b.at_start(op)

    def _parameter(self, value: SSAValue) -> SSAValue:
        if (buffer := self._parameters.get(value)) is None:
            raise NoKernel("a size is computed in the same kernel as the tensor that has it")
        return buffer
