"""The bufferization of one function: operations on tensors become operations on buffers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple, Protocol, TypeAlias

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from ....dialects.signature import dimension_names_in, name_in
from ....dialects.sizes import Size, size_of_text
from ....dialects.tir import ops as tir
from ...sizes import FunctionSizes
from .arena import PlannedMemory
from .buffer_values import (
    ConstantGlobals,
    Value,
    as_parameter,
    is_buffer,
    leaf_attributes,
    leaf_names,
    leaf_types,
    leaves_of,
    nested,
    returns_buffers,
)
from .loop_bufferizer import LoopBufferizer

# The sizes of the parameters of a function, with the names of their unknown dimensions.


class CheckEqual(Protocol):
    """A function that asserts that two sizes are equal."""

    def __call__(self, left: Size, right: Size, message: str, op: Operation | None) -> None: ...


class NamedDimension(NamedTuple):
    """An unknown dimension of a parameter, with the name or expression that it is given."""

    buffer: BlockArgument
    axis: int
    text: str | None
    place: str
    """The dimension, for messages."""


class ParameterSizes:
    """Reads the sizes of parameters at the start of a function.

    In a public function, dimensions of one name, or of one expression of names, are one size: that
    it is is asserted. The callers of a private function need not keep to the names.
    """

    def __init__(self, sizes: FunctionSizes, check_equal: CheckEqual) -> None:
        self.sizes = sizes
        self.check_equal = check_equal
        self.known: dict[str, tuple[Size, str]] = {}
        """The sizes of names and expressions, and where they come from."""
        self.places: dict[str, str] = {}
        """The dimensions that define symbols."""

    def of(
        self,
        arguments: Sequence[BlockArgument],
        attributes: Iterable[DictionaryAttr] | None,
        hints: Sequence[str],
        *,
        is_public: bool,
    ) -> dict[SSAValue, tuple[Size, ...]]:
        """Return the sizes of the unknown dimensions of each buffer; `hints` are the names of the
        first of `arguments` in the text."""
        found: dict[SSAValue, tuple[Size, ...]] = {}
        rows = [*dimensions_of(arguments, ArrayAttr(attributes or ()).data, hints)]
        bare = [d for d in rows if is_public and d.text and size_of_text(d.text).lone_symbol]
        first = {d.text: d for d in reversed(bare)}
        for dimension in bare:
            if first[dimension.text] is dimension:
                self.define(dimension)
        for dimension in rows:
            text = dimension.text if is_public else None
            size = self.named(dimension, text) if text else self.read(dimension)
            found[dimension.buffer] = (*found.get(dimension.buffer, ()), size)
        return found

    def read(self, dimension: NamedDimension, name: str | None = None) -> Size:
        """Return the size of a dimension."""
        return self.sizes.dimension(dimension.buffer, dimension.axis, name, None)

    def define(self, dimension: NamedDimension) -> Size:
        """Let the size of a dimension be what its name stands for."""
        assert dimension.text is not None
        symbol = size_of_text(dimension.text).lone_symbol
        name = symbol.name if symbol else f"?= {dimension.text}"
        size = self.read(dimension, name)
        self.known[dimension.text] = size, dimension.place
        self.places[name] = dimension.place
        return size

    def named(self, dimension: NamedDimension, text: str) -> Size:
        """Return the size that a name or expression stands for, and assert that the dimension has
        it."""
        if text not in self.known:
            size = size_of_text(text)
            names = dict.fromkeys(symbol.name for symbol in size.symbols())
            if not names.keys() <= self.places.keys():
                return self.define(dimension)
            self.known[text] = size, " and ".join(self.places[name] for name in names)
        size, source = self.known[text]
        if source != dimension.place:
            message = f"{dimension.place} is '{text}': expected the size by {source}"
            self.check_equal(self.read(dimension), size, message, None)
        return size


def dimensions_of(
    arguments: Sequence[BlockArgument],
    attributes: Sequence[DictionaryAttr],
    hints: Sequence[str],
) -> Iterator[NamedDimension]:
    """Yield the unknown dimensions of all buffers."""
    for number, argument in enumerate(arguments):
        if not is_buffer(type := argument.type):
            continue
        given = attributes[number] if number < len(attributes) else DictionaryAttr({})
        hint = hints[number] if number < len(hints) else None
        name = name_in(given) or hint or f"arg{number}"
        texts = dimension_names_in(given, len(type.get_shape()))
        for axis, size in enumerate(type.get_shape()):
            if size == DYNAMIC_INDEX:
                place = f"dimension {axis} of parameter '{name}'"
                yield NamedDimension(argument, axis, texts[axis], place)


Function: TypeAlias = tir.PrimFuncOp | FuncOp
"""A function on buffers."""


class FunctionBufferizer(LoopBufferizer):
    """Builds the function on buffers that computes a function on tensors: a `tir.prim_func`, or a
    `func.func` if it computes with sizes.

    All results of a function that has one of unknown size are in allocations of their own, which it
    returns.
    """

    def __init__(self, source: FuncOp, symbols: ConstantGlobals) -> None:
        super().__init__(source, symbols)
        self.returns = returns_buffers(source.function_type)
        """Whether the function returns its results instead of writing into parameters."""
        self.parameters: dict[SSAValue, tuple[Size, ...]] = {}
        """The sizes of unknown dimensions of parameters."""

    def run(self) -> Function:
        """Return the new function."""
        op, type = self.source, self.source.function_type
        inputs = [[*map(as_parameter, leaf_types(input))] for input in type.inputs]
        outputs = [*map(as_parameter, leaves_of(type.outputs))]
        types = [*chain(*inputs), *outputs]
        region = Region()
        if not op.is_declaration:
            parameters = types[: len(types) - len(outputs)] if self.returns else types
            region.add_block(Block(arg_types=parameters))
            self.convert_body(region.block, inputs, outputs)
        result = self.function(types, len(outputs), region)
        result.location = op.location
        return result

    def function(self, types: Sequence[Attribute], results: int, region: Region) -> Function:
        """Return the new function on buffers of `types`; the last `results` of them are those of
        results."""
        op, attributes = self.source, dict(self.source.attributes)
        if not self.returns:
            attributes[tir.OUTPUTS] = IntegerAttr(results, i64)
        given, returned = self.parameter_attributes(), None
        if not self.is_dynamic:
            visibility = None if op.sym_visibility is None else op.sym_visibility.data
            return tir.PrimFuncOp(
                op.sym_name.data,
                types,
                region,
                visibility=visibility,
                attributes=attributes,
                arg_attrs=given,
            )
        split = len(types) - results if self.returns else len(types)
        if given is not None:
            parts = given.data[:split], given.data[split:]
            given, returned = (
                ArrayAttr(part) if any(each.data for each in part) else None for part in parts
            )
        type = FunctionType.from_lists(types[:split], types[split:])
        new = FuncOp(
            op.sym_name.data, type, region, op.sym_visibility, arg_attrs=given, res_attrs=returned
        )
        new.attributes |= attributes
        return new

    def parameter_attributes(self) -> ArrayAttr[DictionaryAttr] | None:
        """Return the attributes of the parameters and results for the buffers of these; None if
        there are none."""
        op, type = self.source, self.source.function_type
        if op.arg_attrs is None and op.res_attrs is None:
            return None
        inputs = op.arg_attrs or [DictionaryAttr({})] * len(type.inputs)
        outputs = op.res_attrs or [DictionaryAttr({})] * len(type.outputs)
        pairs = chain(zip(type.inputs, inputs), zip(type.outputs, outputs))
        return ArrayAttr([leaf for each in pairs for leaf in leaf_attributes(*each)])

    def result_names(self) -> Iterator[str]:
        """Yield the name hints of the result buffers.

        `%y` is `y`, the elements of a tuple `%y` are `y.0`, `y.1`; a value without a name hint, or
        with the name of another parameter, is `result0` by its position.
        """
        end = self.source.body.block.last_op
        assert isinstance(end, ReturnOp)
        taken = {argument.name_hint for argument in self.source.args}
        for position, value in enumerate(end.operands):
            name = value.name_hint
            if name is None or name in taken:
                name = f"result{position}"
            taken.add(name)
            yield from leaf_names(name, value.type)

    def use_of_memory(self) -> PlannedMemory:
        """Return the memory use of the new function."""
        return self.arena.use_of_memory(self.copies)

    def convert_body(
        self, block: Block, inputs: Sequence[Sequence[Attribute]], outputs: Sequence[Attribute]
    ) -> None:
        """Convert the body of the function into `block`."""
        block.add_op(self.sizes.start)
        if self.is_dynamic:
            self.read_parameters(block)
        arguments = iter(block.args)
        for old, types in zip(self.source.args, inputs, strict=True):
            new = [next(arguments) for _ in types]
            for argument, name in zip(new, leaf_names(old.name_hint or "", old.type), strict=True):
                argument.location = old.location
                argument.name_hint = name if old.name_hint else None
            self.values[old] = nested(old.type, iter([*map(self.argument, new)]))
        results = [*arguments]
        for argument, name in zip(results, self.result_names()):
            argument.name_hint = name
        targets = [*map(self.argument, results)]
        if self.returns:
            targets = [None] * len(outputs)
        ends = self.convert_block(self.source.body.block, block, targets)
        block.add_op(ReturnOp(*ends) if self.is_dynamic else tir.YieldOp())
        self.arena.place()

    def read_parameters(self, block: Block) -> None:
        """Read the sizes of the parameters, the arguments of `block`, at its start."""
        self.sizes.add_parameters(block.args)
        names = ParameterSizes(self.sizes, self.check_equal)
        hints = [n for old in self.source.args for n in leaf_names(old.name_hint or "", old.type)]
        is_public = self.source.sym_visibility is None
        attributes = self.parameter_attributes()
        self.parameters = names.of(block.args, attributes, hints, is_public=is_public)

    def argument(self, value: BlockArgument) -> Value:
        """Return a parameter of the new function as a converted value."""
        if not is_buffer(type := value.type):
            return value
        return self.based(value, type, self.parameters.get(value, ()))
