"""The outliner: moves operations into functions of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import ConstantLike

from ...compiler.analysis.symbolic_shapes import Sizes, SymbolicShapes
from ...dialects.relax.types import is_ranked, is_tensor, shape_of, static_shape
from ...dialects.signature import with_dimension_names
from ...dialects.sizes import Size
from ...passmanager.actions import SILENT, Actions
from ...passmanager.fast.edit import erase, insert_before, read_fields, read_step
from ...passmanager.ir.walk import PRIVATE, symbol_of
from ..generic.attribute_numbering import AttributeNumbering
from ..generic.call_graph import is_opaque

MAX_NAME = 80
"""The maximal length of a function's name without its number, in characters; as in TVM."""

_FLAT = ArrayAttr[StringAttr]([])


class Outliner:
    """Moves groups of operations into private functions of a module; equal groups share one.

    Operations outside of a group for which `binds` is true are constants: a function gets its own
    copy of those that it uses. Other values from outside become parameters, in the order of their
    first use.

    With `shapes`, the parameters name the unknown sizes of their dimensions, by names that do not
    depend on those in the caller: sizes that are equal there are so in the function. Calls get the
    shapes of the values that they replace. `actions` is told which operations were merged with
    those of an equal group.
    """

    def __init__(
        self,
        module: ModuleOp,
        binds: Callable[[Operation], bool],
        shapes: SymbolicShapes | None = None,
        actions: Actions = SILENT,
    ) -> None:
        self.shapes = shapes
        self.actions = actions
        self.block = module.body.block
        self.binds = binds
        self.names = {symbol_of(op) for op in self.block.ops}
        self.suffixes: dict[str, int] = {}
        """The last number that was appended to each name."""
        self.numbers = AttributeNumbering()
        self.callees: dict[Key, Callee] = {}
        self.bound: dict[Operation, None] = {}
        """The constants that were copied into functions."""

    def outline(
        self,
        ops: Sequence[Operation],
        attributes: Mapping[str, Attribute],
        results: Sequence[SSAValue] | None = None,
        name: str | None = None,
    ) -> CallOp:
        """Move `ops` into a function with `attributes`; return the call that replaces the last one.

        `ops` must be pure and in the order of one block. The last one must be used outside of
        `ops`, the others only in `ops`; else `results` are the values with uses outside, which are
        after the last one. The function is called `name`, or after the operations.
        """
        last = ops[-1]
        inside = () if results is None else {*ops}
        if results is None:
            results = [result for result in last.results if result.first_use is not None]
        # O(operands) for each group: equal groups are found by hash, not by comparing pairs.
        group = self.describe(ops, attributes, results)
        callee = self.callees.get(group.key)
        symbol, types, kept = callee or self.name_function(name or _name_of(ops), group, ops)
        call = CallOp.create(
            operands=group.parameters,
            result_types=types.outputs.data,
            properties={"callee": symbol},
            location=last.location,
        )
        # In the place of the last one, where all operands of the group are defined.
        insert_before(last, call)
        for old, new in zip(results, call.results, strict=True):
            if self.shapes is not None:
                self.shapes.move(old, new)
            if inside:
                old.replace_uses_with_if(new, lambda use: use.operation not in inside)
            else:
                old.replace_all_uses_with(new)
        self.bound |= dict.fromkeys(group.constants)
        if callee is None:
            self.callees[group.key] = Callee(symbol, types, kept)
            self.build(ops, group, symbol, types, attributes)
        else:
            # Users before the operations that they use.
            for op, equal in zip(reversed(ops), reversed(kept), strict=True):
                self.actions.merged(op, equal)
                erase(op)
        return call

    def finish(self) -> None:
        """Erase the constants that only outlined operations used."""
        for op in self.bound:
            if op.results[0].first_use is None:
                erase(op)

    def describe(
        self,
        ops: Sequence[Operation],
        attributes: Mapping[str, Attribute],
        results: Sequence[SSAValue],
    ) -> OutlinedGroup:
        """Return the inputs of a group, and a key that is equal for structurally equal groups.

        Values are numbered in the order of their appearance, so the key of `b = exp(a); add(b, a)`
        has 0, 1, 0 for the operands and the result of `exp`, whatever the values are.
        """
        parameters: list[SSAValue] = []
        constants: list[Operation] = []
        local: dict[int, int] = {}  # id of a value -> its number
        number, numbers = self.numbers.of, self.numbers.of_all
        key: list[object] = [*numbers(attributes)]
        for op in ops:
            operands, defined, properties, extra, _, _, _ = read_fields(op)
            key.append(type(op))
            for operand in operands:
                if (position := local.get(id(operand))) is not None:
                    key.append(position)
                    continue
                local[id(operand)] = len(local)
                owner = operand.owner
                # By value, not by position: functions with different constants inside are
                # different.
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
            for result in defined:
                local[id(result)] = len(local)
                key += (None, number(result.type))
        used = [local[id(result)] for result in results]
        # Part of the key: an `add` of two unknown sizes needs one kernel if they are known to be
        # equal, and another if not.
        names = None if self.shapes is None else dimension_names(ops, parameters, self.shapes)
        return OutlinedGroup(parameters, constants, results, (*key, *used, names), names)

    def name_function(self, stem: str, group: OutlinedGroup, ops: Sequence[Operation]) -> Callee:
        """Return an unused name for the function of a group, `stem` or with a number, and its
        type."""
        name = stem
        # The suffix is remembered, so that n equal stems take n steps and not n^2.
        while name in self.names:
            self.suffixes[stem] = suffix = self.suffixes.get(stem, 0) + 1
            name = f"{stem}{suffix}"
        self.names.add(name)
        inputs = [value.type for value in group.parameters]
        outputs = [value.type for value in group.results]
        types = FunctionType.from_lists(inputs, outputs)
        return Callee(SymbolRefAttr(StringAttr(name), _FLAT), types, ops)

    def build(
        self,
        ops: Sequence[Operation],
        group: OutlinedGroup,
        symbol: SymbolRefAttr,
        types: FunctionType,
        attributes: Mapping[str, Attribute],
    ) -> None:
        """Move the operations of a group into a new function at the end of the module."""
        block = Block(arg_types=types.inputs.data)
        inside: dict[int, SSAValue] = {}  # id of a value outside -> its replacement
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
        block.add_op(ReturnOp.create(operands=group.results, location=location))
        properties: dict[str, Attribute] = {
            "sym_name": symbol.root_reference,
            "function_type": types,
            "sym_visibility": PRIVATE,
        }
        if group.names is not None:
            none = DictionaryAttr({})
            properties["arg_attrs"] = ArrayAttr(
                [with_dimension_names(none, names) for names in group.names]
            )
        func = FuncOp.create(
            properties=properties,
            attributes=attributes,
            regions=[Region(block)],
            location=location,
        )
        self.block.add_op(func)


