"""verify and verify_changes: the errors that they find, and their messages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.releases import needs_part
from support.tables import table_test
from xdsl.dialects import arith, cf, func, scf, test
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    MemRefType,
    ModuleOp,
    StringAttr,
    TensorType,
    TupleType,
    VectorType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, region_def, traits_def
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException

from passline.passmanager.errors import InvalidIRError
from passline.passmanager.fast import signatures
from passline.passmanager.ir.changes import Snapshot
from passline.passmanager.ir.location import place_of
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.verifier import OpVerifier, verify, verify_changes
from passline.passmanager.registry import make_ir_context


def add(block: Block) -> arith.AddiOp:
    """Two times the argument, returned."""
    block.add_op(op := arith.AddiOp(block.args[0], block.args[0]))
    block.add_op(func.ReturnOp(op))
    return op


def function(name: str = "f") -> func.FuncOp:
    op = func.FuncOp(name, ([i32], [i32]))
    add(op.body.block)
    return op


def first_op(function: func.FuncOp) -> Operation:
    op = function.body.block.first_op
    assert op is not None
    return op


def broken(module: ModuleOp, edit: Callable[[], object]) -> InvalidIRError:
    """Return the error of `verify_changes` after an edit, where `verify` raises one as well."""
    verify(module)
    snapshot = Snapshot(module)
    edit()
    with pytest.raises(InvalidIRError):
        verify(module)
    with pytest.raises(InvalidIRError) as info:
        verify_changes(module, snapshot.update())
    return info.value


def test_valid_module():
    verify(ModuleOp([function()]))


def test_unchanged_module_is_not_verified():
    module = ModuleOp([f := function()])
    first_op(f).properties.clear()
    verify_changes(module, Snapshot(module).update())


def test_changed_op():
    module = ModuleOp([f := function()])
    error = broken(module, lambda: first_op(f).properties.clear())
    assert error.op is first_op(f)
    assert str(error) == (
        "'arith.addi' op property 'overflowFlags' expected in operation 'arith.addi'"
    )
    assert isinstance(error.__cause__, VerifyException)


def test_error_holds_no_text_of_the_module():
    module = ModuleOp([f := function()])
    error = broken(module, lambda: first_op(f).properties.clear())
    assert not any("func.func" in note for note in error.__notes__)
    assert not hasattr(error.__cause__, "__notes__")


def test_user_of_a_value_of_another_type():
    f = func.FuncOp("f", ([i32], []))
    source = test.TestOp(result_types=[i32])
    user = arith.AddiOp(source.results[0], source.results[0])
    f.body.block.add_ops([source, user, func.ReturnOp()])
    error = broken(ModuleOp([f]), lambda: setattr(source.results[0], "_type", i64))
    assert error.op is user


def test_missing_terminator():
    module = ModuleOp([f := function()])
    last = f.body.block.last_op
    assert last is not None
    error = broken(module, lambda: f.body.block.erase_op(last))
    assert str(error) == (
        "'arith.addi' op is the last op of its block, but no terminator: expected 'func.return'"
    )


def test_empty_block():
    f = func.FuncOp("f", ([], []))
    f.body.block.add_op(end := func.ReturnOp())
    error = broken(ModuleOp([f]), lambda: f.body.block.erase_op(end))
    assert error.op is f
    assert "holds an empty block" in str(error)


def test_terminator_that_is_last_no_longer():
    module = ModuleOp([f := function()])
    error = broken(module, lambda: f.body.block.add_op(func.ReturnOp(f.body.block.args[0])))
    assert "must be the last operation in its parent block" in str(error)


def test_terminator_of_an_op_that_wants_another():
    module = ModuleOp([f := function()])
    new_type = FunctionType.from_lists([i32], [i64])
    error = broken(module, lambda: f.properties.update(function_type=new_type))
    assert error.op is f.body.block.last_op


def test_op_that_holds_what_changed():
    f = func.FuncOp("f", ([i1], []))
    branch = scf.IfOp(f.body.block.args[0], [], [test.TestOp(), scf.YieldOp()])
    f.body.block.add_ops([branch, func.ReturnOp()])
    module = ModuleOp([f])

    def other_terminator() -> None:
        block = branch.true_region.block
        last = block.last_op
        assert last is not None
        block.erase_op(last)
        block.add_op(test.TestTermOp())

    assert broken(module, other_terminator).op is branch


class JumpOp(test.TestTermOp):
    """A terminator that passes its operands to its successor."""

    name = "test.jump"

    def verify_(self) -> None:
        if len(self.operands) != len(self.successors[0].args):
            raise VerifyException("has the wrong number of operands")


def test_branch_to_a_block_with_another_argument():
    f = func.FuncOp("f", ([], []), Region([Block(), target := Block([func.ReturnOp()])]))
    entry = f.body.blocks.first
    assert entry is not None
    entry.add_op(jump := JumpOp(successors=[target]))
    assert broken(ModuleOp([f]), lambda: target.insert_arg(i32, 0)).op is jump


def test_branch_to_a_block_that_has_gone():
    f = func.FuncOp("f", ([], []), Region([Block(), target := Block([func.ReturnOp()])]))
    entry = f.body.blocks.first
    assert entry is not None
    entry.add_op(branch := cf.BranchOp(target))
    error = broken(ModuleOp([f]), lambda: f.body.detach_block(target))
    assert error.op is branch
    assert "branching to a block of a different region" in str(error)


def test_block_moved_away_from_the_op_that_its_ops_need():
    f = func.FuncOp("f", ([], []))
    f.body.block.add_op(end := func.ReturnOp())
    holder = test.TestOp(regions=[Region()])
    module = ModuleOp([f, holder])
    error = broken(module, lambda: holder.regs[0].add_block(f.body.detach_block(0)))
    assert error.op is end


def test_call_of_a_function_that_has_gone():
    caller = func.FuncOp("main", ([], []))
    caller.body.block.add_ops([call := func.CallOp("g", [], []), func.ReturnOp()])
    callee = func.FuncOp.external("g", [], [])
    module = ModuleOp([caller, callee, func.FuncOp.external("gg", [], [])])
    error = broken(module, callee.detach)
    assert error.op is call
    assert str(error).endswith("could not be found in symbol table, did you mean '@gg'?")


def test_call_of_a_function_of_another_type():
    caller = func.FuncOp("main", ([], []))
    caller.body.block.add_ops([call := func.CallOp("g", [], []), func.ReturnOp()])
    callee = func.FuncOp.external("g", [], [])
    new_type = FunctionType.from_lists([i32], [])
    module = ModuleOp([caller, callee])
    assert broken(module, lambda: callee.properties.update(function_type=new_type)).op is call


def test_symbol_defined_twice():
    module = ModuleOp([function("f"), g := function("g")])
    error = broken(module, lambda: g.properties.update(sym_name=StringAttr("f")))
    assert error.op is g
    assert str(error) == "'func.func' op redefinition of symbol 'f'"


def test_symbol_defined_twice_names_both_places():
    text = "func.func private @f()\nfunc.func private @g()\nfunc.func private @f()\n"
    module = parse_module(make_ir_context(), text, "a.mlir")
    with pytest.raises(InvalidIRError, match="symbol 'f', first defined at a.mlir:1:1") as caught:
        verify(module)
    assert place_of(caught.value.op) == " at a.mlir:3:1"


def test_use_before_definition():
    module = ModuleOp([f := function()])
    first = first_op(f)
    second = arith.AddiOp(first.results[0], first.results[0])
    f.body.block.insert_op_before(second, first)
    with pytest.raises(InvalidIRError, match="does not dominate this use"):
        verify(module)
    second.detach()

    def insert() -> None:
        f.body.block.insert_op_before(second, first)

    second.operands = [f.body.block.args[0]] * 2
    insert()
    error = broken(module, lambda: setattr(second, "operands", [first.results[0]] * 2))
    assert error.op is second


def test_value_of_another_function():
    module = ModuleOp([f := function("f"), g := function("g")])
    value = first_op(g).results[0]
    error = broken(module, lambda: setattr(first_op(f), "operands", [value, value]))
    assert "is defined outside of the region" in str(error)


def test_value_from_inside_of_another_top_level_op():
    inner = test.TestOp(result_types=[i32])
    holder = test.TestOp(regions=[[inner, test.TestTermOp()]])
    module = ModuleOp([holder, user := test.TestOp()])
    assert broken(module, lambda: setattr(user, "operands", inner.results)).op is user


def test_erased_operand():
    module = ModuleOp([a := test.TestOp(result_types=[i32]), b := test.TestOp([a.results[0]])])
    error = broken(module, lambda: module.body.block.erase_op(a, safe_erase=False))
    assert error.op is b
    assert str(error) == "'test.op' op operand #0 is an erased value"


def test_other_exceptions_of_a_verifier_are_about_the_op():
    class BrokenOp(test.TestOp):
        name = "test.broken"

        def verify_(self) -> None:
            raise ZeroDivisionError

    with pytest.raises(InvalidIRError, match="its verifier failed: ZeroDivisionError") as caught:
        verify(ModuleOp([BrokenOp()]))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_thousands_of_levels():
    innermost = nested = test.TestOp()
    for _ in range(2000):
        nested = test.TestOp(regions=[[nested, test.TestTermOp()]])
    module = ModuleOp([nested])
    snapshot = Snapshot(module)
    innermost.attributes["x"] = StringAttr("y")
    verify_changes(module, snapshot.update())
    verify(module)


@irdl_op_definition
class IsolatedOp(IRDLOperation):
    name = "mine.isolated"
    body = region_def()
    traits = traits_def(IsolatedFromAbove())


def test_the_first_error_is_that_of_xdsls_order():
    """A value from outside of an isolated op is found last, if at all, and reported first."""
    source = test.TestOp(result_types=[i32])
    inside = IsolatedOp(regions=[Region(Block([test.TestTermOp(source.results)]))])
    later = arith.AddiOp(source.results[0], source.results[0])
    later.properties.clear()
    module = ModuleOp([source, inside])
    with pytest.raises(InvalidIRError, match="IsolatedFromAbove parent") as info:
        verify(module)
    assert info.value.op is inside
    module.body.block.add_op(later)
    with pytest.raises(InvalidIRError, match="'overflowFlags' expected") as info:
        verify(module)  # ops without regions come first
    assert info.value.op is later


@table_test("isolated", [True, False])
def test_value_from_outside_in_an_unreachable_block(isolated: bool):
    source = test.TestOp(result_types=[i32])
    unreachable = Block([test.TestOp(source.results), test.TestTermOp()])
    body = Region([Block([test.TestTermOp()]), unreachable])
    holder = IsolatedOp(regions=[body]) if isolated else func.FuncOp("f", ([], []), body)
    with pytest.raises(InvalidIRError, match=r"IsolatedFromAbove|outside of the region"):
        verify(ModuleOp([source, holder]))


@table_test(
    "type",
    [
        TensorType(i32, [2, -5]),
        MemRefType(i32, [-1]),
        TupleType((TensorType(i32, [-5]),)),
        FunctionType.from_lists([], [VectorType(i32, [-5])]),
    ],
)
def test_a_negative_dimension_is_invalid(type: Attribute) -> None:
    op = test.TestOp(result_types=[type])
    with pytest.raises(InvalidIRError, match=r"'test.op' op has a type with a negative dimension"):
        verify(ModuleOp([op]))
    with pytest.raises(InvalidIRError, match="negative dimension"):
        verify(ModuleOp([func.FuncOp.external("f", [type], [])]))
    with pytest.raises(InvalidIRError, match="negative dimension"):
        verify(
            ModuleOp([test.TestOp(regions=[Region(Block([test.TestTermOp()], arg_types=[type]))])])
        )


@table_test("type", [TensorType(i32, [2**63]), MemRefType(i32, [-5, 2**70])])
def test_a_dimension_beyond_an_i64_is_invalid(type: Attribute) -> None:
    message = "'test.op' op has a type with a dimension larger than an i64"
    with pytest.raises(InvalidIRError, match=message):
        verify(ModuleOp([test.TestOp(result_types=[type])]))
    verify(ModuleOp([test.TestOp(result_types=[TensorType(i32, [2**63 - 1])])]))


def test_an_unknown_dimension_is_valid() -> None:
    verify(ModuleOp([test.TestOp(result_types=[TensorType(i32, [DYNAMIC_INDEX, 0])])]))


def test_a_verifier_that_crashes_is_an_error_of_the_op():
    """xDSL's verifier of `scf.while` expects an argument of the block for each operand."""
    end = scf.ConditionOp(condition := arith.ConstantOp.from_int_and_width(0, 1))
    before, after = Block([condition, end]), Block([scf.YieldOp()])
    start = arith.ConstantOp.from_int_and_width(0, 32)
    loop = scf.WhileOp([start.result], [], Region(before), Region(after))
    with pytest.raises(InvalidIRError, match="scf.while.*its verifier failed: IndexError"):
        verify(ModuleOp([start, loop]))


