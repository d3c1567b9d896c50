"""verify_roundtrip: what is printed is the same IR when it is read back, or the error says why."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.passes.toy import toy_context
from support.tables import table_test
from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import ModuleOp, StringAttr, i32, i64
from xdsl.dialects.cf import Cf
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute, Block, Data, Dialect, Region
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    opt_prop_def,
    var_operand_def,
    var_region_def,
    var_result_def,
    var_successor_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from passline.passmanager import PasslineError
from passline.passmanager.ir.text.parser import parse_module
from passline.tools.roundtrip import verify_roundtrip


def context() -> Context:
    ctx = toy_context()
    for dialect in (Arith, Cf, Dialect("toy", [Odd, Swap], [Mute])):
        ctx.load_dialect(dialect)
    ctx.allow_unregistered = True
    return ctx


def problem(module: ModuleOp) -> str:
    with pytest.raises(PasslineError) as caught:
        verify_roundtrip(module, context())
    return str(caught.value)


# What comes back


@table_test(
    "text",
    [
        "",
        "builtin.module @named attributes {a.b = 1} {}",
        "builtin.module { builtin.module {} }",
        "func.func private @f(i32) -> i64",
        "func.func @f(%a: i32) -> i32 { func.return %a : i32 }",
        "func.func @f(%name: i32) { %other = arith.addi %name, %name : i32 func.return }",
        "func.func @f(%c: i1) { cf.cond_br %c, ^a, ^b ^a: cf.br ^b ^b: func.return }",
        'func.func @f() { cf.br ^b ^a: "test.op"(%x) : (i32) -> () func.return '
        '^b: %x = "test.op"() : () -> i32 cf.br ^a }',
        '"test.op"(%x) : (i32) -> () %x = "test.op"() : () -> i32',
        '"test.op"() ({}, {^a(%x: i32, %y: i64):}) {a = 0x7fc00000 : f32, b} : () -> ()',
        '%x:2 = "no.such"() <{p = "a\\22\\\\b"}> {q = #no.such<1>} : () -> (i32, !no.type<2>)',
        '"test.op"() {x = dense<"0x0000000000000080"> : tensor<2xf32>} : () -> ()',
        '"test.op"() {x = dense_resource<blob_t> : tensor<1xi32>} : () -> () '
        '{-# dialect_resources: { builtin: { blob_t: "0x0400000001000000" } } #-}',
    ],
)
def test_good(text: str) -> None:
    ctx = context()
    verify_roundtrip(parse_module(ctx, text, "x.mlir"), ctx)


def test_module_is_left_alone() -> None:
    ctx = context()
    module = parse_module(ctx, '"no.such"() {a} : () -> ()', "x.mlir")
    before, ops = str(module), list(module.walk())
    verify_roundtrip(module, ctx)
    assert str(module) == before and list(module.walk()) == ops


# What does not


@irdl_attr_definition
class Mute(Data[int]):
    """An attribute whose text leaves its value out."""

    name = "toy.mute"

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string("<>")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> int:
        parser.parse_punctuation("<")
        parser.parse_punctuation(">")
        return 0


@irdl_op_definition
class Odd(IRDLOperation):
    """An op whose custom form is read as something else: `read` makes it."""

    name = "toy.odd"

    tag = opt_prop_def(StringAttr)
    outs = var_result_def()
    bodies = var_region_def()

    @staticmethod
    def read() -> Odd:
        return odd()

    def print(self, printer: Printer) -> None:
        pass

    @classmethod
    def parse(cls, parser: Parser) -> Odd:
        return cls.read()


def odd(
    *regions: Region, results: tuple[Attribute, ...] = (), tag: str = "", **attributes: Attribute
) -> Odd:
    properties = {"tag": StringAttr(tag)} if tag else {}
    return Odd.create(
        result_types=results, properties=properties, attributes=attributes, regions=regions
    )


@pytest.mark.parametrize(
    ("make", "read", "message"),
    [
        (
            lambda: odd(a=StringAttr("x"), b=StringAttr("y")),
            lambda: odd(b=StringAttr("z")),
            "attribute 'a' is not there, was \"x\"",
        ),
        (
            lambda: odd(b=StringAttr("y")),
            lambda: odd(b=StringAttr("z")),
            'attribute \'b\' is "z", was "y"',
        ),
        (lambda: odd(), lambda: odd(tag="t"), "property 'tag' is \"t\", was not there"),
        (
            lambda: odd(results=(i32,)),
            lambda: odd(results=(i64,)),
            "has results (i64), had (i32)",
        ),
        (lambda: odd(Region()), lambda: odd(), "has 0 regions, had 1"),
        (lambda: odd(Region(Block())), lambda: odd(Region()), "has 0 blocks, had 1"),
        (
            lambda: odd(Region(Block(arg_types=[i32]))),
            lambda: odd(Region(Block(arg_types=[i32, i64]))),
            "has block arguments (i32, i64), had (i32)",
        ),
        (
            lambda: odd(Region(Block([TestOp(), TestOp()]))),
            lambda: odd(Region(Block([TestOp()]))),
            "holds 1 ops, held 2",
        ),
    ],
)
def test_difference(
    make: Callable[[], Odd],
    read: Callable[[], Odd],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Odd, "read", staticmethod(read))
    line = "%0 = toy.odd" if make().results else "toy.odd"
    assert problem(ModuleOp([TestOp(), make()])) == (
        "the module reads back differently from its custom form: "
        f"line 3: 'toy.odd' op {message}\n  {line}"
    )


def test_first_difference_is_the_one_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = Region(Block([odd(a=StringAttr("x")), TestOp()]))
    monkeypatch.setattr(Odd, "read", staticmethod(lambda: odd()))
    module = ModuleOp([TestOp(regions=[inner]), odd(b=StringAttr("y"))])
    assert "line 3: 'toy.odd' op attribute 'a' is not there" in problem(module)


def test_long_attributes_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Odd, "read", staticmethod(lambda: odd(a=StringAttr("y"))))
    text = problem(ModuleOp([odd(a=StringAttr("x" * 1000))]))
    assert f'is "y", was "{"x" * 199}...\n' in text


def test_difference_that_text_does_not_show() -> None:
    text = problem(ModuleOp([TestOp(attributes={"a": Mute(1)})]))
    assert "'test.op' op attribute 'a' is Mute(data=0), was Mute(data=1)\n" in text


@irdl_op_definition
class Swap(IRDLOperation):
    """An op that reads its operands, or its successors, in the wrong order."""

    name = "toy.swap"

    operands_ = var_operand_def()
    successors_ = var_successor_def()

    def print(self, printer: Printer) -> None:
        with printer.in_parens():
            printer.print_list(self.operands, printer.print_ssa_value)
        with printer.in_square_brackets():
            printer.print_list(self.successors, printer.print_block_name)

    @classmethod
    def parse(cls, parser: Parser) -> Swap:
        names = parser.parse_op_args_list()
        operands = [parser.resolve_operand(name, i32) for name in reversed(names)]
        return cls.create(operands=operands, successors=parser.parse_successors()[::-1])


def test_other_operands() -> None:
    values = TestOp(result_types=[i32, i32])
    module = ModuleOp([values, Swap.create(operands=values.results)])
    assert problem(module) == (
        "the module reads back differently from its custom form: "
        "line 3: 'toy.swap' op has other operands\n  toy.swap(%0, %1)[]"
    )


def test_other_successors() -> None:
    blocks = [Block(), Block()]
    entry = Block([Swap.create(successors=blocks)])
    for block in blocks:
        block.add_op(TestOp())
    module = ModuleOp([TestOp(regions=[Region([entry, *blocks])])])
    assert "'toy.swap' op has other successors\n  toy.swap()[^" in problem(module)


def test_other_op(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Odd, "read", staticmethod(lambda: Swap.create()))
    assert "line 2: 'toy.swap' op was 'toy.odd'\n  toy.odd" in problem(ModuleOp([odd()]))


def test_unregistered_op_is_called_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Odd, "read", staticmethod(lambda: context().get_op("no.such").create()))
    assert "line 2: 'no.such' op was 'toy.odd'" in problem(ModuleOp([odd()]))


# What cannot be printed, or read


def test_custom_form_that_cannot_be_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Odd, printer: Printer) -> None:
        raise NotImplementedError("no form")

    monkeypatch.setattr(Odd, "print", fail)
    message = "the module cannot be printed in custom form: NotImplementedError: no form"
    assert problem(ModuleOp([odd()])) == message


def test_custom_form_that_is_no_syntax(monkeypatch: pytest.MonkeyPatch) -> None:
    def end_badly(self: Odd, printer: Printer) -> None:
        printer.print_string(" =")

    monkeypatch.setattr(Odd, "print", end_badly)
    assert problem(ModuleOp([odd()])).startswith(
        "the module cannot be read back from its custom form: line 2: "
    )
    assert problem(ModuleOp([odd()])).endswith("\n  toy.odd =")


def test_custom_form_that_breaks_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> Odd:
        raise VerifyException("bad op")

    monkeypatch.setattr(Odd, "read", staticmethod(fail))
    message = "the module cannot be read back from its custom form: VerifyException: bad op"
    assert problem(ModuleOp([odd()])) == message


def test_generic_form_is_checked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    made = odd(a=Mute(1))
    monkeypatch.setattr(Odd, "read", staticmethod(lambda: odd(a=Mute(1))))
    assert "from its generic form: line 2: 'toy.odd' op attribute 'a'" in problem(ModuleOp([made]))
