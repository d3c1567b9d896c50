"""The sizes of tensors in callers of kernels: values of type index, computed beside the calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from ...analysis.shapes.symbolic_shapes import SymbolicShapes
from ...dialects.relax.constant import constant_integers, constant_number
from ...dialects.relax.types import is_ranked, is_tensor
from ...dialects.size_values import SizeValues
from ...dialects.sizes import Size, Symbol
from ...passmanager.ir.walk import walk
from ..no_kernel import NoKernel
from .rules import rule_of

__all__ = ["CallSizes"]


class CallSizes:
    """The sizes of the tensors of a function, as values.

    A size that depends on the parameters alone is computed at the start of the function, another
    before the first operation that needs it in a block.
    """

    def __init__(self, func: FuncOp, shapes: SymbolicShapes, callees: Mapping[str, FuncOp]) -> None:
        """`callees` are the functions that became kernels, as they were before."""
        self._func = func
        self._shapes = shapes
        self._callees = callees
        self._places: dict[Symbol, tuple[SSAValue, int]] = {}
        """The first value with a dimension of each symbol, and this dimension."""
        self._last: Operation | None = None
        """The last operation at the start of the function."""
        self._constants: dict[int, SSAValue] = {}
        self._at_start = SizeValues(self.insert_at_start, self.constant, self._parameter)
        self._in_block: dict[Block, SizeValues] = {}
        self._before: Operation | None = None
        self._find_symbols()

    def of_results(self, op: Operation) -> list[SSAValue]:
        """Return the size of each unknown dimension of the results of `op`; NoKernel if one cannot
        be computed before it."""
        return [size for result in op.results for size in self.of_dimensions(result, op, False)]

    def of_dimensions(
        self, value: SSAValue, before: Operation, known: bool = True
    ) -> list[SSAValue]:
        """Return the sizes of the dimensions of `value`, the `known` ones too, computed before an
        operation."""
        type = value.type
        if not is_ranked(type):
            raise NoKernel(f"the rank of {type} is not known")
        return [
            self.of(value, axis, before)
            for axis, size in enumerate(type.get_shape())
            if known or size == DYNAMIC_INDEX
        ]

    def of(self, value: SSAValue, axis: int, before: Operation) -> SSAValue:
        """Return the size of a dimension of `value`, computed before an operation."""
        self._before = before
        shape = self._shapes.of(value)
        assert shape is not None
        return self.value_of(shape[axis])

    def value_of(self, size: Size) -> SSAValue:
        """Return the value of `size` before the current operation."""
        if all(self._is_parameter(symbol) for symbol in size.symbols()):
            return self._at_start.of(size)
        assert self._before is not None
        block = self._before.parent
        assert block is not None
        if (values := self._in_block.get(block)) is None:
            values = SizeValues(self.insert, self.constant, self._dimension)
            self._in_block[block] = values
        return values.of(size)

    # Operations

    def insert(self, op: Operation) -> SSAValue:
        """Insert `op` before the current operation and return its result."""
        before = self._before
        assert before is not None and before.parent is not None
        op.location = before.location
        before.parent.insert_op_before(op, before)
        return op.results[0]

    def insert_at_start(self, op: Operation) -> SSAValue:
        """Insert `op` after those that were inserted at the start before it."""
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

    def _find_symbols(self) -> None:
        for value in values_of(self._func):
            if is_tensor(value.type):
                for axis, size in enumerate(self._shapes.of(value) or ()):
                    if (symbol := size.lone_symbol) is not None:
                        self._places.setdefault(symbol, (value, axis))

    def _is_parameter(self, symbol: Symbol) -> bool:
        place = self._places.get(symbol)
        return place is not None and place[0].owner is self._func.body.block

    def _is_result(self, symbol: Symbol) -> bool:
        """Return whether `symbol` is known as a size of a result of the current operation."""
        place = self._places.get(symbol)
        return place is not None and place[0].owner is self._before

    def _parameter(self, symbol: Symbol) -> SSAValue:
        value, axis = self._places[symbol]
        return self.insert_at_start(tensor.DimOp(value, self.constant(axis)))

    def _dimension(self, symbol: Symbol) -> SSAValue:
        """Return the size that `symbol` is: it is computed for the result of a kernel or a view,
        and read from any other value."""
        if self._is_parameter(symbol):
            return self._at_start.of(Size.symbol(symbol.name))
        if (place := self._places.get(symbol)) is None:
            raise NoKernel("a size is a dimension of no tensor")
        value, axis = place
        if (owner := value.owner) is self._before:
            assert isinstance(value, OpResult)
            if isinstance(owner, CallOp):
                callee = self._callees[owner.callee.string_value()]
                return CalleeScope(self, owner, callee).result(value.index, axis)
            assert isinstance(owner, Operation)
            if (rule := rule_of(value)) is None:
                raise NoKernel(f"the size of the result of '{owner.name}' is not known before it")
            return rule(axis, self)
        return self.insert(tensor.DimOp(value, self.constant(axis)))

    # The scope of rules

    def size(self, value: SSAValue, axis: int) -> SSAValue:
        """Return the size of a dimension of `value` before the current operation."""
        shape = self._shapes.of(value)
        assert shape is not None
        if any(map(self._is_result, shape[axis].symbols())):
            # The size of an operand is `2 * h` where `h` is that of the result: it is read.
            return self.insert(tensor.DimOp(value, self.constant(axis)))
        return self.value_of(shape[axis])

    def element(self, value: SSAValue, index: int) -> SSAValue:
        """Return an element of a vector of integers, or of a scalar."""
        elements = self._shapes.elements_of(value)
        if elements is not None and (element := elements[index]) is not None:
            return self.value_of(element)
        if (known := constant_integers(value)) is not None:
            return self.constant(known[index])
        type = value.type
        assert is_ranked(type)
        at = [self.constant(index)] * type.get_num_dims()
        element = self.insert(tensor.ExtractOp(value, at, type.element_type))
        return self.insert(arith.IndexCastOp(element, IndexType()))

    def number(self, value: SSAValue) -> SSAValue:
        """Return the number in a scalar."""
        type = value.type
        assert is_ranked(type)
        return self.insert(tensor.ExtractOp(value, [], type.element_type))

    def constants(self, value: SSAValue) -> Sequence[int]:
        """Return the integers of a constant vector."""
        if (numbers := constant_integers(value)) is None:
            raise NoKernel("a parameter that has to be constant is not")
        return numbers


class CalleeScope:
    """The sizes in a function that became a kernel, computed in its caller for a call."""

    def __init__(self, caller: CallSizes, call: CallOp, callee: FuncOp) -> None:
        self._caller = caller
        self._call = call
        self._callee = callee
        self._shapes = SymbolicShapes.of_function(callee)
        self._places: dict[Symbol, tuple[SSAValue, int]] = {}
        for value in values_of(callee):
            for axis, size in enumerate(self._shapes.of(value) or ()):
                if (symbol := size.lone_symbol) is not None:
                    self._places.setdefault(symbol, (value, axis))
        self._values = SizeValues(caller.insert, caller.constant, self._dimension)

    def result(self, number: int, axis: int) -> SSAValue:
        """Return the size of a dimension of a result."""
        end = self._callee.body.block.last_op
        assert isinstance(end, ReturnOp)
        return self.size(end.operands[number], axis)

    def size(self, value: SSAValue, axis: int) -> SSAValue:
        shape = self._shapes.of(value)
        assert shape is not None
        return self._values.of(shape[axis])

    def element(self, value: SSAValue, index: int) -> SSAValue:
        elements = self._shapes.elements_of(value)
        if elements is not None and (element := elements[index]) is not None:
            return self._values.of(element)
        if (known := constant_integers(value)) is not None:
            return self.constant(known[index])
        if value.owner is not self._callee.body.block:
            raise NoKernel("a size is computed in the same kernel as the tensor that has it")
        return self._caller.element(self._argument(value), index)

    def number(self, value: SSAValue) -> SSAValue:
        if value.owner is self._callee.body.block:
            return self._caller.number(self._argument(value))
        if (number := constant_number(value)) is None:
            raise NoKernel("a size is computed in the same kernel as the tensor that has it")
        return self.insert(arith.ConstantOp(number))

    def constants(self, value: SSAValue) -> Sequence[int]:
        if not isinstance(value.owner, Operation):
            value = self._argument(value)
        return self._caller.constants(value)

    def insert(self, op: Operation) -> SSAValue:
        return self._caller.insert(op)

    def constant(self, number: int) -> SSAValue:
        return self._caller.constant(number)

    def _argument(self, parameter: SSAValue) -> SSAValue:
        assert isinstance(parameter, BlockArgument)
        return self._call.arguments[parameter.index]

    def _dimension(self, symbol: Symbol) -> SSAValue:
        value, axis = self._places[symbol]
        if not isinstance(value.owner, Operation):
            return self._caller.size(self._argument(value), axis)
        assert isinstance(value, OpResult)
        if (rule := rule_of(value)) is None:
            raise NoKernel(f"the size of a result of '{value.owner.name}' is not known before it")
        return rule(axis, self)


def values_of(func: FuncOp) -> Iterator[SSAValue]:
    """Yield the parameters of `func`, and all other values in order."""
    yield from func.args
    for op in walk(func):
        for region in op.regions:
            if op is not func:
                for block in region.blocks:
                    yield from block.args
        yield from op.results
