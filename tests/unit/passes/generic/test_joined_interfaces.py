"""A toy dialect whose operations join the general passes by traits alone."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

import pytest
from xdsl.context import Context
from xdsl.dialects.arith import Arith, CmpiOp
from xdsl.dialects.builtin import Builtin, IntegerAttr, ModuleOp, StringAttr, SymbolRefAttr, i32
from xdsl.dialects.cf import Cf
from xdsl.dialects.func import Func
from xdsl.dialects.test import Test
from xdsl.ir import Attribute, Block, Dialect, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.traits import (
    AlwaysSpeculatable,
    CallableOpInterface,
    IsolatedFromAbove,
    IsTerminator,
    NoMemoryEffect,
    ReturnLike,
    SymbolOpInterface,
)

from passline.passes.generic.control_flow_sink import sink_operations
from passline.passes.generic.generate_runtime_verification import add_runtime_checks
from passline.passes.generic.inline import inline_calls
from passline.passes.generic.loop_invariant_code_motion import move_loop_invariant_code
from passline.passes.generic.mem2reg import promote_memory
from passline.passes.generic.sroa import replace_aggregates
from passline.passmanager import Actions, CollectingActions
from passline.passmanager.actions import RemarkKind
from passline.passmanager.diagnostics import Where
from passline.passmanager.ir.calls import CALLS, CallOpInterface, SymbolCall, callable_of
from passline.passmanager.ir.control_flow import RegionBranchTrait
from passline.passmanager.ir.loops import EachRegionLoops
from passline.passmanager.ir.memory_slots import (
    DestructurableAccessorOpInterface,
    DestructurableAllocationOpInterface,
    MemorySlot,
    PromotableAllocationOpInterface,
    PromotableMemOpInterface,
)
from passline.passmanager.ir.runtime_verification import RuntimeCheck, RuntimeVerifiableOpInterface
from passline.passmanager.ir.symbols import SymbolTables
from passline.passmanager.ir.verifier import verify
from passline.passmanager.ir.walk import walk

# The dialect.


class RoutineCallable(CallableOpInterface):
    """`toy.routine` takes and returns any numbers of i32."""

    @classmethod
    def get_callable_region(cls, op: Operation) -> Region:
        return op.regions[0]

    @classmethod
    def get_argument_types(cls, op: Operation) -> tuple[Attribute, ...]:
        return tuple(op.regions[0].block.arg_types)

    @classmethod
    def get_result_types(cls, op: Operation) -> tuple[Attribute, ...]:
        return (i32,)


@irdl_op_definition
class RoutineOp(IRDLOperation):
    name = "toy.routine"
    sym_name = prop_def(StringAttr)
    sym_visibility = prop_def(StringAttr)
    body = region_def()
    traits = traits_def(RoutineCallable(), SymbolOpInterface(), IsolatedFromAbove())


@irdl_op_definition
class GiveOp(IRDLOperation):
    name = "toy.give"
    values = var_operand_def()
    traits = traits_def(IsTerminator(), ReturnLike(), NoMemoryEffect(), AlwaysSpeculatable())


@irdl_op_definition
class RunOp(IRDLOperation):
    name = "toy.run"
    callee = prop_def(SymbolRefAttr)
    arguments = var_operand_def()
    res = var_result_def()
    traits = traits_def(SymbolCall())


@irdl_op_definition
class ForeverOp(IRDLOperation):
    name = "toy.forever"
    body = region_def()
    traits = traits_def(EachRegionLoops())


@irdl_op_definition
class TwiceOp(IRDLOperation):
    name = "toy.twice"
    value = operand_def(i32)
    res = result_def(i32)
    traits = traits_def(NoMemoryEffect(), AlwaysSpeculatable())


class MaybeFlow(RegionBranchTrait):
    """The region runs, or not."""

    def successor_regions(
        self, op: Operation, point: Operation | None, constants: object = ()
    ) -> Sequence[Region | None]:
        return (op.regions[0], None) if point is None else (None,)

    def successor_operands(
        self, op: Operation, point: Operation | None, successor: Region | None
    ) -> range:
        return range(0)


@irdl_op_definition
class MaybeOp(IRDLOperation):
    name = "toy.maybe"
    body = region_def()
    traits = traits_def(MaybeFlow())


class Cells(PromotableAllocationOpInterface, DestructurableAllocationOpInterface):
    """`toy.cells`: with one cell a slot, with two an aggregate."""

    @classmethod
    def get_promotable_slots(cls, op: Operation) -> Sequence[MemorySlot]:
        return [MemorySlot(op.results[0], i32)] if cls.count(op) == 1 else []

    @classmethod
    def get_default_value(cls, op: Operation, slot: MemorySlot) -> Operation:
        return parsed_op('%0 = "test.op"() {undefined} : () -> i32')

    @classmethod
    def get_elements(cls, op: Operation) -> Mapping[Hashable, Attribute]:
        return {0: i32, 1: i32} if cls.count(op) == 2 else {}

    @classmethod
    def allocate(cls, op: Operation, element: Attribute) -> Operation:
        return CellsOp.create(
            result_types=[op.results[0].type], properties={"count": IntegerAttr(1, i32)}
        )

    @staticmethod
    def count(op: Operation) -> int:
        assert isinstance(count := op.properties["count"], IntegerAttr)
        return count.value.data


@irdl_op_definition
class CellsOp(IRDLOperation):
    name = "toy.cells"
    count = prop_def(IntegerAttr)
    res = result_def()
    traits = traits_def(Cells())


class Access(PromotableMemOpInterface, DestructurableAccessorOpInterface):
    """`toy.get` and `toy.put` of a cell, by a number that is a property."""

    @classmethod
    def loads_from(cls, op: Operation, slot: MemorySlot) -> bool:
        return bool(op.results)

    @classmethod
    def get_stored(cls, op: Operation, slot: MemorySlot) -> SSAValue | None:
        return None if op.results else op.operands[1]

    @classmethod
    def can_uses_be_removed(cls, op: Operation, slot: MemorySlot) -> bool:
        return True

    @classmethod
    def get_index(cls, op: Operation, pointer: SSAValue) -> Hashable | None:
        assert isinstance(cell := op.properties["cell"], IntegerAttr)
        return cell.value.data

    @classmethod
    def rewire(cls, op: Operation, pointer: SSAValue) -> None:
        op.operands = [pointer, *op.operands[1:]]


@irdl_op_definition
class GetOp(IRDLOperation):
    name = "toy.get"
    cell = prop_def(IntegerAttr)
    pointer = operand_def()
    res = result_def(i32)
    traits = traits_def(Access())


@irdl_op_definition
class PutOp(IRDLOperation):
    name = "toy.put"
    cell = prop_def(IntegerAttr)
    pointer = operand_def()
    value = operand_def(i32)
    traits = traits_def(Access())


class Positive(RuntimeVerifiableOpInterface):
    """The operand is at least the result of the operation before it."""

    @classmethod
    def get_checks(cls, op: Operation) -> Iterator[RuntimeCheck]:
        compare = CmpiOp(op.operands[0], op.operands[0], "sge")
        yield RuntimeCheck([compare], compare.result, "is less than itself")


@irdl_op_definition
class RootOp(IRDLOperation):
    name = "toy.root"
    value = operand_def(i32)
    traits = traits_def(Positive())


TOY = Dialect(
    "toy",
    [RoutineOp, GiveOp, RunOp, ForeverOp, TwiceOp, MaybeOp, CellsOp, GetOp, PutOp, RootOp],
)


def parsed(text: str) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, Func, Test, Arith, Cf, TOY):
        context.load_dialect(dialect)
    return Parser(context, f"builtin.module {{\n{text}\n}}").parse_module()


def parsed_op(text: str) -> Operation:
    op = parsed(text).body.block.first_op
    assert op is not None
    op.detach()
    return op


def names(module: ModuleOp) -> list[str]:
    return [op.name for op in walk(module)][1:]


class Remarks(Actions):
    """Keeps the texts of remarks."""

    wants_remarks = True

    def __init__(self) -> None:
        self.texts: list[str] = []

    def remark(self, kind: RemarkKind, where: Where, name: str, message: str, *_: object) -> None:
        self.texts.append(message)


# The passes.

CALL = """
  "toy.routine"() <{sym_name = "f", sym_visibility = "private"}> ({
  ^bb0(%x : i32):
    %0 = "toy.twice"(%x) : (i32) -> i32
    "toy.give"(%0) : (i32) -> ()
  }) : () -> ()
  "toy.routine"() <{sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%x : i32):
    %0 = "toy.run"(%x) <{callee = @f}> : (i32) -> i32
    "toy.give"(%0) : (i32) -> ()
  }) : () -> ()
