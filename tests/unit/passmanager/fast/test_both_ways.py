"""`PASSLINE_ACCELERATION=check`: a part whose result is not that of xDSL is an error."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from support.tables import table_test
from xdsl.dialects.builtin import IntAttr, ModuleOp, StringAttr, i32, i64
from xdsl.dialects.test import TestOp, TestPureOp
from xdsl.ir import Operation, SSAValues
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.utils.exceptions import VerifyException

from passline.passmanager.fast import clone, creation, edit
from passline.passmanager.fast import edit as access
from passline.passmanager.fast.both_ways import AccelerationError, both_ways
from passline.passmanager.fast.edit import FieldReader
from passline.passmanager.fast.interface import OpChecks
from passline.passmanager.fast.naming_printer import NamingPrinter
from passline.passmanager.fast.parts import SETTING
from passline.passmanager.ir.text.parser import plain_reader
from passline.passmanager.registry import make_ir_context


def always(result: object) -> Any:
    """Return a function that returns the same for all arguments."""

    def function(*_: object) -> object:
        return result

    return function


class Creator:
    """A creator whose attributes, fields, results and ops are others."""

    def __init__(self, right: Any) -> None:
        self.right = right

    def make_attribute(self, cls: Any, /, **fields: object) -> Any:
        return IntAttr(7)

    def set_fields(self, op: Any, operands: Any, _: Any, attributes: Any, loc: Any) -> None:
        self.right.set_fields(op, operands, {"other": i32}, attributes, loc)

    def set_results(self, op: Operation, types: Any) -> None:
        self.right.set_results(op, [i64])

    def create_before(
        self, place: Any, cls: Any, operands: Any, types: Any, properties: Any
    ) -> Operation:
        return self.right.create_before(place, cls, operands, [], properties)


def creator(method: Callable[[Any, TestOp], object]) -> Callable[[], object]:
    def run() -> None:
        right = creation._CreatorOfXDSL()  # pyright: ignore[reportPrivateUsage]
        ModuleOp([op := TestOp(result_types=[i32])])
        assert method(both_ways("creating", right, right), op) is not NotImplemented
        method(both_ways("creating", Creator(right), right), op)

    return run


def wrong_fields() -> None:
    right = access._FIELDS_OF_XDSL  # pyright: ignore[reportPrivateUsage]
    op = TestOp(result_types=[i32])
    assert both_ways("fields", right, right).read_fields(op) == right.read_fields(op)
    wrong = FieldReader(right.read_fields, right.read_step, right.read_operands, always(i64))
    checked = both_ways("fields", wrong, right)
    assert [*checked.read_operands(op)] == []
    checked.read_type(op.results[0])


def wrong_copy() -> None:
    right = clone._ClonerOfXDSL()  # pyright: ignore[reportPrivateUsage]
    op = TestOp(attributes={"a": i32})
    assert both_ways("copying", right, right).clone(op).attributes == {"a": i32}

    class Wrong:
        def clone(self, op: Operation) -> Operation:
            return TestOp()

    both_ways("copying", Wrong(), right).clone(op)  # pyright: ignore[reportArgumentType]


def wrong_edit() -> None:
    right = edit._EditorOfXDSL()  # pyright: ignore[reportPrivateUsage]
    old, new = TestOp(result_types=[i32]).results[0], TestOp(result_types=[i32]).results[0]
    users = [TestOp([old, new]), TestOp([new, old])]
    both_ways("editing", right, right).replace_all_uses(old, new)
    assert [*users[0].operands, *users[1].operands] == [new] * 4

    class Wrong:
        def replace_all_uses(self, old: Any, new: Any) -> None:
            for use in [*old.uses][1:]:
                use.operation.operands[use.index] = new

    wrong: Any = Wrong()
    both_ways("editing", wrong, right).replace_all_uses(new, old)


def wrong_operands() -> None:
    right = edit._EditorOfXDSL()  # pyright: ignore[reportPrivateUsage]
    op, value = TestOp(), TestOp(result_types=[i32]).results[0]

    class Wrong:
        def replace_operands(self, op: Operation, operands: SSAValues) -> None: ...

    wrong: Any = Wrong()
    both_ways("editing", wrong, right).replace_operands(op, SSAValues([value]))


def wrong_reading() -> None:
    right = plain_reader()
    arguments = (make_ir_context(), "%0 = arith.constant 1 : i32", "x", 0, True, 100)
    assert both_ways("reading", right, right)(*arguments).name == "builtin.module"
    wrong = always(ModuleOp([]))
    both_ways("reading", wrong, right)(*arguments)


def wrong_printing() -> None:
    from passline.passmanager.ir.text import printer

    class Wrong(NamingPrinter):
        def print_string(self, text: str, *, indent: int | None = None) -> None:
            super().print_string(text.upper(), indent=indent)

    checked: Any = both_ways("printing", Wrong, NamingPrinter)
    attributes = {"plain": printer.PlainPrinter}
    type("ExactPrinter", (printer.PlainPrinter, checked), attributes)(StringIO()).print_op(TestOp())


def wrong_verifying() -> None:
    def refuses(op: Operation) -> None:
        raise VerifyException("no")

    def checks(*_: object) -> OpChecks:
        return OpChecks(True, (), ())

    def of_xdsl(*_: object) -> OpChecks:
        return OpChecks(False, (refuses,), ())

    with pytest.raises(VerifyException):
        found = always(OpChecks(True, (refuses,), ()))
        both_ways("verifying", found, of_xdsl)(refuses, None).all[0](TestOp())
    both_ways("verifying", checks, of_xdsl)(refuses, None).all[0](TestOp())


def wrong_patterns() -> None:
    class Renames(RewritePattern):
        def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
            op.attributes["a"] = StringAttr("b")
            rewriter.notify_op_modified(op)

    right = always(Operation)
    assert both_ways("rewriting", right, right)(Renames()) is Operation
    wrong = always(TestPureOp)
    both_ways("rewriting", wrong, right)(Renames())


@table_test(
    "work",
    [
        wrong_fields,
        creator(lambda creator, op: creator.make_attribute(StringAttr, data="x")),
        creator(lambda creator, op: creator.set_fields(TestOp(), [], {}, {}, op.location)),
        creator(lambda creator, op: creator.set_results(TestOp(), [i32])),
        creator(lambda creator, op: creator.create_before(op, TestOp, [], [i32], {})),
        wrong_copy,
        wrong_edit,
        wrong_operands,
        wrong_reading,
        wrong_printing,
        wrong_verifying,
        wrong_patterns,
    ],
)
def test_a_result_that_is_not_xdsls_is_an_error(work: Callable[[], object]):
    with pytest.raises(AccelerationError, match="differs from xDSL's own: '.*' is '.*'; PASSLINE"):
        work()


def test_the_check_changes_no_result():
    text = '%0 = "test.op"() {a = 1 : i32} : () -> i32\n"test.op"(%0) : (i32) -> ()\n'
    code = "from passline.tools.commands import opt; opt()"
    command = [sys.executable, "-c", code, "--print-op-generic", "-p", "canonicalize,cse"]
    texts = [
        subprocess.run(
            command,
            input=text,
            capture_output=True,
            text=True,
            env={**os.environ, SETTING: setting},
            check=True,
        ).stdout
        for setting in ("", "check")
    ]
    assert texts[0] == texts[1] != ""


def test_reading_finds_the_same_errors():
    right = plain_reader()
    broken = (make_ir_context(), "%0 = arith.nothing", "x", 0, True, 100)
    for reader in (right, both_ways("reading", right, right)):
        with pytest.raises(Exception, match="arith.nothing"):
            reader(*broken)
