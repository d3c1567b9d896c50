"""The bufferization of one function: operations on tensors become operations on buffers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TypeAlias

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, IntegerAttr, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue

from ....dialects.sizes import Size
from ....dialects.tir import ops as tir
from .arena import PlannedMemory
from .buffer_values import (
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
from .constant_globals import ConstantGlobals
from .loop_bufferizer import LoopBufferizer
from .parameter_sizes import ParameterSizes

__all__ = ["Function", "FunctionBufferizer"]

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