"""


def test_calls_of_any_callable_are_inlined() -> None:
    module = parsed(CALL)
    assert inline_calls(module)
    verify(module)
    assert names(module) == ["toy.routine", "toy.twice", "toy.give"]


def test_the_callee_of_a_call_is_found_by_the_interface() -> None:
    module = parsed(CALL)
    (call,) = (op for op in walk(module) if op.name == "toy.run")
    assert CALLS[type(call)] is not None
    assert callable_of(call, SymbolTables()) is module.body.block.first_op


def test_a_callee_without_the_interface_is_named() -> None:
    module = parsed("""
      "test.op"() {sym_name = "f"} : () -> ()
      "toy.run"() <{callee = @f}> : () -> ()""")
    assert not inline_calls(module, actions=(remarks := Remarks()))
    assert remarks.texts == ["'test.op' does not implement CallableOpInterface"]


def test_code_leaves_any_loop() -> None:
    module = parsed("""
      %x = "test.op"() : () -> i32
      "toy.forever"() ({
        %0 = "toy.twice"(%x) : (i32) -> i32
        "test.op"(%0) : (i32) -> ()
        "toy.give"() : () -> ()
      }) : () -> ()""")
    move_loop_invariant_code(module, recorder := CollectingActions())
    verify(module)
    assert names(module)[1:3] == ["toy.twice", "toy.forever"]
    assert recorder.counts["hoisted"] == 1


def test_code_sinks_into_any_branch() -> None:
    module = parsed("""
      func.func @f(%x : i32) {
        %0 = "toy.twice"(%x) : (i32) -> i32
        "toy.maybe"() ({
          "test.op"(%0) : (i32) -> ()
          "toy.give"() : () -> ()
        }) : () -> ()
        func.return
      }""")
    assert sink_operations(module) == 1
    verify(module)
    assert names(module)[1:3] == ["toy.maybe", "toy.twice"]


CELLS = """
  func.func @f(%x : i32) {
    %m = "toy.cells"() <{count = 2 : i32}> : () -> !test.type<"cells">
    "toy.put"(%m, %x) <{cell = 1 : i32}> : (!test.type<"cells">, i32) -> ()
    %0 = "toy.get"(%m) <{cell = 1 : i32}> : (!test.type<"cells">) -> i32
    %1 = "toy.get"(%m) <{cell = 0 : i32}> : (!test.type<"cells">) -> i32
    "test.op"(%0, %1) : (i32, i32) -> ()
    func.return
  }
