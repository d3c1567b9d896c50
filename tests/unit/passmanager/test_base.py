"""Passes: classes, calling, what they may return, the contract of function passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature

import pytest
from support.passes.toy import (
    Append,
    Nothing,
    Recorder,
    Tag,
    collect,
    function_names,
    module,
    named,
    tags,
    toy_context,
)
from support.tables import table_test
from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, UnitAttr, i32
from xdsl.dialects.func import FuncOp
from xdsl.dialects.llvm import FuncOp as LLVMFuncOp
from xdsl.dialects.llvm import LLVMFunctionType
from xdsl.dialects.llvm import ReturnOp as LLVMReturnOp
from xdsl.dialects.riscv_func import FuncOp as RISCVFuncOp
from xdsl.dialects.test import TestOp
from xdsl.ir import Block, Region
from xdsl.passes import ModulePass as XDSLModulePass
from xdsl.passes import PassPipeline

from passline.passmanager import (
    FunctionPass,
    InvalidIRError,
    ModulePass,
    PassContext,
    PassContractError,
    PassInfo,
    Sequential,
    info_of,
    module_pass,
)

# Classes


def test_info_has_name_level_requirements_and_text() -> None:
    info = named("a", level=3, requires=["b"]).info
    assert info == PassInfo("a", 3, ("b",)) and info.text == "a" and not info.composite


def test_text_has_the_options_that_are_not_at_their_defaults() -> None:
    assert Append().info.text == "toy-append"
    assert Append("y").info.text == str(Append("y")) == 'toy-append{tag="y"}'


def test_passes_with_options_are_equal_if_the_options_are() -> None:
    assert Append("a") == Append("a") and hash(Append("a")) == hash(Append("a"))
    assert Append("a") != Append("b")


def test_pass_that_is_no_dataclass_has_identity_equality() -> None:
    one = Nothing()
    assert one == one and one != Nothing() and len({one, Nothing()}) == 2


@table_test("attribute", ["name", "opt_level", "required", "preserves", "requires", "ensures"])
def test_annotated_metadata_is_an_error_when_the_class_is_made(attribute: str) -> None:
    with pytest.raises(
        TypeError, match=rf"Bad.{attribute} has an annotation .* write `{attribute} = "
    ):
        type("Bad", (Nothing,), {"__annotations__": {attribute: "str"}, "__module__": __name__})


def test_option_without_dataclass_is_an_error_that_says_what_to_write() -> None:
    class Forgotten(Nothing):
        limit: int = 3

    with pytest.raises(TypeError, match=r"option limit but is not a dataclass: write @dataclass"):
        Forgotten()


def test_required_string_is_an_error_when_the_class_is_made() -> None:
    with pytest.raises(TypeError, match=r"Bad.required is a list of names"):
        type("Bad", (Nothing,), {"required": "abc"})


def test_class_without_its_transform_method_cannot_be_built() -> None:
    with pytest.raises(TypeError, match="transform_module"):
        type("Bad", (ModulePass,), {"name": "bad"})()


def test_foreign_pass_has_level_0_and_no_requirements() -> None:
    @dataclass(frozen=True)
    class Foreign(XDSLModulePass):
        name = "foreign"
        size: int = 3

        def apply(self, ctx: Context, op: ModuleOp) -> None: ...

    info = info_of(Foreign(4))
    assert info == PassInfo("foreign") and info.text == "foreign{size=4}"


def test_name_is_by_default_that_of_the_class() -> None:
    class FoldThings(ModulePass):
        def transform_module(self, module: ModuleOp, ctx: PassContext) -> None: ...

    class FoldMore(FoldThings):
        pass

    assert FoldThings().info.name == "fold-things" and FoldMore().info.name == "fold-things"


@table_test("name", ["My Pass!", "a,b", "a{b", "ü"])
def test_name_that_no_pipeline_can_spell_is_an_error(name: str) -> None:
    with pytest.raises(ValueError, match="letters, digits, '-', '.' and '_'"):
        type("Bad", (Nothing,), {"name": name})


def test_option_of_another_type_is_an_error_when_the_pass_is_used() -> None:
    wrong = Append(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="option tag of Append: expected a string, got 3"):
        wrong(module())


def test_repr_is_the_text_of_the_pass() -> None:
    assert repr(Sequential([Nothing()])) == "<Sequential sequential(toy-nothing)>"
    assert repr(Nothing()) == "<Nothing toy-nothing>"


# Calling


def test_call_returns_a_copy_and_leaves_the_module_alone() -> None:
    before = module()
    after = Append()(before)
    assert tags(before) == [] and tags(after) == ["x"]


def test_call_leaves_the_module_alone_when_the_pass_fails() -> None:
    def body(m: ModuleOp, ctx: PassContext) -> None:
        Append().transform_module(m, ctx)
        raise ValueError

    before = module()
    with pytest.raises(ValueError):
        named("half", body=body)(before)
    assert tags(before) == []


def test_apply_works_in_place() -> None:
    m = module()
    Append().apply(toy_context(), m)
    assert tags(m) == ["x"]


def test_pass_runs_in_xdsl_pass_pipeline() -> None:
    m = module("f")
    PassPipeline((Append("a"), Sequential([Tag(), Append("b")]))).apply(toy_context(), m)
    assert tags(m) == ["a", "b"]


def test_direct_call_ignores_level_and_disabled_list() -> None:
    with PassContext(opt_level=0, disabled_pass=["high"]):
        assert tags(named("high", level=3)(module())) == ["high"]


def test_direct_call_does_not_run_requirements() -> None:
    assert tags(named("a", requires=["toy-append"])(module())) == ["a"]


@table_test(
    ("given", "message"),
    [
        (FuncOp("f", ([], [])), r"not with the op 'func.func' @f: give the module that it is in"),
        ("x.mlir", r"not with 'x.mlir': read it with passline.load"),
        (ModuleOp, r"not with the class ModuleOp$"),
        (3, r"'toy-append' is called with a module, not with 3$"),
    ],
)
def test_call_with_something_else_is_answered_in_a_line(given: object, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Append()(given)  # pyright: ignore[reportArgumentType]


def test_help_shows_the_arguments_of_a_pass() -> None:
    assert str(signature(FunctionPass)) == "()"
    assert str(signature(Tag)) == "()"
    assert [*signature(Append).parameters] == ["tag"]
    names = ["passes", "opt_level", "name", "required", "traceable"]
    assert [*signature(Sequential).parameters] == names


@table_test(
    ("misspelled", "meant"),
    [
        ("require", "requires"),
        ("requiered", "required"),
        ("ensure", "ensures"),
        ("optlevel", "opt_level"),
        ("preserve", "preserves"),
    ],
)
def test_misspelled_attribute_is_an_error(misspelled: str, meant: str) -> None:
    with pytest.raises(TypeError, match=rf"C\.{misspelled} has no meaning, .* '{meant}'\?"):
        type("C", (ModulePass,), {misspelled: ()})


def test_misspelled_anchor_is_an_error_in_a_function_pass_only() -> None:
    with pytest.raises(TypeError, match=r"C\.anchors has no meaning, did you mean 'anchor'\?"):
        type("C", (FunctionPass,), {"anchors": ()})
    type("C", (ModulePass,), {"anchors": ()})


def test_options_methods_and_other_attributes_may_have_similar_names() -> None:
    class Base:
        required_ = ()

    @dataclass(frozen=True)
    class C(Base, ModulePass):
        require: int = 0
        required_ = ()
        _optlevel = names = bounds = 0

        def preserve(self) -> None: ...
        def transform_module(self, module: ModuleOp, ctx: PassContext) -> None: ...

    assert C().require == 0


# What a module pass may return


def returning(result: Callable[[ModuleOp], object]) -> ModulePass:
    class Returning(ModulePass):
        name = "returning"

        def transform_module(self, module: ModuleOp, ctx: PassContext) -> ModuleOp | None:
            return result(module)  # pyright: ignore[reportReturnType]

    return Returning()


def test_returned_module_replaces_the_body_and_attributes() -> None:
    new = module("new")
    new.attributes["mark"] = UnitAttr()
    result = returning(lambda m: new)(module("old"))
    assert function_names(result) == ["new"] and "mark" in result.attributes


def test_returned_module_is_cloned() -> None:
    new = module("new")
    returns = returning(lambda m: new)
    first, second = returns(module()), returns(module())
    assert function_names(first) == function_names(second) == function_names(new) == ["new"]
    Append().apply(toy_context(), first)
    assert tags(new) == tags(second) == []


def test_under_apply_the_module_object_keeps_its_identity() -> None:
    m = module("old")
    returning(lambda _: module("new")).apply(toy_context(), m)
    assert function_names(m) == ["new"]


def test_returning_the_module_itself_is_working_in_place() -> None:
    assert function_names(returning(lambda m: m)(module("f"))) == ["f"]


def test_returning_something_else_is_an_error() -> None:
    with pytest.raises(TypeError, match="transform_module of pass 'returning' returned 3"):
        returning(lambda m: 3)(module())


# Which functions a function pass visits


def seen(m: ModuleOp) -> list[str]:
    return [f.sym_name.data for f in m.ops if isinstance(f, FuncOp) and "seen" in f.attributes]


def test_functions_are_visited_in_order() -> None:
    order: list[str] = []

    class Order(FunctionPass):
        name = "order"

        def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
            order.append(func.sym_name.data)

    Order()(module("b", "a", "c"))
    assert order == ["b", "a", "c"]


def test_function_with_skip_optimization_is_left_alone() -> None:
    m = module("f", "g")
    first = next(iter(m.ops))
    first.attributes["passline.skip_optimization"] = UnitAttr()
    assert seen(Tag()(m)) == ["g"]


@table_test(("value", "visited"), [(1, ["g"]), (0, ["f", "g"])])
def test_tvms_skip_optimization_is_known(value: int, visited: list[str]) -> None:
    m = module("f", "g")
    next(iter(m.ops)).attributes["SkipOptimization"] = IntegerAttr(value, i32)
    assert seen(Tag()(m)) == visited


def test_function_marked_by_tvms_attribute_without_a_number_is_left_alone() -> None:
    m = module("f")
    next(iter(m.ops)).attributes["SkipOptimization"] = UnitAttr()
    assert seen(Tag()(m)) == []


def test_declaration_is_left_alone() -> None:
    m = module("f")
    m.body.block.add_op(FuncOp.external("declared", [], []))
    assert seen(Tag()(m)) == ["f"]


def test_function_inside_a_nested_module_is_not_visited() -> None:
    m = module("f")
    m.body.block.add_op(module("nested"))
    result = Tag()(m)
    assert seen(result) == ["f"] and str(result).count("seen") == 1


class MarkLLVM(FunctionPass[LLVMFuncOp]):
    """A pass on LLVM functions; the anchor is the type argument."""

    name = "mark-llvm"

    def transform_function(self, func: LLVMFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        func.attributes["seen"] = UnitAttr()


class MarkRISCV(FunctionPass[RISCVFuncOp]):
    """A pass on RISC-V functions; the anchor is set explicitly."""

    name = "mark-riscv"
    anchor = RISCVFuncOp

    def transform_function(self, func: RISCVFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        func.attributes["seen"] = UnitAttr()


def llvm_function() -> LLVMFuncOp:
    return LLVMFuncOp("l", LLVMFunctionType([]), body=Region(Block([LLVMReturnOp()])))


def test_anchor_is_taken_from_the_type_argument() -> None:
    m = module("f")
    m.body.block.add_op(llvm_function())
    f, llvm = MarkLLVM()(m).ops
    assert "seen" not in f.attributes and "seen" in llvm.attributes


def test_anchor_can_be_set() -> None:
    from xdsl.dialects.riscv_func import ReturnOp

    m = module("f")
    m.body.block.add_op(RISCVFuncOp("r", Region(Block([ReturnOp()])), ([], [])))
    f, riscv = MarkRISCV()(m).ops
    assert "seen" not in f.attributes and "seen" in riscv.attributes


# What a function pass may return


def replacing(result: Callable[[FuncOp], object]) -> FunctionPass:
    class Replacing(FunctionPass):
        name = "replacing"

        def transform_function(
            self, func: FuncOp, module: ModuleOp, ctx: PassContext
        ) -> FuncOp | None:
            return result(func)  # pyright: ignore[reportReturnType]

    return Replacing()


def tagged_function(name: str) -> FuncOp:
    (func,) = module(name).ops
    assert isinstance(func, FuncOp)
    func.attributes["tag"] = StringAttr(name)
    func.detach()
    return func


def test_returned_function_keeps_symbol_name_visibility_and_place() -> None:
    m = module("a", "b", "c")
    (_, b, _) = m.ops
    assert isinstance(b, FuncOp)
    b.sym_visibility = StringAttr("private")
    new = tagged_function("new")
    result = replacing(lambda f: new if f.sym_name.data == "b" else None)(m)
    (_, replaced, _) = result.ops
    assert function_names(result) == ["a", "b", "c"] and tags(result) == ["new"]
    assert isinstance(replaced, FuncOp) and replaced.sym_visibility == StringAttr("private")


def test_returned_function_of_another_name_keeps_the_old_one_with_a_warning() -> None:
    def renamed(func: FuncOp) -> FuncOp:
        new = func.clone()
        new.sym_name = StringAttr(f"{func.sym_name.data}_fast")
        return new

    found: list[str] = []
    with PassContext(renderer=collect(found)):
        assert function_names(replacing(renamed)(module("a", "b"))) == ["a", "b"]
        replacing(lambda func: func.clone())(module("c"))
    assert len(found) == 2 and "returned @a_fast for @a, which keeps its name" in found[0]


def test_returned_function_is_cloned_and_can_be_returned_again() -> None:
    new = tagged_function("new")
    assert tags(replacing(lambda f: new)(module("a", "b"))) == ["new", "new"]
    assert new.parent is None and new.sym_name.data == "new"


def test_returning_what_is_no_function_is_an_error() -> None:
    with pytest.raises(TypeError, match="'replacing' returned .* None or a func.func"):
        replacing(lambda f: TestOp())(module("a"))


# The contract of function passes


def breaking(body: Callable[[FuncOp, ModuleOp], object]) -> FunctionPass:
    class Breaking(FunctionPass):
        name = "breaking"

        def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
            if func.sym_name.data == "a":
                body(func, module)

    return Breaking()


def test_adding_a_function_breaks_the_contract() -> None:
    with pytest.raises(PassContractError, match="'breaking' added @new: a function pass may not"):
        breaking(lambda f, m: m.body.block.add_op(tagged_function("new")))(module("a"))


def test_deleting_the_function_breaks_the_contract() -> None:
    with pytest.raises(PassContractError, match="deleted @a"):
        breaking(lambda f, m: f.detach())(module("a", "b"))


def test_deleting_another_function_breaks_the_contract() -> None:
    with pytest.raises(PassContractError, match="deleted @b"):
        breaking(lambda f, m: list(m.ops)[1].detach())(module("a", "b"))


def test_renaming_breaks_the_contract() -> None:
    def rename(func: FuncOp, m: ModuleOp) -> None:
        func.sym_name = StringAttr("z")

    with pytest.raises(PassContractError, match="renamed @a to @z"):
        breaking(rename)(module("a"))


def test_reordering_functions_breaks_the_contract() -> None:
    def move(func: FuncOp, m: ModuleOp) -> None:
        b = list(m.ops)[1]
        b.detach()
        m.body.block.insert_op_before(b, func)

    with pytest.raises(PassContractError, match="order"):
        breaking(move)(module("a", "b"))


def test_module_pass_may_add_functions() -> None:
    add = named("add", body=lambda m, ctx: m.body.block.add_op(tagged_function("new")))
    assert function_names(add(module("a"))) == ["a", "new"]


# Verification


def test_invalid_result_fails_at_the_door_of_the_pass() -> None:
    def empty(m: ModuleOp, ctx: PassContext) -> None:
        (func,) = m.ops
        assert isinstance(func, FuncOp)
        func.body.block.erase_op(next(iter(func.body.block.ops)))

    with pytest.raises(InvalidIRError) as caught:
        Sequential([Nothing(), named("breaks", body=empty)])(module("f"))
    assert any("in pass 'breaks' (2 of 2) on function @f" in n for n in caught.value.__notes__)


def test_without_verify_each_nothing_is_verified() -> None:
    def empty(m: ModuleOp, ctx: PassContext) -> None:
        (func,) = m.ops
        assert isinstance(func, FuncOp)
        func.body.block.erase_op(next(iter(func.body.block.ops)))

    with PassContext(verify_each=False):
        result = named("breaks", body=empty)(module("f"))
    (func,) = result.ops
    assert isinstance(func, FuncOp) and func.body.block.is_empty


# Rollback


def failing_half(m: ModuleOp, ctx: PassContext) -> None:
    Append("half").transform_module(m, ctx)
    raise ValueError


def test_rollback_restores_the_module_as_it_was_before_the_failing_pass() -> None:
    m = module("f")
    with PassContext(rollback=True), pytest.raises(ValueError):
        Sequential([Append("a"), named("half", body=failing_half)]).apply(toy_context(), m)
    assert tags(m) == ["a"] and function_names(m) == ["f"]


def test_without_rollback_the_module_is_left_half_changed() -> None:
    m = module("f")
    with pytest.raises(ValueError):
        named("half", body=failing_half).apply(toy_context(), m)
    assert tags(m) == ["half"]


def test_after_a_rollback_what_was_known_of_the_module_is_forgotten() -> None:
    def careful(m: ModuleOp, ctx: PassContext) -> None:
        Append("a").apply(ctx.ir_context, m)
        with pytest.raises(ValueError):
            named("half", body=failing_half).apply(ctx.ir_context, m)
        Append("b").apply(ctx.ir_context, m)

    with PassContext(rollback=True):
        assert tags(named("careful", body=careful)(module())) == ["a", "b"]


def test_rollback_restores_the_module_if_an_instrument_fails_after_the_pass() -> None:
    m = module("f")
    instrument = Recorder(fail_in=frozenset(["after"]))
    with PassContext(rollback=True, instruments=[instrument]):
        with pytest.raises(RuntimeError, match="after"):
            Append("a").apply(toy_context(), m)
    assert tags(m) == [] and function_names(m) == ["f"]


# The module that a pass is given


def nest(m: ModuleOp, ctx: PassContext) -> None:
    ModuleOp([m])


def return_nested(m: ModuleOp, ctx: PassContext) -> ModuleOp:
    return ModuleOp([m])


@table_test("body", [nest, return_nested])
@table_test("rollback", [False, True])
def test_pass_that_moves_its_module_into_another_op_is_refused(
    body: Callable[[ModuleOp, PassContext], ModuleOp | None], rollback: bool
) -> None:
    m = module("f")
    with PassContext(rollback=rollback):
        with pytest.raises(PassContractError, match="'nests' moved its module into the op"):
            module_pass(body, name="nests").apply(toy_context(), m)
    assert m.parent is None and function_names(m) == ["f"]


def test_pass_may_nest_a_clone_of_its_module() -> None:
    nested = module_pass(lambda m, ctx: ModuleOp([m.clone()]), name="nests")(module("f"))
    (inner,) = nested.ops
    assert isinstance(inner, ModuleOp) and function_names(inner) == ["f"]


def test_pass_runs_on_a_module_in_another_one() -> None:
    outer = ModuleOp([inner := module("f")])
    Append("a").apply(toy_context(), inner)
    assert tags(outer) == ["a"] and inner.parent is outer.body.block