Key: TypeAlias = tuple[object, ...]
Names: TypeAlias = tuple[str | None, ...]


class OutlinedGroup(NamedTuple):
    """The inputs and outputs of operations that become a function."""

    parameters: list[SSAValue]
    constants: list[Operation]
    """The constants outside of the group that its operations use."""
    results: Sequence[SSAValue]
    """The values that are used outside."""
    key: Key
    names: tuple[Names, ...] | None
    """The names of the dimensions of the parameters, if one is unknown."""


class Callee(NamedTuple):
    """The symbol and the type of a function that was built, and the operations moved into it."""

    symbol: SymbolRefAttr
    types: FunctionType
    ops: Sequence[Operation]


def dimension_names(
    ops: Sequence[Operation], parameters: Sequence[SSAValue], shapes: SymbolicShapes
) -> tuple[Names, ...] | None:
    """Return names for the unknown dimensions of the parameters of a group, d0, d1, ..., None for
    the others; an expression of symbols that are dimensions themselves, and one that the group
    computes, is one of their names. None if all dimensions are known."""
    types = [value.type for value in parameters]
    rows = [
        shapes.of(value) if is_ranked(type) and static_shape(type) is None else None
        for value, type in zip(parameters, types, strict=True)
    ]
    sizes = [size for row in rows for size in row or () if size.known is None]
    if not sizes:
        return None
    names: dict[Size, Size] = {}
    # Lone symbols first, so that `2 * n` beside `n` is `2 * d0`, and not a name of its own.
    for size in sorted(sizes, key=lambda size: size.lone_symbol is None):
        if size not in names:
            inner = {symbol.name: names.get(Size.symbol(symbol.name)) for symbol in size.symbols()}
            if None in inner.values():
                names[size] = Size.symbol(f"d{len(names)}")
            else:
                names[size] = size.substitute(lambda symbol, inner=inner: inner[symbol.name])
    if len(names) > 1:
        name_computed_sizes(names, ops, dict(zip(parameters, rows, strict=True)), shapes)
    return tuple(
        () if row is None else tuple(n.text if (n := names.get(size)) else None for size in row)
        for row in rows
    )


def name_computed_sizes(
    names: dict[Size, Size],
    ops: Sequence[Operation],
    rows: Mapping[SSAValue, Sizes | None],
    shapes: SymbolicShapes,
) -> None:
    """Replace the names of sizes that a group computes from others by expressions of these."""
    # `conv(x) + y` with stride 2, where x has h // 4 rows and y h // 8: these are d0 and d1 at
    # first. The convolution has h // 8 rows too, and (d0 - 1) // 2 + 1 inside, which y then has.
    given = {
        value: tuple(names.get(size, size) for size in row) for value, row in rows.items() if row
    }
    inside = SymbolicShapes.of_operations(ops, given)
    for result in (result for op in ops for result in op.results):
        for size, seen in zip(shapes.of(result) or (), inside.of(result) or ()):
            name = names.get(size)
            if name is None or (symbol := name.lone_symbol) is None or seen.text is None:
                continue
            # The symbol has to be that of no other name: it is that of a dimension no more.
            others = (other for each, other in names.items() if each != size)
            used = {each for other in (seen, *others) for each in other.symbols()}
            if seen.known is None and symbol not in used:
                names[size] = seen


def _name_of(ops: Sequence[Operation]) -> str:
    """Return a name such as `fused_conv2d_add`, of whole operation names, within MAX_NAME."""
    name = "fused"
    for op in ops:
        longer = f"{name}_{op.name.rpartition('.')[2]}"
        if len(longer) > MAX_NAME:
            break
        name = longer
    return name


def is_scalar_constant(op: Operation) -> bool:
    """Return whether `op` is a constant of rank 0, which functions copy."""
    type = op.results[0].type
    return (not is_tensor(type) or shape_of(type) == ()) and op.has_trait(
        ConstantLike, value_if_unregistered=False
    )


def fusible_functions(module: ModuleOp) -> list[FuncOp]:
    """Return the functions with a body, except functions made by fusion or marked
    `passline.skip_optimization`."""
    return [
        op
        for op in module.body.block.ops
        if isinstance(op, FuncOp) and op.body.blocks and not is_opaque(op)
    ]