"""


def test_memory_of_any_dialect_becomes_values() -> None:
    module = parsed(CELLS)
    assert promote_memory(module) == 0  # the slots are in an aggregate
    assert replace_aggregates(module) == 1
    verify(module)
    assert names(module).count("toy.cells") == 2
    assert promote_memory(module) == 2
    verify(module)
    assert names(module) == ["func.func", "test.op", "test.op", "func.return"]


@pytest.mark.parametrize(
    ("use", "reason"),
    [
        ('"test.op"(%m) : (!test.type<"cells">) -> ()', "'test.op' does not implement"),
        (
            '"toy.maybe"() ({ "toy.put"(%m, %x) <{cell = 0 : i32}> : '
            '(!test.type<"cells">, i32) -> () "toy.give"() : () -> () }) : () -> ()',
            "'toy.put' is in a region of another operation",
        ),
    ],
)
def test_memory_that_is_used_otherwise_stays(use: str, reason: str) -> None:
    module = parsed(f"""
      func.func @f(%x : i32) {{
        %m = "toy.cells"() <{{count = 1 : i32}}> : () -> !test.type<"cells">
        {use}
        func.return
      }}""")
    assert promote_memory(module, remarks := Remarks()) == 0
    assert len(remarks.texts) == 1 and remarks.texts[0].startswith(reason)


def test_checks_of_any_operation_are_inserted_once() -> None:
    module = parsed("""
      %x = "test.op"() : () -> i32
      "toy.root"(%x) : (i32) -> ()""")
    assert add_runtime_checks(module) == 1
    assert add_runtime_checks(module) == 0
    verify(module)
    assert names(module) == ["test.op", "arith.cmpi", "cf.assert", "toy.root"]


def test_an_interface_may_be_attached_by_name() -> None:
    module = parsed("""
      func.func @f() {
        "test.op"() {callee = @g} : () -> ()
        func.return
      }""")
    (call,) = (op for op in walk(module) if op.name == "test.op")
    assert CALLS[type(call)] is None
    CALLS.attach("test.op", SymbolCall())
    try:
        interface = CALLS[type(call)]
        assert isinstance(interface, CallOpInterface)
        assert interface.get_callee(call) == SymbolRefAttr("g")
    finally:
        del CALLS.models["test.op"]
        CALLS.clear()


def test_a_nest_of_loops_of_any_depth() -> None:
    depth = 5000
    block = Block([TwiceOp.create(result_types=[i32]), GiveOp.create()])
    for _ in range(depth):
        block = Block([ForeverOp.create(regions=[Region(block)]), GiveOp.create()])
    module = ModuleOp([value := parsed_op('%0 = "test.op"() : () -> i32')])
    holder = block.first_op
    assert holder is not None
    holder.detach()
    module.body.block.add_op(holder)
    (twice,) = (op for op in walk(module) if isinstance(op, TwiceOp))
    twice.operands = [value.results[0]]
    move_loop_invariant_code(module)
    assert twice.parent is module.body.block
