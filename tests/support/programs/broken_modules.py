"""Small modules of builtin, func, arith, scf, cf, memref and tensor with one random mutation, as
text in generic form; some of them are valid, most are not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import StringIO
from random import Random

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.dialects.builtin import IndexType as Index
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.printer import Printer
from xdsl.traits import IsTerminator

from passline.passmanager.ir.walk import walk

__all__ = ["SOURCES", "mutant"]

SOURCES = (
    """func.func @main(%a: i32, %b: i32, %c: i1) -> i32 {
      %0 = arith.addi %a, %b : i32
      %1 = arith.constant 3 : i32
      %2 = arith.cmpi slt, %0, %1 : i32
      %3 = arith.select %c, %0, %1 : i32
      %4 = arith.extsi %2 : i1 to i32
      %5 = func.call @other(%3, %4) : (i32, i32) -> i32
      func.return %5 : i32
    }
    func.func private @other(i32, i32) -> i32""",
    """func.func @main(%n: index, %x: f32, %c: i1) -> f32 {
      %0 = arith.constant 0 : index
      %1 = arith.constant 1 : index
      %r = scf.for %i = %0 to %n step %1 iter_args(%s = %x) -> (f32) {
        %t = arith.addf %s, %x : f32
        %u = scf.if %c -> (f32) {
          %v = arith.mulf %t, %t : f32
          scf.yield %v : f32
        } else {
          scf.yield %x : f32
        }
        scf.yield %u : f32
      }
      func.return %r : f32
    }""",
    """func.func @main(%m: memref<4x8xf32>, %i: index) -> f32 {
      %0 = memref.alloc() : memref<4xf32>
      %1 = memref.load %m[%i, %i] : memref<4x8xf32>
      memref.store %1, %0[%i] : memref<4xf32>
      %2 = memref.dim %m, %i : memref<4x8xf32>
      %3 = memref.load %0[%2] : memref<4xf32>
      memref.dealloc %0 : memref<4xf32>
      func.return %3 : f32
    }""",
    """func.func @main(%t: tensor<4x?xf32>, %i: index, %x: f32) -> tensor<4x4xf32> {
      %0 = tensor.extract %t[%i, %i] : tensor<4x?xf32>
      %1 = tensor.dim %t, %i : tensor<4x?xf32>
      %2 = tensor.cast %t : tensor<4x?xf32> to tensor<4x4xf32>
      %3 = tensor.insert %0 into %2[%i, %1] : tensor<4x4xf32>
      %4 = tensor.empty() : tensor<4x4xf32>
      func.return %3 : tensor<4x4xf32>
    }""",
    """func.func @main(%c: i1, %a: i32) -> i32 {
      cf.cond_br %c, ^bb1(%a : i32), ^bb2
    ^bb1(%0: i32):
      %1 = arith.muli %0, %a : i32
      cf.br ^bb3(%1 : i32)
    ^bb2:
      %2 = arith.constant 7 : i32
      cf.br ^bb3(%2 : i32)
    ^bb3(%3: i32):
      func.return %3 : i32
    }
    func.func @next(%a: i32) -> i32 {
      %0 = func.call @main(%a_c, %a) : (i1, i32) -> i32
      %a_c = arith.constant true
      func.return %0 : i32
    }""".replace(
        "%0 = func.call @main(%a_c, %a) : (i1, i32) -> i32\n      %a_c = arith.constant true",
        "%a_c = arith.constant true\n      %0 = func.call @main(%a_c, %a) : (i1, i32) -> i32",
    ),
    """func.func @main(%n: i32) -> i32 {
      %z = arith.constant 0 : i32
      %o = arith.constant 1 : i32
      %r = scf.while (%a = %n) : (i32) -> i32 {
        %c = arith.cmpi sgt, %a, %z : i32
        scf.condition(%c) %a : i32
      } do {
      ^bb0(%b: i32):
        %s = arith.subi %b, %o : i32
        scf.yield %s : i32
      }
      func.return %r : i32
    }""",
)
TYPES: Sequence[Attribute] = (
    i1,
    i32,
    i64,
    f32,
    Index(),
    TensorType(f32, [4]),
    MemRefType(f32, [4, 8]),
)
ATTRIBUTES: Sequence[Attribute] = (
    IntegerAttr(3, i32),
    IntegerAttr(99, i64),
    StringAttr("text"),
    UnitAttr(),
    SymbolRefAttr("other"),
    i32,
    DenseArrayBase.from_list(i32, [1, 1, 1]),
)


def mutant(module: ModuleOp, random: Random) -> tuple[str, str]:
    """Return the name of a mutation, and a copy of the module with it in generic form."""
    while True:
        copy = module.clone()
        mutate = random.choice(MUTATIONS)
        ops = list(walk(copy))[1:]
        try:
            done = mutate(random.choice(ops), ops, random)
        except Exception:  # xDSL refuses to build it
            continue
        if done is not False:
            Printer(text := StringIO(), print_generic_format=True).print_op(copy)
            return mutate.__name__, text.getvalue()


Mutation = Callable[[Operation, list[Operation], Random], bool | None]


def nothing(op: Operation, ops: list[Operation], random: Random) -> bool | None:
    """Leave the module valid."""


def drop_operand(op: Operation, ops: list[Operation], random: Random) -> bool | None:
    at = random.randrange(len(op.operands))
    op.operands = [value for index, value in enumerate(op.operands) if index != at]


def repeat_operand(op: Operation, ops: list[Operation], random: Random) -> bool | None:
    op.operands = [*op.operands, random.choice(op.operands)]


def other_operand(op: Operation, ops: list[Operation], random: Random) -> bool | None:
    """Use any value of the module, of another type or not visible."""
    op.operands[random.randrange(len(op.operands))] = random.choice(_values(ops))


def other_type(op: Operation, ops: list[Operation], random: Random) -> bool | None:
    value = random.choice(_values(ops))
    value._type = random.choice(TYPES)  # pyright: ignore[reportPrivateUsage]


def drop_property(op: Operation, ops: list[Operation], random: Random) -> bool | None:
    del op.properties[random.choice(sorted(op.properties))]


def other_property(op: Operation, ops: list[Operation], random: Random) -> bool | None:
    op.properties[random.choice(sorted(op.properties))] = random.choice(ATTRIBUTES)


def drop_terminator(op: Operation, ops: list[Operation], random: Random) -> bool | None:
    _terminator(ops, random).erase(safe_erase=False)


def repeat_terminator(op: Operation, ops: list[Operation], random: Random) -> bool | None:
    end = _terminator(ops, random)
    assert end.parent is not None
    end.parent.insert_op_before(end.clone(), end)


def fewer_results(op: Operation, ops: list[Operation], random: Random) -> bool | None:
    unused = [op for op in ops if op.results and not any(r.first_use for r in op.results)]
    op = random.choice(unused)
    op.results = op.results[:-1]  # pyright: ignore[reportAttributeAccessIssue]


def more_results(op: Operation, ops: list[Operation], random: Random) -> bool | None:
    types = [*(result.type for result in op.results), random.choice(TYPES)]
    regions = [op.detach_region(region) for region in list(op.regions)]
    new = type(op).create(
        operands=op.operands,
        result_types=types,
        properties=op.properties,
        successors=op.successors,
        regions=regions,
    )
    assert op.parent is not None
    op.parent.insert_op_before(new, op)
    for old, result in zip(op.results, new.results, strict=False):
        old.replace_all_uses_with(result)
    op.erase()


def move(op: Operation, ops: list[Operation], random: Random) -> bool | None:
    """Move an operation before or after another one in its block."""
    assert op.parent is not None
    other = random.choice(list(op.parent.ops))
    if other is op:
        return False
    block = op.parent
    op.detach()
    random.choice((block.insert_op_before, block.insert_op_after))(op, other)
    return None


def move_out(op: Operation, ops: list[Operation], random: Random) -> bool | None:
    """Move an operation into another block."""
    block = random.choice(_blocks(ops))
    if block is op.parent or op.regions:
        return False
    op.detach()
    block.insert_ops_before([op], block.first_op) if block.first_op else block.add_op(op)
    return None


def more_arguments(op: Operation, ops: list[Operation], random: Random) -> bool | None:
    random.choice(_blocks(ops)).insert_arg(random.choice(TYPES), 0)


def fewer_arguments(op: Operation, ops: list[Operation], random: Random) -> bool | None:
    block = random.choice([block for block in _blocks(ops) if block.args])
    argument = block.args[-1]
    argument.replace_all_uses_with(random.choice(_values(ops)))
    block.erase_arg(argument)


def same_symbol(op: Operation, ops: list[Operation], random: Random) -> bool | None:
    named = [op for op in ops if "sym_name" in op.properties]
    random.choice(named).properties["sym_name"] = random.choice(named).properties["sym_name"]


def unknown_symbol(op: Operation, ops: list[Operation], random: Random) -> bool | None:
    calls = [op for op in ops if "callee" in op.properties]
    random.choice(calls).properties["callee"] = SymbolRefAttr(random.choice(("nobody", "main")))


def drop_region(op: Operation, ops: list[Operation], random: Random) -> bool | None:
    holder = random.choice([op for op in ops if op.regions])
    holder.detach_region(holder.regions[-1])


def empty_region(op: Operation, ops: list[Operation], random: Random) -> bool | None:
    block = random.choice(_blocks(ops))
    assert block.parent is not None and block.parent.block is block
    for inner in reversed(list(block.ops)):
        inner.erase(safe_erase=False)
    block.parent.erase_block(block)


MUTATIONS: Sequence[Mutation] = (
    nothing,
    drop_operand,
    repeat_operand,
    other_operand,
    other_type,
    drop_property,
    other_property,
    drop_terminator,
    repeat_terminator,
    fewer_results,
    more_results,
    move,
    move_out,
    more_arguments,
    fewer_arguments,
    same_symbol,
    unknown_symbol,
    drop_region,
    empty_region,
)


def _blocks(ops: list[Operation]) -> list[Block]:
    return [block for op in ops for region in op.regions for block in region.blocks]


def _values(ops: list[Operation]) -> list[SSAValue]:
    results = [result for op in ops for result in op.results]
    return [*results, *(argument for block in _blocks(ops) for argument in block.args)]


def _terminator(ops: list[Operation], random: Random) -> Operation:
    return random.choice([op for op in ops if op.has_trait(IsTerminator)])
