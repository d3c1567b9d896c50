"""FuseOps: limits, levels, random graphs, and operations of other projects."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from random import Random

import pytest
from support.budget import some
from support.networks import distance_in, random_network
from support.passes.results import run
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from passline.dialects.relax.contraction.linear_algebra import MatmulOp
from passline.dialects.relax.data.manipulation import TransposeOp
from passline.dialects.relax.elementwise.binary import AddOp
from passline.dialects.relax.elementwise.unary import ExpOp
from passline.dialects.relax.interfaces import Anchor, FusionKind, FusionPattern
from passline.passes.relax.fuse_ops import FuseOps, fuse_operations
from passline.passes.relax.outliner import Outliner, is_scalar_constant
from passline.passmanager import CollectingActions, PassContext
from passline.passmanager.actions import Remark
from passline.passmanager.diagnostics import Diagnostic
from passline.passmanager.ir.verifier import verify

SQUARE = TensorType(f32, [4, 4])


def module_of(build: Callable[[SSAValue, SSAValue], tuple[list[Operation], list[SSAValue]]]):
    block = Block(arg_types=[SQUARE, SQUARE])
    ops, results = build(*block.args)
    block.add_ops([*ops, ReturnOp(*results)])
    types = [SQUARE, SQUARE], [result.type for result in results]
    return ModuleOp([FuncOp("main", types, Region(block))])


def chain(count: int) -> ModuleOp:
    def build(x: SSAValue, _: SSAValue) -> tuple[list[Operation], list[SSAValue]]:
        ops: list[Operation] = [ExpOp(x)]
        while len(ops) < count:
            ops.append(ExpOp(ops[-1].results[0]))
        return ops, [ops[-1].results[0]]

    return module_of(build)


def kernels(module: ModuleOp) -> list[list[Operation]]:
    """The operations of each function that @main calls, in the order of the calls."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    calls = [op for op in functions["main"].body.block.ops if isinstance(op, CallOp)]
    return [[*functions[call.callee.string_value()].body.block.ops][:-1] for call in calls]


def sizes(module: ModuleOp) -> list[int]:
    return [len(ops) for ops in kernels(module)]


@pytest.mark.parametrize(
    ("count", "max_depth", "expected"),
    [(300, 256, [256, 44]), (20, 10, [10, 10]), (3, 1, [1, 1, 1]), (256, 256, [256])],
)
def test_no_group_is_larger_than_the_depth(count: int, max_depth: int, expected: list[int]):
    assert sizes(FuseOps(max_depth=max_depth)(chain(count))) == expected


def test_the_level_is_that_of_the_context():
    with PassContext(opt_level=0):
        assert sizes(FuseOps()(chain(3))) == [1, 1, 1]
        assert sizes(FuseOps(fuse_opt_level=1)(chain(3))) == [3]
    with PassContext(opt_level=1):
        assert sizes(FuseOps()(chain(3))) == [3]
        assert sizes(FuseOps(fuse_opt_level=0)(chain(3))) == [1, 1, 1]


def test_long_names_are_cut_and_differ():
    module = FuseOps()(chain(300))
    names = [op.sym_name.data for op in module.ops if isinstance(op, FuncOp)][1:]
    assert names == ["fused" + "_exp" * 18, "fused" + "_exp" * 18 + "1"]


def test_a_very_long_chain_and_a_value_that_all_use():
    def build(x: SSAValue, y: SSAValue) -> tuple[list[Operation], list[SSAValue]]:
        ops: list[Operation] = [ExpOp(x)]
        shared = ops[0].results[0]
        for _ in range(5000):
            ops.append(AddOp(ops[-1].results[0], shared))
        return ops, [ops[-1].results[0]]

    counts = sizes(FuseOps()(module_of(build)))
    assert sum(counts) == 5001
    assert max(counts) <= 256


def test_elements_that_are_computed_again_count_as_often():
    """A kernel of n steps would compute 2 ** n elements of the first one for each of its own."""

    def build(x: SSAValue, _: SSAValue) -> tuple[list[Operation], list[SSAValue]]:
        ops: list[Operation] = [ExpOp(x)]
        for _step in range(40):
            value = ops[-1].results[0]
            ops += [moved := TransposeOp(value), AddOp(value, moved)]
        return ops, [ops[-1].results[0]]

    counts = sizes(FuseOps()(module_of(build)))
    assert sum(counts) == 81 and max(counts) <= 20 and len(counts) <= 6


