"""The checks of op classes: which are made once for a signature, and which for each op."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.releases import needs_part
from support.tables import table_test
from xdsl.dialects import arith, func, llvm, test
from xdsl.dialects.builtin import FloatAttr, ModuleOp, StringAttr, UnregisteredOp, f32, i1, i32, i64
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, traits_def
from xdsl.traits import OpTrait
from xdsl.universe import XDSL_UNIVERSE
from xdsl.utils.exceptions import VerifyException

from passline.passmanager.errors import InvalidIRError
from passline.passmanager.fast.op_checks import OpChecks, checks_of
from passline.passmanager.ir import verifier
from passline.passmanager.ir.verifier import verify


class Around(OpTrait):
    """A trait that nobody knows."""

    def verify(self, op: Operation) -> None:
        if op.next_op is None:
            raise VerifyException("is last")


@irdl_op_definition
class AroundOp(IRDLOperation):
    name = "mine.around"
    traits = traits_def(Around())


@irdl_op_definition
class AuthorOp(IRDLOperation):
    name = "mine.author"
    operand = operand_def(f32)

    def verify_(self) -> None:
        if isinstance(self.operand.owner, arith.ConstantOp):
            raise VerifyException("has a wrong operand")


class DerivedOp(AuthorOp):
    """Inherits a verifier that xDSL has made."""


class OverridingOp(AuthorOp):
    def verify_(self) -> None: ...


def others(op_class: type[Operation]) -> int | None:
    checks = checks_of(op_class)
    return None if checks is None else len(checks.others)


@needs_part("verifying")
@table_test(
    ("op_class", "number"),
    [(arith.AddfOp, 0), (AroundOp, 1), (AuthorOp, 1), (DerivedOp, 1), (UnregisteredOp, None)],
)
def test_number_of_checks_of_each_op(op_class: type[Operation], number: int | None) -> None:
    assert others(op_class) == number


def test_an_unknown_verifier_is_run_for_each_op() -> None:
    checks = checks_of(OverridingOp)
    assert checks is not None
    assert not checks.by_signature


def adds(count: int) -> tuple[ModuleOp, list[arith.AddiOp]]:
    source = test.TestOp(result_types=[i32])
    ops = [arith.AddiOp(source.results[0], source.results[0]) for _ in range(count)]
    return ModuleOp([source, *ops]), ops


@needs_part("verifying")
def test_ops_of_a_known_signature_are_counted() -> None:
    module, _ = adds(100)
    verifier._valid.clear()  # pyright: ignore[reportPrivateUsage]
    made = verifier.OpVerifier()
    for op in module.ops:
        made.verify_op(op)
    assert made.known == 99


EDITS: list[Callable[[Operation], object]] = [
    lambda op: op.properties.clear(),
    lambda op: op.properties.update(more=StringAttr("x")),
    lambda op: op.properties.update(overflowFlags=StringAttr("x")),
    lambda op: setattr(op.results[0], "_type", i64),
    lambda op: setattr(op, "operands", [op.operands[0]]),
    lambda op: setattr(op, "operands", [test.TestOp(result_types=[i1]).results[0]] * 2),
]


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("at", [0, 1, 4])
def test_errors_are_those_of_the_whole_verifier(
    edit: Callable[[Operation], object], at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, ops = adds(5)
    edit(ops[at])
    with pytest.raises(InvalidIRError) as by_signature:
        verify(module)

    def whole(op_class: type[Operation]) -> OpChecks:
        return OpChecks(False, (op_class.verify_,), ())

    monkeypatch.setattr(verifier, "checks_of", whole)
    with pytest.raises(InvalidIRError) as expected:
        verify(module)
    assert by_signature.value.op is expected.value.op is ops[at]
    assert str(by_signature.value) == str(expected.value)


def test_a_trait_that_looks_around_sees_each_op() -> None:
    module = ModuleOp([AroundOp(), AroundOp(), last := AroundOp()])
    with pytest.raises(InvalidIRError, match="is last") as info:
        verify(module)
    assert info.value.op is last


@table_test("op_class", [AuthorOp, DerivedOp])
def test_the_verifier_of_an_author_sees_each_op(op_class: type[Operation]) -> None:
    good, bad = test.TestOp(result_types=[f32]), arith.ConstantOp(FloatAttr(0.0, f32))
    users = [op_class.create(operands=op.results) for op in (good, good, bad)]
    with pytest.raises(InvalidIRError, match="has a wrong operand") as info:
        verify(ModuleOp([good, bad, *users]))
    assert info.value.op is users[-1]


def test_regions_are_part_of_the_signature() -> None:
    good, bad = func.FuncOp("f", ([], [])), func.FuncOp("g", ([], []))
    good.body.block.add_op(func.ReturnOp())
    bad.body.block.add_op(func.ReturnOp())
    bad.body.block.insert_arg(i32, 0)
    with pytest.raises(InvalidIRError) as info:
        verify(ModuleOp([good, bad]))
    assert info.value.op is bad


def test_every_operation_of_xdsl_is_verified_by_all_that_its_class_has():
    """A class that overrides `verify` is verified by it, with `verify_` before; all others by
    `verify_`, or by checks of the same definition."""
    overriding: set[str] = set()
    for factory in XDSL_UNIVERSE.all_dialects.values():
        for op_class in factory().operations:
            checks = checks_of(op_class)
            if op_class.verify is Operation.verify:
                assert (checks is None) == (op_class.verify_ is Operation.verify_), op_class.name
                continue
            overriding.add(op_class.name)
            assert checks is not None
            assert not checks.by_signature
            assert op_class.verify_ in checks.all
            with pytest.raises(ReachedError):
                reach(op_class, checks)
    assert {"llvm.trunc", "llvm.zext", "llvm.sext"} <= overriding


class ReachedError(Exception):
    """Raised by a method that is expected to be called."""


def reach(op_class: type[Operation], checks: OpChecks) -> None:
    """Call the checks, but for `verify_`, on an op of a subclass whose `verify` raises."""

    def verify(self: Operation, verify_nested_ops: bool = True) -> None:
        assert not verify_nested_ops
        raise ReachedError

    op = type("Reached", (op_class,), {"verify": verify}).create()
    for check in checks.all:
        if check is not op_class.verify_:
            check(op)


def test_an_overriding_verifier_of_xdsl_rejects():
    value = test.TestOp(result_types=[i32]).results[0]
    module = ModuleOp([value.owner, llvm.TruncOp(value, i64)])
    with pytest.raises(InvalidIRError, match="invalid cast opcode for cast from i32 to i64"):
        verify(module)
