"""Passes from plain functions and classes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import pytest
from support.passes.toy import Append, Tag, function_names, module, tags
from support.tables import table_test
from xdsl import passes as xdsl_passes
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.test import TestOp, TestTermOp
from xdsl.ir import Block, Operation, Region

from passline.passmanager import (
    FunctionPass,
    ModulePass,
    Pass,
    PassContext,
    Sequential,
    function_pass,
    module_pass,
)
from passline.passmanager.options import pass_text
from passline.passmanager.placement import placement_of


def append(module: ModuleOp, ctx: PassContext) -> None:
    """Append an op."""
    Append("appended").transform_module(module, ctx)


def mark(func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
    """Mark a function."""
    func.attributes["tag"] = StringAttr(func.sym_name.data)


class Adds:
    """Appends its tag."""

    def __init__(self, tag: str = "x", *, times: int = 1) -> None:
        self.tag, self.times = tag, times

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        for _ in range(self.times):
            Append(self.tag).transform_module(module, ctx)


class Marks:
    """Marks functions."""

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        mark(func, module, ctx)


class Callable_:
    """An object that can be called as a module pass."""

    def __call__(self, module: ModuleOp, ctx: PassContext) -> None:
        append(module, ctx)


def made(instance: object) -> Pass:
    """An instance of a decorated class: a pass, which type checkers cannot see."""
    assert isinstance(instance, Pass)
    return instance


Decorator = Callable[..., object]
both = pytest.mark.parametrize("decorator", [module_pass, function_pass])


# Of functions


def test_function_becomes_a_module_pass() -> None:
    pass_ = module_pass(append)
    assert isinstance(pass_, ModulePass) and isinstance(pass_, xdsl_passes.ModulePass)
    assert tags(pass_(module())) == ["appended"]


def test_function_becomes_a_function_pass() -> None:
    pass_ = function_pass(mark)
    assert isinstance(pass_, FunctionPass)
    assert tags(pass_(module("f", "g"))) == ["f", "g"]


def test_decorator_syntax_without_arguments() -> None:
    @module_pass
    def double_it(module: ModuleOp, ctx: PassContext) -> None:
        append(module, ctx)

    assert (double_it.info.name, double_it.info.opt_level) == ("double-it", 0)
    assert tags(double_it(module())) == ["appended"]


def test_decorator_syntax_with_arguments() -> None:
    @function_pass(opt_level=1, name="toy-mark", required=["toy-nothing"])
    def mark_it(func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        mark(func, module, ctx)

    info = mark_it.info
    assert (info.name, info.opt_level, info.required) == ("toy-mark", 1, ("toy-nothing",))
    assert tags(mark_it(module("f"))) == ["f"]


def test_use_without_decorator_syntax() -> None:
    info = module_pass(append, opt_level=1, name="x").info
    assert (info.name, info.opt_level, info.required) == ("x", 1, ())


def test_arguments_by_position() -> None:
    info = module_pass(append, 3, "x", ("a", "b")).info
    assert (info.name, info.opt_level, info.required) == ("x", 3, ("a", "b"))


def test_function_may_return_a_new_module() -> None:
    @module_pass
    def replace(module_: ModuleOp, ctx: PassContext) -> ModuleOp:
        return module("h")

    assert function_names(replace(module("f"))) == ["h"]


def test_function_may_return_a_new_function() -> None:
    @function_pass
    def replace(func: FuncOp, module: ModuleOp, ctx: PassContext) -> FuncOp:
        new = func.clone()
        new.attributes["tag"] = StringAttr("new")
        return new

    assert tags(replace(module("f", "g"))) == ["new", "new"]


def test_function_that_returns_something_else_is_an_error() -> None:
    pass_ = module_pass(lambda m, ctx: 3, name="three")  # pyright: ignore
    with pytest.raises(TypeError, match="transform_module of pass 'three' returned 3"):
        pass_(module())


def test_pass_shows_its_name() -> None:
    assert str(module_pass(append)) == "append"


def test_pass_has_the_docs_name_and_place_of_the_function() -> None:
    cls = type(module_pass(append, name="x"))
    assert (cls.__doc__, cls.__name__, cls.__module__) == ("Append an op.", "append", __name__)


def test_decorated_function_runs_in_a_sequential() -> None:
    pipeline = Sequential([module_pass(append, opt_level=3), function_pass(mark)])
    assert tags(pipeline(module("f"))) == ["f"]
    with PassContext(opt_level=3):
        assert tags(pipeline(module("f"))) == ["f", "appended"]


def test_one_function_makes_two_passes() -> None:
    one, two = module_pass(append, name="one"), module_pass(append, name="two")
    assert (one.info.name, two.info.name) == ("one", "two")
    assert type(one) is not type(two)


@table_test(
    ("name", "expected"),
    [
        ("fold_constant", "fold-constant"),
        ("FoldConstant", "fold-constant"),
        ("_private", "private"),
        ("toANF", "to-anf"),
    ],
)
def test_default_name_is_the_kebab_case_of_the_functions(name: str, expected: str) -> None:
    def function(module: ModuleOp, ctx: PassContext) -> None: ...

    function.__name__ = name
    assert module_pass(function).info.name == expected


def test_lambda_with_a_name() -> None:
    pass_ = module_pass(lambda m, ctx: append(m, ctx), name="by-lambda")
    assert pass_.info.name == "by-lambda"
    assert tags(pass_(module())) == ["appended"]


@table_test(
    "decorated",
    [lambda m, ctx: None, functools.partial(append), Callable_()],  # pyright: ignore
)
def test_callable_without_a_name_needs_one(decorated: Callable[..., None]) -> None:
    with pytest.raises(TypeError, match=r"has no name that a pass could have: give name=\.\.\."):
        module_pass(decorated)


@table_test("decorated", [functools.partial(append), Callable_()])
def test_callable_with_a_name(decorated: Callable[[ModuleOp, PassContext], None]) -> None:
    pass_ = module_pass(decorated, name="called")
    assert isinstance(pass_, ModulePass) and pass_.info.name == "called"
    assert tags(pass_(module())) == ["appended"]


def test_partial_of_a_method() -> None:
    def add(tag: str, module: ModuleOp, ctx: PassContext) -> None:
        Append(tag).transform_module(module, ctx)

    pass_ = module_pass(functools.partial(add, "y"), name="add-y")
    assert tags(pass_(module())) == ["y"]


def test_bound_method() -> None:
    pass_ = module_pass(Adds("y").transform_module)
    assert pass_.info.name == "transform-module"
    assert tags(pass_(module())) == ["y"]


# Of classes


def test_class_becomes_a_subclass_of_itself_and_the_kind_of_pass() -> None:
    cls = module_pass(Adds)
    assert issubclass(cls, Adds) and issubclass(cls, ModulePass)
    pass_ = cls("y")
    assert isinstance(pass_, Adds) and isinstance(pass_, ModulePass)
    assert tags(made(pass_)(module())) == ["y"]


def test_class_becomes_a_function_pass() -> None:
    pass_ = function_pass(Marks)()
    assert isinstance(pass_, Marks) and isinstance(pass_, FunctionPass)
    assert tags(pass_(module("f", "g"))) == ["f", "g"]


def test_class_decorator_syntax() -> None:
    @module_pass(opt_level=2, required=["toy-nothing"])
    class FoldIt(Adds):
        """Folds."""

    info = made(FoldIt()).info
    assert (info.name, info.opt_level, info.required) == ("fold-it", 2, ("toy-nothing",))


def test_class_decorator_syntax_without_arguments() -> None:
    @function_pass
    class MarkIt(Marks):
        """Marks."""

    assert (made(MarkIt()).info.name, made(MarkIt()).info.opt_level) == ("mark-it", 0)


def test_constructor_takes_the_classes_own_arguments() -> None:
    cls = module_pass(Adds)
    assert tags(made(cls("y", times=2))(module())) == ["y", "y"]
    assert tags(made(cls(tag="z"))(module())) == ["z"]


def test_wrong_constructor_argument_is_an_error() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'size'"):
        module_pass(Adds)(size=3)  # pyright: ignore[reportCallIssue]


def test_attributes_are_those_of_the_authors_object() -> None:
    pass_ = module_pass(Adds)("y")
    pass_.tag = "z"
    assert tags(made(pass_)(module())) == ["z"]


def test_function_with_other_parameters_is_an_error_when_it_is_decorated() -> None:
    def one(module: ModuleOp) -> None: ...
    def two(module: ModuleOp, *others: object) -> None: ...

    with pytest.raises(TypeError, match=r"of pass 'one' takes \(module, ctx\), not \(module: "):
        module_pass(one)  # pyright: ignore[reportArgumentType, reportCallIssue]
    with pytest.raises(TypeError, match=r"of pass 'x' takes \(func, module, ctx\), not \(module: "):
        function_pass(one, name="x")  # pyright: ignore[reportArgumentType, reportCallIssue]
    assert module_pass(two).name == "two"


def test_class_itself_is_left_alone() -> None:
    module_pass(Adds, opt_level=3)
    assert not issubclass(Adds, Pass) and not hasattr(Adds, "opt_level")


def test_super_reaches_the_base_class() -> None:
    @module_pass(opt_level=1)
    class Twice(Adds):
        """Appends in its own way, too."""

        def __init__(self) -> None:
            super().__init__("base")

        def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
            super().transform_module(module, ctx)
            append(module, ctx)

    assert tags(made(Twice())(module())) == ["base", "appended"]


def test_decorated_class_can_be_derived_from() -> None:
    base = module_pass(Adds, opt_level=2, name="toy-adds")

    class Derived(base):
        """Appends one more."""

        name = "toy-derived"

        def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
            super().transform_module(module, ctx)
            append(module, ctx)

    pass_ = made(Derived("y"))
    assert (pass_.info.name, pass_.info.opt_level) == ("toy-derived", 2)
    assert tags(pass_(module())) == ["y", "appended"]


def test_class_keeps_its_name_docs_and_place() -> None:
    cls = module_pass(Adds, name="x")
    assert (cls.__name__, cls.__qualname__) == ("Adds", "Adds")
    assert (cls.__doc__, cls.__module__) == ("Appends its tag.", __name__)


def test_class_without_docs_has_none() -> None:
    class Bare:
        def transform_module(self, module: ModuleOp, ctx: PassContext) -> None: ...

    assert module_pass(Bare).__doc__ is None


def test_metadata_in_the_body_of_the_class_is_kept() -> None:
    class Own:
        name = "toy-own"
        opt_level = 3
        required = ("toy-nothing",)

        def transform_module(self, module: ModuleOp, ctx: PassContext) -> None: ...

    info = made(module_pass(Own)()).info
    assert (info.name, info.opt_level, info.required) == ("toy-own", 3, ("toy-nothing",))
    info = made(module_pass(Own, opt_level=1, name="x", required=())()).info
    assert (info.name, info.opt_level, info.required) == ("x", 1, ())


def test_fields_of_a_decorated_dataclass_are_options() -> None:
    @module_pass(name="toy-sized")
    @dataclass(frozen=True)
    class Sized:
        """Has an option."""

        size: int = 1

        def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
            Append(str(self.size)).transform_module(module, ctx)

    assert pass_text(made(Sized(3))) == "toy-sized{size=3}"
    assert tags(made(Sized(3))(module())) == ["3"]
    assert Sized(3) == Sized(3) != Sized(4)


@table_test(
    ("decorator", "cls", "message"),
    [
        (module_pass, Marks, "Marks has no method transform_module, which a ModulePass needs"),
        (function_pass, Adds, "Adds has no method transform_function, which a FunctionPass needs"),
        (function_pass, Append, "Append has no method transform_function"),
        (module_pass, Tag, "Tag has no method transform_module"),
        (module_pass, int, "int has no method transform_module"),
    ],
)
def test_class_without_the_method_is_an_error(
    decorator: Decorator, cls: type, message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        decorator(cls)


def test_method_that_cannot_be_called_is_an_error() -> None:
    class Odd:
        transform_module = 3

    with pytest.raises(TypeError, match="Odd has no method transform_module"):
        module_pass(Odd)


# Of pass classes


def test_pass_class_stays_itself() -> None:
    class Plain(ModulePass):
        def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
            append(module, ctx)

    decorated = module_pass(Plain, opt_level=2, required=["toy-nothing"])
    assert decorated is Plain
    info = Plain().info
    assert (info.name, info.opt_level, info.required) == ("plain", 2, ("toy-nothing",))
    assert tags(Plain()(module())) == ["appended"]


def test_pass_class_keeps_what_is_not_given() -> None:
    @module_pass
    class Kept(ModulePass):
        name = "toy-kept"
        opt_level = 3
        required = ("toy-nothing",)

        def transform_module(self, module: ModuleOp, ctx: PassContext) -> None: ...

    info = Kept().info
    assert (info.name, info.opt_level, info.required) == ("toy-kept", 3, ("toy-nothing",))


def test_pass_class_is_given_what_is_given() -> None:
    @function_pass(opt_level=0, name="toy-new", required=())
    class Given(FunctionPass):
        name = "toy-old"
        opt_level = 3
        required = ("toy-nothing",)

        def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None: ...

    info = Given().info
    assert (info.name, info.opt_level, info.required) == ("toy-new", 0, ())


def test_subclass_of_a_pass_does_not_inherit_its_name() -> None:
    @module_pass
    class AppendMore(Append):
        """Appends more."""

    assert (AppendMore.name, Append.name) == ("append-more", "toy-append")


def test_options_of_a_pass_class_are_kept() -> None:
    @module_pass(opt_level=1)
    @dataclass(frozen=True)
    class Optional(ModulePass):
        """Has an option."""

        size: int = 1

        def transform_module(self, module: ModuleOp, ctx: PassContext) -> None: ...

    assert Optional(3).info.text == "optional{size=3}"
    assert Optional(3) == Optional(3)


# Levels, requirements, names


@both
@pytest.mark.parametrize("decorated", [append, Adds, Append])
def test_negative_level_is_an_error(decorator: Decorator, decorated: object) -> None:
    with pytest.raises(ValueError, match="opt_level is 0 or more, not -1"):
        decorator(decorated, opt_level=-1)
    assert Append.opt_level == 0


@both
@pytest.mark.parametrize("level", ["2", 2.0, True])
def test_level_that_is_no_whole_number_is_an_error(decorator: Decorator, level: object) -> None:
    with pytest.raises(TypeError, match="opt_level is a whole number, not"):
        decorator(append, opt_level=level)


@both
@pytest.mark.parametrize(
    ("required", "message"),
    [
        ("infer-type", r"required is a list of names: write \['infer-type'\]"),
        (3, "required is a list of names, not 3"),
        ([Append], "required is a list of names, but holds"),
    ],
)
def test_required_that_is_no_list_of_names_is_an_error(
    decorator: Decorator, required: object, message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        decorator(append, required=required)


@table_test("required", [["a"], ("a",), {"a"}])
def test_required_may_be_any_collection(required: list[str]) -> None:
    assert module_pass(append, required=required).info.required == ("a",)


@both
def test_name_that_is_no_string_is_an_error(decorator: Decorator) -> None:
    with pytest.raises(TypeError, match="the name of a pass is a string, not 3"):
        decorator(append, name=3)


@both
@pytest.mark.parametrize("name", ["", "--"])
def test_name_without_a_letter_is_an_error(decorator: Decorator, name: str) -> None:
    with pytest.raises(ValueError, match="at least one letter or digit"):
        decorator(append, name=name)


@both
@pytest.mark.parametrize("decorated", [3, "infer-type", [append], module("f")])
def test_decorating_what_is_neither_function_nor_class_is_an_error(
    decorator: Decorator, decorated: object
) -> None:
    with pytest.raises(TypeError, match="Pass is made of a function or a class, not of"):
        decorator(decorated)
    with pytest.raises(TypeError, match="Pass is made of a function or a class, not of"):
        decorator(decorated, name="x")


@both
def test_decorating_a_pass_is_an_error(decorator: Decorator) -> None:
    with pytest.raises(TypeError, match="Pass is made of a function or a class, not of"):
        decorator(module_pass(append), name="x")


# Anchors


def on_test(op: TestOp, module: ModuleOp, ctx: PassContext) -> None:
    op.attributes["tag"] = StringAttr("visited")


def module_with_test_op() -> ModuleOp:
    """A function, and a test op with a body."""
    m = module("f")
    m.body.block.add_op(TestOp(regions=[Region(Block([TestTermOp()]))]))
    return m


def test_functions_are_visited_by_default() -> None:
    assert function_pass(mark).anchor is FuncOp
    assert tags(function_pass(mark)(module_with_test_op())) == ["f"]


def test_anchor_says_which_ops_are_visited() -> None:
    pass_ = function_pass(on_test, anchor=TestOp)
    assert pass_.anchor is TestOp
    assert tags(pass_(module_with_test_op())) == ["visited"]


def test_anchor_of_a_class() -> None:
    class OnTest:
        def transform_function(self, op: TestOp, module: ModuleOp, ctx: PassContext) -> None:
            on_test(op, module, ctx)

    pass_ = made(function_pass(OnTest, anchor=TestOp)())
    assert tags(pass_(module_with_test_op())) == ["visited"]


def test_anchor_of_a_pass_class_is_kept_unless_given() -> None:
    class OnTest(FunctionPass[TestOp]):
        def transform_function(self, func: TestOp, module: ModuleOp, ctx: PassContext) -> None: ...

    assert function_pass(OnTest).anchor is TestOp
    assert function_pass(OnTest, anchor=FuncOp).anchor is FuncOp


@table_test("anchor", ["func.func", int, TestOp()])
def test_anchor_that_is_no_class_of_ops_is_an_error(anchor: object) -> None:
    with pytest.raises(TypeError, match="anchor is a class of operations, not"):
        function_pass(mark, anchor=cast(type[Operation], anchor))


# xDSL's protocol


def test_decorated_passes_are_passes_of_xdsl() -> None:
    m = module("f")
    pipeline = (module_pass(append), function_pass(mark), made(module_pass(Adds)("y")))
    xdsl_passes.PassPipeline(pipeline).apply(Context(), m)
    assert tags(m) == ["f", "appended", "y"]


# Places


def test_a_decorated_function_may_say_where_it_belongs() -> None:
    @function_pass(opt_level=1, after=["a"], before=["b"], stage="s")
    def placed(func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        pass

    assert (placed.after, placed.before, placed.stage) == (["a"], ["b"], "s")
    assert str(placement_of(placed)) == "after a, before b, in stage s"


def test_a_misspelled_keyword_of_a_decorator_is_named() -> None:
    with pytest.raises(TypeError, match="no metadata 'afer', did you mean 'after'?"):
        module_pass(afer=["a"])  # pyright: ignore[reportCallIssue]


def test_a_place_that_is_no_list_is_an_error() -> None:
    with pytest.raises(TypeError, match="after is a list of names"):

        @module_pass(after="a")
        def placed(module: ModuleOp, ctx: PassContext) -> None:  # pyright: ignore[reportUnusedFunction]
            pass