def test_locations_and_names_stay():
    module = chain(2)
    main = module.body.block.first_op
    assert isinstance(main, FuncOp)
    main.args[0].name_hint = "image"
    last = main.body.block.last_op
    assert last is not None
    last.operands[0].name_hint = "answer"
    fused = FuseOps()(module)
    main, kernel = fused.body.block.ops
    assert isinstance(main, FuncOp) and isinstance(kernel, FuncOp)
    call = main.body.block.first_op
    assert call is not None and call.results[0].name_hint == "answer"
    assert kernel.args[0].name_hint == "image"


def remarks_of(pass_: FuseOps, module: ModuleOp) -> list[tuple[str, dict[str, str | int | float]]]:
    found: list[Diagnostic] = []
    with PassContext(remark_filter="fuse", renderer=found.extend):
        pass_(module)
    return [(r.name, r.arguments) for r in found if isinstance(r, Remark)]


def test_remarks_say_what_is_fused_and_what_is_too_much():
    missed, passed = remarks_of(FuseOps(max_depth=2), chain(3))
    assert missed[0] == "MaxDepth"
    assert (missed[1]["Ops"], missed[1]["Limit"]) == (3, 2)
    assert passed[0] == "Fused"
    assert (passed[1]["Function"], passed[1]["Ops"]) == ("fused_exp_exp", 2)


def test_a_remark_says_that_two_anchors_meet():
    def build(x: SSAValue, w: SSAValue) -> tuple[list[Operation], list[SSAValue]]:
        first, second = MatmulOp(x, w), MatmulOp(w, x)
        total = AddOp(first.result, second.result)
        return [first, second, total], [total.result]

    assert [name for name, _ in remarks_of(FuseOps(), module_of(build))] == [
        "SecondAnchor",
        "Fused",
    ]


# Other projects' operations


@irdl_op_definition
class ForeignOp(Anchor, IRDLOperation):
    """A pure operation with a fusion kind."""

    name = "test.foreign"

    input = operand_def()
    result = result_def()
    traits = traits_def(Pure())


@irdl_op_definition
class EffectOp(Anchor, IRDLOperation):
    """One that has a kind, and effects that nobody knows."""

    name = "test.effect"

    input = operand_def()
    result = result_def()


@irdl_op_definition
class OpaqueOp(FusionPattern, IRDLOperation):
    """One that says that it is opaque."""

    name = "test.opaque"

    input = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def fusion_kind(self) -> FusionKind:
        return FusionKind.OPAQUE


@pytest.mark.parametrize(
    ("cls", "expected"), [(ForeignOp, ["test.foreign", "relax.exp"]), (EffectOp, ["relax.exp"])]
)
def test_operations_join_in_by_their_interface(cls: type[IRDLOperation], expected: list[str]):
    def build(x: SSAValue, _: SSAValue) -> tuple[list[Operation], list[SSAValue]]:
        first = cls.create(operands=[x], result_types=[SQUARE])
        second = ExpOp(first.results[0])
        return [first, second], [second.results[0]]

    (ops,) = kernels(FuseOps()(module_of(build)))
    assert [op.name for op in ops] == expected


def test_what_is_opaque_stays_outside():
    def build(x: SSAValue, _: SSAValue) -> tuple[list[Operation], list[SSAValue]]:
        first = OpaqueOp.create(operands=[x], result_types=[SQUARE])
        return [first], [first.results[0]]

    assert kernels(FuseOps()(module_of(build))) == []


class Denied(CollectingActions):
    """Allows no step."""

    def allowed(self, op: Operation | None = None, tag: str = "") -> bool:
        return False


def test_steps_that_are_not_allowed():
    module = chain(2)
    main = module.body.block.first_op
    assert main is not None
    outliner = Outliner(module, is_scalar_constant)
    fuse_operations(main, outliner, actions=(denied := Denied()))
    assert not denied.counts
    assert len([*module.ops]) == 1


# Random graphs


@pytest.mark.parametrize("seed", some(range(60), 2))
def test_random_graphs(seed: int):
    network = random_network(Random(seed), parts=4)
    max_depth = 4 if seed % 4 else 256
    fused = FuseOps(max_depth=max_depth)(network.module)
    verify(fused)
    assert distance_in(network, run(fused, "main", network.arguments)) is None
    for ops in kernels(fused):
        kinds = [op.fusion_kind() for op in ops if isinstance(op, FusionPattern)]
        assert 1 <= len(kinds) <= max_depth
        assert kinds.count(FusionKind.ANCHOR) <= 1
        if FusionKind.ANCHOR in kinds:
            others = [kind for kind in kinds if kind is not FusionKind.ANCHOR]
            assert all(kind <= FusionKind.BROADCAST for kind in others)
        assert FusionKind.REDUCTION not in kinds[:-1]
        assert all(any(r.uses for r in a.results) for a, _ in pairwise(ops))
