"""Moving operations into functions of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...analysis.attribute_numbering import AttributeNumbering
from ...passmanager.ir.access import read_fields, read_step
from ...passmanager.ir.symbols import symbol_of

__all__ = ["Outliner", "erase", "fusible_functions"]

MAX_NAME = 80
"""Characters of the name of a function, before a number is added; TVM has the same limit."""

_PRIVATE = StringAttr("private")
_FLAT = ArrayAttr[StringAttr]([])


class Outliner:
    """Moves operations into private functions of a module; equal ones go into one function.

    `binds` says of an operation outside whether it is a constant to be copied into the functions
    that use it; other values from outside are parameters, in the order of their first use.
    """

    def __init__(self, module: ModuleOp, binds: Callable[[Operation], bool]) -> None:
        self.block = module.body.block
        self.binds = binds
        self.names = {symbol_of(op) for op in self.block.ops}
        self.suffixes: dict[str, int] = {}
        """The last number that was added to a name."""
        self.numbers = AttributeNumbering()
        self.known: dict[Key, Callee] = {}
        self.bound: dict[Operation, None] = {}
        """Constants that were copied."""

    def outline(self, ops: Sequence[Operation], attributes: Mapping[str, Attribute]) -> CallOp:
        """Move `ops` into a function with these attributes, and call it where the last one was.

        `ops` are pure, in order and in one block; nothing else uses the results of any but the
        last, which is used.
        """
        last = ops[-1]
        group = self.describe(ops, attributes)
        callee = self.known.get(group.key)
        symbol, types = callee or self.name_function(ops, group)
        call = CallOp.create(
            operands=group.parameters,
            result_types=types.outputs.data,
            properties={"callee": symbol},
            location=last.location,
        )
        assert last.parent is not None
        last.parent.insert_op_before(call, last)
        results = [last.results[i] for i in group.results]
        for old, new in zip(results, call.results, strict=True):
            old.replace_all_uses_with(new)
        self.bound |= dict.fromkeys(group.constants)
        if callee is None:
            self.known[group.key] = Callee(symbol, types)
            self.build(ops, group, results, symbol, types, attributes)
        else:
            erase(ops)
        return call

    def finish(self) -> None:
        """Erase the constants that only outlined operations used."""
        erase([op for op in self.bound if op.results[0].first_use is None])

    def describe(self, ops: Sequence[Operation], attributes: Mapping[str, Attribute]) -> Group:
        """What operations take from outside, and a key that is equal for equal ones."""
        parameters: list[SSAValue] = []
        constants: list[Operation] = []
        local: dict[int, int] = {}  # the number of each value, in the order in which they appear
        number, numbers = self.numbers.of, self.numbers.of_all
        key: list[object] = [*numbers(attributes)]
        for op in ops:
            operands, results, properties, extra, _, _, _ = read_fields(op)
            key.append(type(op))
            for operand in operands:
                if (known := local.get(id(operand))) is not None:
                    key.append(known)
                    continue
                local[id(operand)] = len(local)
                owner = operand.owner
                if isinstance(owner, Operation) and self.binds(owner):
                    constants.append(owner)
                    key += (type(owner), *numbers(owner.properties))
                else:
                    parameters.append(operand)
                key += (None, number(operand.type))
            if properties:
                key += numbers(properties)
            key.append(None)
            if extra:
                key += numbers(extra)
            for result in results:
                local[id(result)] = len(local)
                key += (None, number(result.type))
        used = [i for i, result in enumerate(ops[-1].results) if result.first_use is not None]
        return Group(parameters, constants, used, (*key, *used))

    def name_function(self, ops: Sequence[Operation], group: Group) -> Callee:
        """The name, which is not taken, and the type of the function of a group."""
        name = stem = _name_of(ops)
        while name in self.names:
            self.suffixes[stem] = suffix = self.suffixes.get(stem, 0) + 1
            name = f"{stem}{suffix}"
        self.names.add(name)
        inputs = [value.type for value in group.parameters]
        outputs = [ops[-1].results[i].type for i in group.results]
        return Callee(
            SymbolRefAttr(StringAttr(name), _FLAT), FunctionType.from_lists(inputs, outputs)
        )

    def build(
        self,
        ops: Sequence[Operation],
        group: Group,
        results: Sequence[SSAValue],
        symbol: SymbolRefAttr,
        types: FunctionType,
        attributes: Mapping[str, Attribute],
    ) -> None:
        """Move the operations of a group into a new function at the end of the module."""
        block = Block(arg_types=types.inputs.data)
        inside: dict[int, SSAValue] = {}  # by identity
        for value, argument in zip(group.parameters, block.args, strict=True):
            inside[id(value)] = argument
            argument.name_hint = value.name_hint
        for constant in group.constants:
            block.add_op(copy := constant.clone())
            inside[id(constant.results[0])] = copy.results[0]
        for op in ops:
            op.detach()
            operands = read_step(op)[0]
            op.operands = [inside.get(id(operand), operand) for operand in operands]
        block.add_ops(ops)
        location = ops[-1].location
        block.add_op(ReturnOp.create(operands=results, location=location))
        func = FuncOp.create(
            properties={
                "sym_name": symbol.root_reference,
                "function_type": types,
                "sym_visibility": _PRIVATE,
            },
            attributes=attributes,
            regions=[Region(block)],
            location=location,
        )
        self.block.add_op(func)


Key: TypeAlias = tuple[object, ...]


class Group(NamedTuple):
    """What is known about operations that become a function."""

    parameters: list[SSAValue]
    constants: list[Operation]
    """What they use of the constants outside."""
    results: list[int]
    """Which results of the last one are used."""
    key: Key


class Callee(NamedTuple):
    """What a call of a function needs."""

    symbol: SymbolRefAttr
    types: FunctionType


def _name_of(ops: Sequence[Operation]) -> str:
    """`fused_conv2d_add`, after the operations, the first ones if they are many."""
    name = "fused"
    for op in ops:
        longer = f"{name}_{op.name.rpartition('.')[2]}"
        if len(longer) > MAX_NAME:
            break
        name = longer
    return name


def erase(ops: Sequence[Operation]) -> None:
    """Erase operations whose results nothing else uses."""
    for op in ops:
        op.detach()
        op.drop_all_references()


def fusible_functions(module: ModuleOp) -> list[FuncOp]:
    """The functions with a body that are no result of fusion, and not to be left alone."""
    return [
        op
        for op in module.body.block.ops
        if isinstance(op, FuncOp) and op.body.blocks and _MARKS.isdisjoint(op.attributes)
    ]


_MARKS = {"passline.skip_optimization", "relax.composite", "relax.primitive"}
