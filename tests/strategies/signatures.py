"""Modules of functions, calls and unregistered operations that hold any types and attributes."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
    UnregisteredOp,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from passline.dialects.tir.functions import PrimFuncOp
from passline.dialects.tir.loops import YieldOp

from .attributes import attributes, locations, names, scalar_types, types

__all__ = ["modules"]

dictionaries = st.dictionaries(names, attributes, max_size=2)
type_lists = st.lists(types, max_size=3)
hints = st.one_of(st.none(), st.sampled_from(["x", "y", "loc", "a_b", "x_1_y"]))


def unknown_op(
    name: str,
    operands: Sequence[SSAValue],
    results: Sequence[Attribute],
    attributes: dict[str, Attribute],
    regions: Sequence[Region] = (),
    successors: Sequence[Block] = (),
) -> Operation:
    """Return an operation of a dialect that nobody knows."""
    return UnregisteredOp.with_name(name).create(
        operands=operands,
        result_types=results,
        attributes={"op_name__": StringAttr(name), **attributes},
        regions=regions,
        successors=successors,
    )


@st.composite
def unknown_ops(draw: DrawFn, values: Sequence[SSAValue], depth: int = 1) -> Operation:
    """Unregistered operations with attributes, regions, and any results."""
    operands = draw(st.lists(st.sampled_from(values), max_size=2)) if values else []
    regions: list[Region] = []
    if depth and draw(st.booleans()):
        blocks = [Block(arg_types=draw(type_lists)) for _ in range(draw(st.integers(0, 2)))]
        for block in blocks:
            block.add_op(draw(unknown_ops(block.args, depth - 1)))
            block.add_op(unknown_op("nobody.end", [], [], {}, successors=blocks[1:]))
        regions.append(Region(blocks))
    name = draw(st.sampled_from(["nobody.op", "nobody.op.of.this.name", 'no"body\\.öp']))
    return unknown_op(name, operands, draw(type_lists), draw(dictionaries), regions)


def attribute_lists(draw: DrawFn, count: int) -> ArrayAttr[DictionaryAttr] | None:
    """Draw attributes for each of `count` parameters or results; None if there are none at all."""
    entries = [draw(dictionaries) for _ in range(count)] if draw(st.booleans()) else []
    return ArrayAttr(map(DictionaryAttr, entries)) if any(entries) else None


@st.composite
def functions(draw: DrawFn, name: str) -> FuncOp:
    """Functions and declarations with any signature and attributes."""
    inputs, outputs = draw(type_lists), draw(type_lists)
    if draw(st.booleans()):
        outputs = [FunctionType.from_lists(inputs, outputs)]
    declares = draw(st.booleans())
    func = FuncOp(
        name,
        (inputs, outputs),
        Region() if declares else Region(Block(arg_types=inputs)),
        draw(st.sampled_from(["private", "public", "nested", None])),
        arg_attrs=attribute_lists(draw, len(inputs)),
        res_attrs=attribute_lists(draw, len(outputs)),
    )
    func.attributes |= draw(dictionaries)
    if draw(st.booleans()):
        func.attributes[draw(st.sampled_from([*func.properties]))] = draw(attributes)
    if not declares:
        fill(draw, func)
    return func


def fill(draw: DrawFn, func: FuncOp) -> None:
    """Give a function a body that returns values of the right types."""
    block = func.body.block
    block.add_op(draw(unknown_ops(block.args)))
    call = CallOp(func.sym_name.data, block.args, func.function_type.outputs.data)
    call.attributes |= draw(dictionaries)
    block.add_ops([call, ReturnOp(*call.results)])


@st.composite
def prim_funcs(draw: DrawFn, name: str) -> PrimFuncOp:
    """Functions on scalars with any attributes, and declarations of such."""
    inputs = draw(st.lists(scalar_types.filter(lambda type: type.name != "complex"), max_size=2))
    func = PrimFuncOp(
        name,
        inputs,
        Region() if draw(st.booleans()) else None,
        visibility=draw(st.sampled_from(["private", "public", "nested", None])),
        attributes=draw(dictionaries),
        arg_attrs=attribute_lists(draw, len(inputs)),
    )
    if not func.is_declaration:
        block = func.body.block
        block.add_ops([draw(unknown_ops(block.args, 0)), YieldOp()])
    return func


@st.composite
def modules(draw: DrawFn) -> ModuleOp:
    """Modules that verify, with locations and names of values everywhere."""
    ops: list[Operation] = []
    for name in draw(st.lists(names, max_size=3, unique=True)):
        ops.append(draw(st.one_of(functions(name), prim_funcs(name), unknown_ops(()))))
    module = ModuleOp(ops, draw(dictionaries))
    if draw(st.booleans()):
        module.sym_name = draw(names.map(StringAttr))
    for op in module.walk():
        if not isinstance(op, YieldOp):  # it is not printed, and gets a place when it is read
            op.location = draw(locations)  # pyright: ignore[reportAttributeAccessIssue]
        for value in (*op.results, *(arg for r in op.regions for b in r.blocks for arg in b.args)):
            value.name_hint = draw(hints)
    for block in (b for op in module.walk() for r in op.regions for b in r.blocks):
        for arg in block.args:
            arg.location = draw(locations)  # pyright: ignore[reportAttributeAccessIssue]
    return module