@needs_part("verifying")
def test_a_valid_op_whose_numbers_are_forgotten_stands_for_no_invalid_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(signatures, "_LIMIT", 0)  # the table of numbers starts anew with each
    flags, text = arith.IntegerOverflowAttr([]), StringAttr("text")

    def added(type: Attribute) -> arith.AddiOp:
        (value,) = test.TestOp(result_types=[type]).results
        op = arith.AddiOp.create(
            operands=[value, value], result_types=[type], properties={"overflowFlags": flags}
        )
        op.attributes["text"] = text
        return op

    OpVerifier().verify_op(added(i32))
    with pytest.raises(InvalidIRError):
        OpVerifier().verify_op(added(TupleType((i32,))))


def use_before_definition() -> ModuleOp:
    """A function without locations, in which a sum stands before its second operand."""
    function = func.FuncOp("late", ([i32], [i32]))
    one = arith.ConstantOp.from_int_and_width(1, 32)
    total = arith.AddiOp(function.body.block.args[0], one)
    function.body.block.add_ops([total, one, func.ReturnOp(total)])
    return ModuleOp([function])


def test_an_operation_without_location_is_shown():
    with pytest.raises(InvalidIRError) as found:
        verify(use_before_definition())
    place, check = found.value.__notes__
    assert place.startswith(
        'the operation has no location; it is in @late: %0 = "arith.addi"(%1, %2)'
    )
    assert check.startswith("this check of SSA dominance, which xDSL does not make, is turned off")


def test_the_check_of_dominance_is_turned_off_alone():
    module, other = use_before_definition(), use_before_definition().body.block.first_op
    assert isinstance(other, func.FuncOp)
    verify(module, dominance=False)
    before = Snapshot(module)
    other.detach()
    other.sym_name = StringAttr("other")
    module.body.block.add_op(other)
    changes = before.update()
    verify_changes(module, changes, dominance=False)
    with pytest.raises(InvalidIRError, match="does not dominate this use"):
        verify_changes(module, changes)
