"""Delta debugging: what goes, what stays, and how much is tried."""

from __future__ import annotations

from collections.abc import Callable

from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from passline.passmanager import InvalidIRError
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.verifier import verify
from passline.passmanager.ir.walk import walk
from passline.passmanager.registry import make_ir_context
from passline.tools.reduce.reductions import REDUCTIONS, op_count, smaller_lists, smaller_modules


def parse(text: str) -> ModuleOp:
    return parse_module(make_ir_context(allow_unregistered=True), text, "x.mlir")


def holds(*names: str) -> Callable[[ModuleOp], bool]:
    """Whether there are ops of all these names, and the module is valid."""

    def ask(module: ModuleOp) -> bool:
        verify(module)
        return {*names} <= {op.name for op in walk(module)}

    return ask


def reduced(text: str, interesting: Callable[[ModuleOp], bool]) -> str:
    """The lines in the module that is left; each step is smaller, and the input is left alone."""
    module = parse(text)
    before, best = str(module), module
    for step in smaller_modules(module, interesting):
        assert step.what in REDUCTIONS and str(step.module) != str(best)
        best = step.module
    assert str(module) == before
    assert [*smaller_modules(best, interesting)] == []
    verify(best)
    return "\n".join(line.strip() for line in str(best).splitlines()[1:-1])


def function(body: str, type: str = "(%a: i32, %b: i1) -> i32", result: str = "%a : i32") -> str:
    return f"func.func @f{type} {{\n{body}\nfunc.return {result}\n}}\n"


def test_all_goes() -> None:
    assert reduced(function("%c = arith.addi %a, %a : i32"), lambda module: True) == ""


def test_nothing_is_asked_about_an_empty_module() -> None:
    assert [*smaller_modules(ModuleOp([]), lambda module: 1 / 0 > 0)] == []


def test_users_of_an_op_get_an_operand_of_the_type() -> None:
    body = "%c = arith.addi %a, %a : i32\n%d = arith.muli %c, %c : i32"
    assert reduced(function(body, result="%d : i32"), holds("arith.muli")) == (
        "func.func @f(%a: i32) {\n%d = arith.muli %a, %a : i32\nfunc.return\n}"
    )


def test_users_of_an_op_get_a_source_if_there_is_nothing_else() -> None:
    body = '%c, %e = "test.op"() : () -> (f32, f32)\n%d = arith.mulf %c, %e : f32'
    assert reduced(function(body), holds("arith.mulf")) == (
        "func.func @f() {\n%c = builtin.unrealized_conversion_cast to f32\n"
        "%d = arith.mulf %c, %c : f32\nfunc.return\n}"
    )


def test_symbols_go_with_what_names_them() -> None:
    text = (
        "func.func private @g() -> i32\n"
        + function("%c = func.call @g() : () -> i32\n%d = arith.muli %c, %a : i32")
        + "func.func @h(%a: i32, %b: i1) -> i32 {\n"
        "%c = func.call @f(%a, %b) : (i32, i1) -> i32\nfunc.return %c : i32\n}"
    )
    assert reduced(text, holds("arith.muli")).count("func.func") == 1


def test_bodies_become_declarations() -> None:
    text = function("") + (
        "func.func @h(%a: i32, %b: i1) -> i32 {\n"
        "%c = func.call @f(%a, %b) : (i32, i1) -> i32\nfunc.return %c : i32\n}"
    )
    assert reduced(text, holds("func.call")) == (
        "func.func private @f() -> ()\nfunc.func @h() {\nfunc.call @f() : () -> ()\nfunc.return\n}"
    )


@table_test("branch", [0, 1])
def test_control_flow_gives_way_to_its_content(branch: int) -> None:
    first, second = [("arith.muli", "arith.addi"), ("arith.addi", "arith.muli")][branch]
    body = (
        f"%c = scf.if %b -> (i32) {{\n%d = {first} %a, %a : i32\nscf.yield %d : i32\n}} else {{\n"
        f"%d = {second} %a, %a : i32\nscf.yield %d : i32\n}}"
    )
    left = reduced(function(body, result="%c : i32"), holds("arith.muli"))
    assert left == "func.func @f(%a: i32) {\n%d = arith.muli %a, %a : i32\nfunc.return\n}"


def test_arguments_of_loops_get_stand_ins() -> None:
    body = (
        "%z = arith.constant 0 : index\n"
        "%r = scf.for %i = %z to %z step %z iter_args(%s = %a) -> (i32) {\n"
        "%d = arith.index_cast %i : index to i32\n%e = arith.muli %s, %d : i32\n"
        "scf.yield %e : i32\n}"
    )
    left = reduced(function(body, result="%r : i32"), holds("arith.muli", "arith.index_cast"))
    assert "scf.for" not in left and "unrealized_conversion_cast to index" in left


CFG = """\
cf.cond_br %b, ^x(%a : i32), ^y
^x(%c: i32):
%d = arith.muli %c, %a : i32
cf.br ^z(%d : i32)
^y:
cf.br ^z(%a : i32)
^z(%e: i32):"""


def test_blocks_are_merged_and_left_out() -> None:
    left = reduced(function(CFG, result="%e : i32"), holds("arith.muli"))
    assert left == "func.func @f(%a: i32) {\n%d = arith.muli %a, %a : i32\nfunc.return\n}"


