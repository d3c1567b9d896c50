"""Dominance: uses that the verifier accepts and rejects, and the answers of DominanceInfo."""

from __future__ import annotations

import itertools
import random

import pytest
from support.tables import table_test
from xdsl.context import Context
from xdsl.dialects import cf, func, test
from xdsl.dialects.builtin import Builtin, ModuleOp, i32
from xdsl.ir import Block, Dialect, Operation, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, var_region_def
from xdsl.parser import Parser

from passline.passmanager.errors import InvalidIRError
from passline.passmanager.ir.dominance import DominanceInfo, RegionKindInterface, verify_dominance
from passline.passmanager.ir.walk import walk


@irdl_op_definition
class GraphOp(IRDLOperation):
    """An op whose first region is a graph region, and the others are not."""

    name = "toy.graph"
    bodies = var_region_def()

    def has_ssa_dominance(self, region_index: int) -> bool:
        return region_index > 0


def parse(text: str) -> ModuleOp:
    ctx = Context(allow_unregistered=True)
    for dialect in (Builtin, func.Func, test.Test, cf.Cf, Dialect("toy", [GraphOp])):
        ctx.load_dialect(dialect)
    return Parser(ctx, text).parse_module()


def in_function(body: str) -> ModuleOp:
    return parse(f"func.func @f(%arg : i32, %cond : i1) {{\n{body}\n}}")


DEF = '%v = "test.op"() : () -> i32'
USE = '"test.op"(%v) : (i32) -> ()'
END = "func.return"

# mlir-opt-22 agrees on each of these, the last aside: it does not know `toy.graph`.
VALID = {
    "use after definition": f"{DEF}\n{USE}\n{END}",
    "use in a region below": f'{DEF}\n"test.op"() ({{ {USE} }}) : () -> ()\n{END}',
    "use in a dominated block": f"{DEF}\ncf.br ^a\n^a:\n{USE}\n{END}",
    "use in a dominated block that comes first": (
        f"cf.br ^b\n^a:\n{USE}\n{END}\n^b:\n{DEF}\ncf.br ^a"
    ),
    "use in a block that is not reached": f"{END}\n^a:\n{USE}\n{DEF}\n{END}",
    "use of a value that is not reached, there": f"{END}\n^a:\n{DEF}\n{END}\n^b:\n{USE}\n{END}",
    "use in a loop": f"cf.br ^a\n^a:\n{DEF}\n{USE}\ncf.br ^a",
    "use of an argument": '"test.op"(%arg) : (i32) -> ()\n' + END,
    "any order in a graph region": f'"toy.graph"() ({{ {USE}\n{DEF} }}) : () -> ()\n{END}',
    "own result in a graph region": (
        f'builtin.module {{ %v = "test.op"(%v) : (i32) -> i32 }}\n{END}'
    ),
    "own result below, in a graph region": (
        f'builtin.module {{ %v = "test.op"() ({{ {USE} }}) : () -> i32 }}\n{END}'
    ),
    "any order in an unregistered op": f'"who.knows"() ({{ {USE}\n{DEF} }}) : () -> ()\n{END}',
}
INVALID = {
    "use before definition": f"{USE}\n{DEF}\n{END}",
    "own result": '%v = "test.op"(%v) : (i32) -> i32\n' + END,
    "own result in a region": f'%v = "test.op"() ({{ {USE} }}) : () -> i32\n{END}',
    "value of a later op in a region": f'"test.op"() ({{ {USE} }}) : () -> ()\n{DEF}\n{END}',
    "value of one branch after the join": (
        f"cf.cond_br %cond, ^a, ^b\n^a:\n{DEF}\ncf.br ^b\n^b:\n{USE}\n{END}"
    ),
    "value of a block that is not reached": f"{USE}\n{END}\n^a:\n{DEF}\n{END}",
    "value of a loop before it is computed": f"cf.br ^a\n^a:\n{USE}\n{DEF}\ncf.br ^a",
    "value from inside of a region": f'{USE}\n"test.op"() ({{ {DEF} }}) : () -> ()\n{END}',
    "value from outside of an isolated op": (
        f'{DEF}\n"builtin.module"() ({{ {USE} }}) : () -> ()\n{END}'
    ),
    "order in the other region of an op with a graph region": (
        f'"toy.graph"() ({{}}, {{ {USE}\n{DEF} }}) : () -> ()\n{END}'
    ),
}


@table_test("body", VALID.values())
def test_valid(body: str):
    verify_dominance(in_function(body))


@table_test("body", INVALID.values())
def test_invalid(body: str):
    with pytest.raises(InvalidIRError, match="'test.op' op operand #0"):
        verify_dominance(in_function(body))


