"""relax-topological-sort: orders, deep nests, and the memory that plan-memory needs after it."""

from __future__ import annotations

import pytest
from support.parsing import parsed
from support.suites.inprocess import passline_opt
from xdsl.dialects.builtin import i1
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.scf import IfOp, YieldOp
from xdsl.dialects.test import TestPureOp
from xdsl.ir import Block, Operation, Region, SSAValue

from passline.passes.generic.purity import Purity
from passline.passes.relax.relax_topological_sort import Direction, Order, sort_blocks

# Each letter is an operation on the results of the lower-case letters after it; x is a parameter.
CASES: list[tuple[Order, Direction, str, str]] = [
    ("depth-first", "from-inputs", "Ax Bx Cxa Dxb Ecd", "Ax Cxa Bx Dxb Ecd"),
    ("depth-first", "from-inputs", "A B Dxb Cxa Fxd Exc Gef", "A Cxa Exc B Dxb Fxd Gef"),
    ("depth-first", "from-inputs", "Ax Bx Dxb Cxa Ecd", "Ax Cxa Bx Dxb Ecd"),
    ("depth-first", "from-outputs", "Bx Ax Dxb Cxa Ecd", "Ax Cxa Bx Dxb Ecd"),
    ("depth-first", "from-outputs", "Bx Ax Dxb Cxa Exc Fxd Gcd", "Ax Cxa Exc Bx Dxb Fxd Gcd"),
    ("breadth-first", "from-inputs", "Ax Cxa Bx Dxb Ecd", "Ax Bx Cxa Dxb Ecd"),
    ("breadth-first", "from-outputs", "Ax Cxa Bx Dxb Ecd", "Ax Bx Cxa Dxb Ecd"),
    ("breadth-first", "from-outputs", "Ax Bx Cx", "Ax Bx Cx"),
]


def block_of(text: str) -> FuncOp:
    """Return a function with the operations of a case."""
    block = Block(arg_types=[i1])
    values: dict[str, SSAValue] = {"x": block.args[0]}
    for name, *operands in text.split():
        op = TestPureOp([values[letter] for letter in operands], [i1], attributes={})
        values[name.lower()] = op.results[0]
        op.results[0].name_hint = "".join([name, *operands])
        block.add_op(op)
    block.add_op(ReturnOp(values[text.split()[-1][0].lower()]))
    return FuncOp("f", ((i1,), (i1,)), Region(block))


def sort(func: FuncOp, order: Order, direction: Direction) -> None:
    sort_blocks(func, Purity(parsed("")), order=order, direction=direction)


@pytest.mark.parametrize(("order", "direction", "before", "after"), CASES)
def test_orders(order: Order, direction: Direction, before: str, after: str):
    func = block_of(before)
    for _ in range(2):  # the second time, nothing changes
        sort(func, order, direction)
        *ops, end = func.body.block.ops
        assert isinstance(end, ReturnOp)
        assert " ".join(op.results[0].name_hint or "" for op in ops) == after


def test_a_deep_nest():
    """Linear in the depth, though each condition is that of the function."""
    condition = Block(arg_types=[i1])
    inner: list[Operation] = []
    for _ in range(10_000):
        inner = [IfOp(condition.args[0], [], [*inner, YieldOp()])]
    condition.add_ops([*inner, ReturnOp()])
    sort(FuncOp("f", ((i1,), ()), Region(condition)), "depth-first", "from-outputs")


@pytest.mark.parametrize("direction", ["from-inputs", "from-outputs"])
def test_less_memory_is_needed(direction: str):
    """Four branches that end in one number each: one is in memory at a time, not all four."""
    tensor, number = "tensor<1024xf32>", "tensor<1xf32>"
    steps = [
        *(f"%a{i} = relax.cumsum %x {{axis = 0}} : ({tensor}) -> {tensor}" for i in range(4)),
        *(
            f"%b{i} = relax.sum %a{i} {{keepdims = true}} : ({tensor}) -> {number}"
            for i in range(4)
        ),
    ]
    lines = "\n".join(steps)
    text = f"""
    func.func @f(%x: {tensor}) -> tensor<4xf32> {{
      {lines}
      %r = relax.concatenate %b0, %b1, %b2, %b3 : ({", ".join([number] * 4)}) -> tensor<4xf32>
      func.return %r : tensor<4xf32>
    }}
    """

    def bytes_after(first: str) -> int:
        pipeline = f"{first}legalize-ops,plan-memory"
        result = passline_opt("-p", pipeline, "--remarks-passed=plan-memory", stdin=text)
        return int(result.stderr.partition("BytesAfter=")[2].split()[0])

    sorted_first = bytes_after(f"relax-topological-sort{{direction={direction}}},")
    assert bytes_after("") >= 4 * 4096 and sorted_first < 2 * 4096