def test_branches_stay_if_they_are_what_is_interesting() -> None:
    left = reduced(function(CFG, result="%e : i32"), holds("cf.cond_br"))
    assert left.count("^") == 2 + 2  # two blocks, and the branch to them


def test_a_loop_of_blocks() -> None:
    body = "cf.br ^l(%a : i32)\n^l(%c: i32):\n%d = arith.muli %c, %a : i32\n"
    body += "cf.cond_br %b, ^l(%d : i32), ^e\n^e:"
    left = reduced(function(body), holds("arith.muli"))
    assert "cf." not in left


def test_arguments_and_results_that_are_needed_stay() -> None:
    text = function(
        "%d = arith.muli %a, %c : i32",
        "(%a: i32, %b: i1, %c: i32) -> (i32, i1)",
        "%d, %b : i32, i1",
    )
    text += (
        "func.func @h(%a: i32, %b: i1) -> i1 {\n"
        "%c, %d = func.call @f(%a, %b, %a) : (i32, i1, i32) -> (i32, i1)\n"
        "func.call @k(%d) : (i1) -> ()\nfunc.return %d : i1\n}\nfunc.func private @k(i1)"
    )

    def used(op: Operation) -> bool:
        return op.name == "func.call" and bool(op.results) and op.results[0].first_use is not None

    left = reduced(text, lambda module: any(map(used, walk(module))))
    assert left == (
        "func.func private @f() -> i1\nfunc.func @h() -> i1 {\n"
        "%d = func.call @f() : () -> i1\nfunc.return %d : i1\n}"
    )


def test_attributes_that_need_not_be_go() -> None:
    text = "func.func @f(%a: i32 {x.y}) attributes {x.z} {\n"
    text += '"test.op"() {p = 1 : i32} : () -> ()\nfunc.return\n}'
    assert reduced(text, holds("test.op")) == (
        'func.func @f() {\n"test.op"() : () -> ()\nfunc.return\n}'
    )


def test_an_attribute_that_is_interesting_stays() -> None:
    left = reduced(
        '"test.op"() {p = 1 : i32, q = 2 : i32, r} : () -> ()',
        lambda module: any("q" in op.attributes for op in walk(module)),
    )
    assert left == '"test.op"() {q = 2 : i32} : () -> ()'


def test_constants_become_fills() -> None:
    body = "%c = arith.constant dense<[1, 2, 3]> : tensor<3xi32>"
    left = reduced(function(body), holds("arith.constant"))
    assert "dense<1> : tensor<3xi32>" in left


def test_unregistered_ops() -> None:
    body = '%c = "x.y"(%a) ({\n%d = "x.z"() : () -> i32\n"x.w"(%d) : (i32) -> ()\n}) : (i32) -> i32'

    def has_z(module: ModuleOp) -> bool:
        return "x.z" in str(module)

    left = reduced(function(body, result="%c : i32"), has_z)
    assert left == 'func.func @f() {\n%d = "x.z"() : () -> i32\nfunc.return\n}'


def test_nested_modules() -> None:
    text = f"builtin.module @m {{\n{function('%c = arith.muli %a, %a : i32')}}}\n{function('')}"
    left = reduced(text, holds("arith.muli"))  # a module without a name gives way to its content
    assert left == "func.func @f(%a: i32) {\n%c = arith.muli %a, %a : i32\nfunc.return\n}"


def test_only_valid_modules_are_asked_about_unless_the_input_is_invalid() -> None:
    def ask(module: ModuleOp) -> bool:
        try:
            verify(module)
        except InvalidIRError:
            invalid.append(module)
        return str(module).count("test.op") >= 2

    first, second = '%c = "test.op"() : () -> i32', '"test.op"(%c) : (i32) -> ()'
    invalid: list[ModuleOp] = []
    steps = [*smaller_modules(parse(function(f"{first}\n{second}\n{second}")), ask)]
    assert not invalid and str(steps[-1].module).count("test.op") == 2
    module = parse(function(f"{second}\n{first}\n{second}"))
    steps = [*smaller_modules(module, ask, verified=False)]
    assert invalid and str(steps[-1].module).count("test.op") == 2


def test_what_is_asked_may_change_what_it_gets() -> None:
    def ask(module: ModuleOp) -> bool:
        found = any(op.name == "arith.muli" for op in walk(module))
        for op in [*module.ops]:
            op.detach()
        return found

    left = reduced(function("%d = arith.muli %a, %a : i32"), ask)
    assert left == "func.func @f(%a: i32) {\n%d = arith.muli %a, %a : i32\nfunc.return\n}"


def test_few_are_asked_about() -> None:
    body = "".join(f"%c{n} = arith.addi %a, %a : i32\n" for n in range(1000))
    body += "%d = arith.muli %c7, %c900 : i32"
    asked: list[int] = []

    def ask(module: ModuleOp) -> bool:
        asked.append(op_count(module))
        return holds("arith.muli")(module)

    reduced(function(body), ask)
    assert len(asked) < 100


# Lists


@table_test("needed", [set[int](), {0}, {99}, {3, 50}, {*range(10, 20)}, {*range(100)}])
def test_lists(needed: set[int]) -> None:
    steps = [*smaller_lists(range(100), lambda items: needed <= {*items})]
    assert (steps[-1] if steps else [*range(100)]) == sorted(needed)
    assert sorted(map(len, steps), reverse=True) == [*map(len, steps)]
