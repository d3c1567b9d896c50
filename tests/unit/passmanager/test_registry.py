"""The registry: the passes of plugins, and those registered in Python."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from support.passes.toy import Append, Nothing, Tag, module, register_in_test, tags
from support.tables import table_test
from xdsl.dialects.arith import Arith
from xdsl.dialects.func import Func
from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.universe import XDSL_UNIVERSE, Universe
from xdsl.utils.target import Target

from passline.passmanager import (
    PassNotFoundError,
    PipelineSyntaxError,
    Sequential,
    find_pass,
    register_pass,
)
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import installed, make_ir_context
from passline.passmanager.releases.targets import MLIRTarget


@dataclass
class Plugin:
    """An entry point that counts how often it is loaded."""

    name: str
    universe: object
    loads: int = 0

    def load(self) -> object:
        self.loads += 1
        if isinstance(self.universe, Exception):
            raise self.universe
        return self.universe


Install = Callable[..., None]


@pytest.fixture(autouse=True)
def fresh() -> Generator[None]:
    """Give each test a registry of its own, and restore the previous one."""
    before = installed()
    installed.cache_clear()
    yield
    installed.cache_clear()
    vars(installed()).update(vars(before))


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Make these plugins the only ones."""

    def install(*plugins: Plugin) -> None:
        def select(group: str) -> tuple[Plugin, ...]:
            return plugins if group == "xdsl.universe" else ()

        monkeypatch.setattr(
            "importlib.metadata.entry_points", lambda: SimpleNamespace(select=select)
        )

    return install


def passes(**offered: type[ModulePass]) -> Universe:
    """Return a universe of passes; `_` in a name stands for `-`."""
    return Universe(
        all_passes={name.replace("_", "-"): (lambda cls=cls: cls) for name, cls in offered.items()}
    )


def forbidden() -> type[ModulePass]:
    pytest.fail("the factory must not be called")


# Plugins


def test_xdsl_and_passline_are_installed() -> None:
    assert find_pass("canonicalize") is CanonicalizePass
    assert {"arith", "relax"} <= installed().dialects.keys()


def test_passes_and_dialects_of_all_plugins_are_offered(install: Install) -> None:
    install(
        Plugin("a", passes(toy_append=Append)),
        Plugin(
            "b", Universe(all_passes={"toy-tag": lambda: Tag}, all_dialects={"f": lambda: Func})
        ),
    )
    assert list(installed().passes) == ["toy-append", "toy-tag"]
    assert list(installed().dialects) == ["f"]


def test_targets_are_offered() -> None:
    assert installed().targets.keys() == {*XDSL_UNIVERSE.all_targets, "tileirbc"}


def test_plugins_are_read_once(install: Install) -> None:
    plugin = Plugin("a", passes(toy_append=Append))
    install(plugin)
    for _ in range(3):
        assert find_pass("toy-append") is Append
    assert plugin.loads == 1


def test_factories_are_not_called_before_a_pass_is_used(install: Install) -> None:
    universe = Universe(all_passes={"a": forbidden, "toy-append": lambda: Append})
    install(Plugin("a", universe))
    assert find_pass("toy-append") is Append
    with pytest.raises(PassNotFoundError):
        find_pass("zzz")