def test_message_names_the_value_and_the_op():
    module = in_function(INVALID["use before definition"])
    with pytest.raises(InvalidIRError) as info:
        verify_dominance(module)
    assert str(info.value) == (
        "'test.op' op operand #0 does not dominate this use: %v, result #0 of 'test.op'"
    )
    assert isinstance(info.value.op, test.TestOp)


def test_message_says_that_an_op_is_isolated():
    module = in_function(INVALID["value from outside of an isolated op"])
    with pytest.raises(InvalidIRError, match="operand #0 is defined outside of the region: %v"):
        verify_dominance(module)


def test_erased_operand():
    a = test.TestOp(result_types=[i32])
    block = Block([a, test.TestOp([a.results[0]])])
    block.erase_op(a, safe_erase=False)
    with pytest.raises(InvalidIRError, match="operand #0 is an erased value"):
        verify_dominance(test.TestOp(regions=[Region(block)]))


def test_op_that_is_not_isolated_may_use_what_comes_before_it():
    before, after = test.TestOp(result_types=[i32]), test.TestOp(result_types=[i32])
    inner = test.TestOp([before.results[0]])
    op = test.TestOp(regions=[[inner]])
    ModuleOp([func.FuncOp("f", ([], []), Region(Block([before, op, after, func.ReturnOp()])))])
    verify_dominance(op)
    inner.operands = after.results
    with pytest.raises(InvalidIRError):
        verify_dominance(op)


def test_region_kind_is_a_protocol():
    assert issubclass(GraphOp, RegionKindInterface)
    assert not issubclass(ModuleOp, RegionKindInterface)


def test_thousands_of_levels():
    nested = test.TestOp()
    for _ in range(3000):
        nested = test.TestOp(regions=[[nested]])
    verify_dominance(ModuleOp([nested]))


# DominanceInfo


def test_op_dominates_what_is_in_it_and_its_results_do_not():
    inner = test.TestOp()
    op = test.TestOp(result_types=[i32], regions=[[inner]])
    info = DominanceInfo(test.TestOp(regions=[[op]]))
    assert info.properly_dominates(op, inner)
    assert not info.properly_dominates(op.results[0], inner)
    assert not info.properly_dominates(inner, op)


def test_nothing_properly_dominates_itself_but_in_a_graph_region():
    op = test.TestOp()
    assert not DominanceInfo(test.TestOp(regions=[[op]])).properly_dominates(op, op)
    loose = test.TestOp()
    graph = GraphOp.create(regions=[Region(Block([loose]))])
    assert DominanceInfo(graph).properly_dominates(loose, loose)


def test_block_argument_dominates_the_ops_of_its_block():
    block = Block([op := test.TestOp()], arg_types=[i32])
    info = DominanceInfo(test.TestOp(regions=[Region(block)]))
    assert info.properly_dominates(block.args[0], op)
    assert info.properly_dominates(block, op)
    assert not info.properly_dominates(op, block)


def paths_avoiding(entry: Block, avoided: Block) -> set[Block]:
    """Return the blocks that are reachable on paths that avoid one block."""
    reached: set[Block] = set()
    pending = [entry]
    while pending:
        block = pending.pop()
        if block is not avoided and block not in reached:
            reached.add(block)
            last = block.last_op
            pending += () if last is None else last.successors
    return reached


@table_test("seed", range(30))
def test_random_graph_against_the_definition(seed: int):
    choose = random.Random(seed)
    blocks = [Block() for _ in range(choose.randrange(2, 14))]
    for block in blocks:
        successors = choose.choices(blocks, k=choose.choice([0, 1, 1, 2, 2, 3]))
        block.add_op(test.TestTermOp(successors=successors))
    info = DominanceInfo(test.TestOp(regions=[Region(blocks)]))
    reached = paths_avoiding(blocks[0], Block())
    for a in blocks:
        without = paths_avoiding(blocks[0], a)
        for b in blocks:
            expected = a is not b and (b not in reached or b not in without)
            assert info.properly_dominates(a, b) == expected


def test_long_chain_of_early_exits():
    blocks = [Block() for _ in range(20_000)]
    for block, following in itertools.pairwise(blocks):
        block.add_op(test.TestTermOp(successors=[following, blocks[-1]]))
    blocks[-1].add_op(test.TestTermOp())
    module = ModuleOp([test.TestOp(regions=[Region(blocks)])])
    verify_dominance(module)
    info = DominanceInfo(module)
    dominators = [block for block in blocks[:-1] if info.properly_dominates(block, blocks[-1])]
    assert dominators == [blocks[0]]
    assert info.properly_dominates(blocks[1], blocks[-2])


def test_all_ops_have_their_place():
    module = in_function(VALID["use in a region below"])
    info = DominanceInfo(module)
    ops: list[Operation] = [*walk(module)]
    assert all(info.properly_dominates(module, op) for op in ops[1:])