def test_dialect_that_fails_costs_that_dialect(
    install: Install, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> Dialect:
        raise ImportError("no name 'Gone' in xdsl.ir")

    install(Plugin("a", Universe(all_dialects={"toy": broken, "arith": lambda: Arith})))
    ctx = make_ir_context(allow_unregistered=True)
    text = '"toy.op"() : () -> ()\n"toy.op"() : () -> ()\n%0 = arith.constant 1 : i1'
    assert "toy.op" in str(parse_module(ctx, text, "x.mlir"))
    (record,) = caplog.records
    message = "dialect 'toy' of plugin 'a' cannot be loaded and is ignored: "
    assert record.message.startswith(message) and "no name 'Gone'" in record.message


def test_clash_is_a_warning_and_keeps_the_first(
    install: Install, caplog: pytest.LogCaptureFixture
) -> None:
    install(Plugin("b", passes(toy=Tag)), Plugin("a", passes(toy=Append, other=Nothing)))
    assert find_pass("toy") is Append and find_pass("other") is Nothing
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.message == "pass 'toy' of plugin 'b' is ignored: another plugin has it"


def test_passes_whose_names_are_spelled_differently_clash(
    install: Install, caplog: pytest.LogCaptureFixture
) -> None:
    install(Plugin("a", passes(toy_append=Append)), Plugin("b", passes(ToyAppend=Nothing)))
    assert list(installed().passes) == ["toy-append"] and find_pass("ToyAppend") is Append
    assert "pass 'ToyAppend' of plugin 'b' is ignored" in caplog.text


def test_xdsl_comes_first_in_a_clash(install: Install) -> None:
    install(Plugin("a", passes(toy=Append)), Plugin("xdsl", passes(toy=Tag)))
    assert find_pass("toy") is Tag


def test_clash_of_dialects_or_targets_keeps_the_first(
    install: Install, caplog: pytest.LogCaptureFixture
) -> None:
    one: dict[str, Callable[[], type[Target]]] = {"toy": lambda: MLIRTarget}
    other: dict[str, Callable[[], type[Target]]] = {"toy": lambda: Target}
    install(
        Plugin("a", Universe(all_dialects={"toy": lambda: Arith}, all_targets=one)),
        Plugin("b", Universe(all_dialects={"toy": lambda: Func}, all_targets=other)),
    )
    assert installed().dialects["toy"]() is Arith
    assert installed().targets["toy"]() is MLIRTarget
    assert "dialect 'toy' of plugin 'b' is ignored" in caplog.text
    assert "target 'toy' of plugin 'b' is ignored" in caplog.text


@pytest.mark.parametrize("universe", [Universe, {"toy": Append}, None])
def test_plugin_that_is_no_universe_is_left_out(
    universe: object, install: Install, caplog: pytest.LogCaptureFixture
) -> None:
    install(Plugin("a", universe), Plugin("b", passes(toy_append=Append)))
    assert list(installed().passes) == ["toy-append"]
    assert caplog.messages == ["plugin 'a' is not an xdsl.universe.Universe and is ignored"]


def test_plugin_that_cannot_be_loaded_is_left_out(
    install: Install, caplog: pytest.LogCaptureFixture
) -> None:
    install(Plugin("a", ImportError("no such module")), Plugin("b", passes(toy_append=Append)))
    assert list(installed().passes) == ["toy-append"]
    assert caplog.messages == [
        "plugin 'a' cannot be loaded and is ignored: ImportError('no such module')"
    ]


# Finding


@pytest.mark.parametrize("name", ["toy-append", "ToyAppend", "toy.Append", "toy_append"])
def test_pass_is_found_in_any_spelling(name: str, install: Install) -> None:
    install(Plugin("a", passes(toy_append=Append)))
    assert find_pass(name) is Append


def test_unknown_pass_gets_the_nearest() -> None:
    with pytest.raises(PassNotFoundError) as caught:
        find_pass("Canonicalise")
    message = "there is no pass 'Canonicalise', did you mean 'canonicalize'?"
    assert str(caught.value) == message
    assert isinstance(caught.value, LookupError)


def test_unknown_pass_near_to_none() -> None:
    with pytest.raises(PassNotFoundError, match="^there is no pass 'qqqq'$"):
        find_pass("qqqq")


def test_empty_name_is_no_pass() -> None:
    with pytest.raises(PassNotFoundError, match="there is no pass ''"):
        find_pass("")


# Registering


def test_registered_pass_is_found() -> None:
    register_pass(Append)
    assert find_pass("ToyAppend") is Append


def test_registered_pass_can_stand_in_a_pipeline() -> None:
    register_pass(Append)
    assert tags(parse_pipeline("toy-append")(module())) == ["x"]


def test_pass_is_registered_under_another_name() -> None:
    register_pass(Append, "toy-other")
    assert find_pass("toy-other") is Append


def test_factory_is_registered_with_its_name_and_not_called() -> None:
    register_pass(forbidden, "toy-lazy")
    register_pass(lambda: Append, "toy-append")
    assert find_pass("toy-append") is Append
    assert "toy-lazy" in installed().passes


def test_registering_a_name_again_replaces_the_pass() -> None:
    register_pass(Append)
    register_pass(Tag, "toy-append")
    assert find_pass("toy-append") is Tag


def test_registering_a_name_in_another_spelling_replaces_the_name() -> None:
    register_pass(Append)
    before = len(installed().passes)
    register_pass(Tag, "Toy.Append")
    assert find_pass("toy-append") is Tag and len(installed().passes) == before
    assert "toy-append" not in installed().passes


def test_pass_of_a_plugin_can_be_replaced() -> None:
    register_pass(Append, "canonicalize")
    assert find_pass("canonicalize") is Append


def test_factory_without_a_name_is_an_error() -> None:
    with pytest.raises(TypeError, match="needs the name of the pass that a factory makes"):
        register_pass(lambda: Append)


@table_test("name", [None, "x"])
@table_test(
    ("given", "message"),
    [
        (Append(), r"takes a pass class, not a pass: give type\(toy-append\)"),
        (int, "takes a pass class, not the class int"),
        ("toy-append", "a pass class or a factory of one, not 'toy-append'"),
    ],
)
def test_registering_what_is_no_pass_class_is_an_error(
    given: object, message: str, name: str | None
) -> None:
    with pytest.raises(TypeError, match=message):
        register_pass(given, name)  # pyright: ignore[reportArgumentType]


# The xDSL context


def test_ir_context_has_every_installed_dialect_and_loads_none() -> None:
    context = make_ir_context()
    assert {"arith", "builtin", "relax"} <= set(context.registered_dialect_names)
    assert list(context.loaded_dialects) == []


def test_ir_context_builds_no_dialect_before_it_is_used(install: Install) -> None:
    built: list[str] = []

    def dialect() -> Dialect:
        built.append("arith")
        return Arith

    install(Plugin("a", Universe(all_dialects={"arith": dialect})))
    context = make_ir_context()
    assert built == []
    assert context.get_optional_dialect("arith") is Arith and built == ["arith"]


def test_ir_context_takes_unregistered_ops_on_request() -> None:
    assert make_ir_context(allow_unregistered=True).allow_unregistered
    assert not make_ir_context().allow_unregistered


def test_ir_contexts_are_independent() -> None:
    one, other = make_ir_context(), make_ir_context()
    one.load_registered_dialect("arith")
    assert list(other.loaded_dialects) == []


def test_a_function_that_makes_pipelines_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    register_in_test(monkeypatch, Append)
    register_pass(lambda: Sequential([Append("a"), Append("b")], name="my-pipe"), name="my-pipe")
    made = [find_pass("MyPipe")() for _ in range(2)]
    assert made[0] is not made[1] and isinstance(made[0], Sequential)
    assert tags(parse_pipeline("my-pipe,toy-append{tag=c}")(module())) == ["a", "b", "c"]
    assert str(find_pass("my-pipe").__doc__).startswith('Run sequential{name="my-pipe"}(')


def test_a_function_that_makes_a_pass_with_options_is_registered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    register_in_test(monkeypatch)
    register_pass(lambda: Append("a"), name="append-a")
    assert tags(parse_pipeline("append-a,append-a")(module())) == ["a", "a"]
    with pytest.raises(PipelineSyntaxError, match="'append-a' has no option 'tag'"):
        parse_pipeline("append-a{tag=b}")


def test_a_registered_function_makes_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    register_in_test(monkeypatch)
    register_pass(lambda: 3, name="three")  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="the function of 'three' returns a pass class or a pass"):
        find_pass("three")
