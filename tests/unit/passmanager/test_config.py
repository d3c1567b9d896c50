"""The options of a context: those that fill the fields of passes, and registered ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from support.passes.toy import Append, Recorder, module, register_in_test, tags
from support.tables import table_test
from xdsl import passes as xdsl_passes
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr

from passline.passmanager import (
    ConfigError,
    Fixpoint,
    ModulePass,
    PassContext,
    PassInfo,
    Sequential,
    register_config_option,
)
from passline.passmanager.config import option_type
from passline.passmanager.foreign_names import ForeignName, ForeignTable
from passline.passmanager.names import name_key, register_foreign_names
from passline.passmanager.registry import installed


@dataclass(frozen=True)
class UnrollLoop(ModulePass):
    """Writes its options into the module."""

    name = "tir-unroll-loop"

    auto_max_step: int = 0
    explicit_unroll: bool = True
    names: tuple[str, ...] = ()

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        Append(f"{self.auto_max_step} {self.explicit_unroll}").transform_module(module, ctx)


@dataclass(frozen=True)
class Foreign(xdsl_passes.ModulePass):
    """A pass of another project."""

    name = "toy-foreign"

    tag: str = "x"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        op.attributes["tag"] = StringAttr(self.tag)


@dataclass(frozen=True)
class Needs(ModulePass):
    """A pass with a required option."""

    name = "toy-needs"

    size: int
    step: int = 1

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        Append(f"{self.size} {self.step}").transform_module(module, ctx)


@dataclass(frozen=True)
class Even(ModulePass):
    """A pass that checks its option."""

    name = "toy-even"

    size: int = 0

    def __post_init__(self) -> None:
        if self.size % 2:
            raise ValueError(f"size is {self.size}: expected an even number")

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        pass


@dataclass(frozen=True)
class Settings:
    """Options that belong to no pass."""

    depth: int = 8
    names: tuple[str, ...] = ("a",)


@dataclass(frozen=True)
class Choosy:
    """Options with a required field whose value is checked."""

    size: int

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError("size is not negative")


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the passes of this file, and restore the registry after each test."""
    register_in_test(monkeypatch, Append, Even, Foreign, Needs, UnrollLoop)
    monkeypatch.setattr("passline.passmanager.config._registered", {})


def ran(pass_: ModulePass | Sequential | Fixpoint, config: dict[str, object]) -> list[str]:
    """Return the options of passes under `config`, as they wrote them into the module."""
    with PassContext(config=config):
        return tags(pass_(module()))


def refusal(config: dict[str, object]) -> str:
    """Return the message of the ConfigError for a configuration."""
    with pytest.raises(ConfigError) as caught:
        PassContext(config=config)
    return str(caught.value)


class Texts(Recorder):
    """An instrument that notes the text of each pass."""

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        self.events.append(info.text)


def texts(pass_: ModulePass | Sequential, config: dict[str, object]) -> Sequence[str]:
    """Return the texts of the passes as instruments get them."""
    instrument = Texts()
    with PassContext(config=config, instruments=[instrument]):
        pass_(module())
    return [event for event in instrument.events if event[0] != "%"]


# Keys that name a pass


def test_key_fills_the_fields_of_the_pass() -> None:
    assert ran(Append(), {"toy-append": {"tag": "y"}}) == ["y"]


@table_test("key", ["tir.UnrollLoop", "tir-unroll-loop", "TirUnrollLoop"])
def test_key_in_any_spelling(key: str) -> None:
    assert ran(UnrollLoop(), {key: {"auto_max_step": 16}}) == ["16 True"]


def test_field_in_kebab_case() -> None:
    assert ran(UnrollLoop(), {"tir.UnrollLoop": {"auto-max-step": 16}}) == ["16 True"]


def test_field_that_was_set_on_the_pass_is_kept() -> None:
    config: dict[str, object] = {"tir.UnrollLoop": {"auto_max_step": 16, "explicit_unroll": False}}
    assert ran(UnrollLoop(auto_max_step=2), config) == ["2 False"]


def test_required_field_of_the_pass_is_kept() -> None:
    assert ran(Needs(3), {"toy-needs": {"size": 4, "step": 5}}) == ["3 5"]


def test_instance_of_the_class_stands_for_its_fields() -> None:
    assert ran(UnrollLoop(), {"tir.UnrollLoop": UnrollLoop(16, False)}) == ["16 False"]


def test_passes_inside_composites_are_filled() -> None:
    pipeline = Sequential([Sequential([Append()]), Append("own"), Fixpoint(UnrollLoop(), 1)])
    config: dict[str, object] = {"toy-append": {"tag": "y"}, "tir.UnrollLoop": {"auto_max_step": 1}}
    ctx = PassContext(config=config, renderer=lambda diagnostics: None)
    with ctx:
        assert tags(pipeline(module())) == ["y", "own", "1 True"]


def test_value_that_the_pass_refuses_is_an_error() -> None:
    message = "config option 'toy-even': size is 3: expected an even number"
    with pytest.raises(ConfigError, match=message), PassContext(config={"toy-even.size": 3}):
        Even()(module())


def test_required_passes_are_filled() -> None:
    class Dependent(ModulePass):
        name = "toy-dependent"
        required = ("toy-append",)

        def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
            pass

    assert ran(Sequential([Dependent()]), {"toy-append": {"tag": "y"}}) == ["y"]


def test_foreign_passes_are_filled() -> None:
    assert ran(Sequential([Foreign()]), {"ToyForeign": {"tag": "y"}}) == ["y"]


def test_fields_are_converted_to_their_types() -> None:
    ctx = PassContext(config={"tir.UnrollLoop": {"names": ["a", "b"]}})
    fields = ctx.get_config("tir.UnrollLoop")
    assert fields == {"auto_max_step": 0, "explicit_unroll": True, "names": ("a", "b")}


def test_pass_object_itself_is_left_alone() -> None:
    pass_ = Append()
    assert ran(pass_, {"toy-append": {"tag": "y"}}) == ["y"]
    assert pass_ == Append()


def test_nothing_is_filled_outside_the_context() -> None:
    with PassContext(config={"toy-append": {"tag": "y"}}):
        pass
    assert tags(Append()(module())) == ["x"]


def test_empty_dict_sets_nothing() -> None:
    assert ran(Append(), {"toy-append": {}}) == ["x"]


def test_other_class_of_the_same_name_takes_the_fields_that_it_has() -> None:
    class Other(ModulePass):
        name = "toy-append"

        def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
            Append("other").transform_module(module, ctx)

    assert ran(Other(), {"toy-append": {"tag": "y"}}) == ["other"]


def test_instruments_see_the_configured_options() -> None:
    config: dict[str, object] = {"toy-append": {"tag": "y"}}
    assert texts(Append(), config) == ['toy-append{tag="y"}']
    assert 'toy-append{tag="y"}' in texts(Sequential([Append()]), config)


# Keys that name a field


def test_key_may_name_a_field() -> None:
    config: dict[str, object] = {
        "tir.UnrollLoop.auto_max_step": 16,
        "tir.UnrollLoop.explicit-unroll": False,
    }
    assert ran(UnrollLoop(), config) == ["16 False"]


@table_test("key", ["tir.UnrollLoop.explicit_unroll", "tir-unroll-loop"])
@table_test("whole_first", [True, False])
def test_fields_of_one_pass_are_put_together(whole_first: bool, key: str) -> None:
    items: list[tuple[str, object]] = [
        ("tir.UnrollLoop", {"auto_max_step": 16}),
        (key, False if key.endswith("explicit_unroll") else {"explicit_unroll": False}),
    ]
    assert ran(UnrollLoop(), dict(items if whole_first else items[::-1])) == ["16 False"]


def test_field_of_a_registered_dataclass() -> None:
    register_config_option("toy.Settings", Settings)
    ctx = PassContext(config={"toy.Settings.depth": 3})
    assert ctx.get_config("toy.Settings") == Settings(3)


def test_unknown_field_in_a_key_gets_the_nearest() -> None:
    assert refusal({"toy-append.tga": 1}) == (
        "config option 'toy-append' has no option 'tga', did you mean 'tag'?"
    )


@table_test("whole_first", [True, False])
def test_field_beside_an_instance_is_an_error(whole_first: bool) -> None:
    items: list[tuple[str, object]] = [("toy-append", Append("y")), ("toy-append.tag", "z")]
    assert refusal(dict(items if whole_first else items[::-1])).startswith(
        "config option 'toy-append' is given twice: "
    )


# What is refused


def test_unknown_key_gets_the_nearest() -> None:
    assert refusal({"tir.UnrolLoop": {}}) == (
        "there is no config option and no pass 'tir.UnrolLoop'; did you mean 'tir-unroll-loop'?"
    )


def test_unknown_key_near_to_a_registered_option() -> None:
    register_config_option("relax.fallback_device_type", int, 1)
    assert "did you mean 'relax.fallback_device_type'?" in refusal({"relax.falback_device": 1})


def test_unknown_key_near_to_none_gets_the_registered_options() -> None:
    assert refusal({"zzz": 1}).endswith("'zzz'; registered options: none")
    register_config_option("b.option", int)
    register_config_option("a.option", int)
    assert refusal({"zzz": 1}).endswith("'zzz'; registered options: a.option, b.option")


def test_unknown_field_gets_the_nearest() -> None:
    assert refusal({"tir.UnrollLoop": {"auto_max_steps": 1}}) == (
        "config option 'tir.UnrollLoop' has no option 'auto_max_steps', "
        "did you mean 'auto-max-step'?"
    )


def test_field_of_a_wrong_type() -> None:
    assert refusal({"tir.UnrollLoop": {"auto_max_step": "16"}}) == (
        "config option 'tir.UnrollLoop.auto_max_step': expected a whole number, got '16'"
    )


def test_field_that_is_none() -> None:
    assert "expected a whole number, got None" in refusal(
        {"tir.UnrollLoop": {"auto_max_step": None}}
    )


def test_none_is_an_error() -> None:
    assert refusal({"tir.UnrollLoop": None}).startswith("config option 'tir.UnrollLoop' is None")


@table_test("value", [1, "x", [("auto_max_step", 1)], Append()])
def test_neither_dict_nor_instance(value: object) -> None:
    assert refusal({"tir.UnrollLoop": value}) == (
        "config option 'tir.UnrollLoop' is a dict with fields of tir-unroll-loop "
        f"(auto_max_step, explicit_unroll, names), not {value!r}"
    )


def test_same_option_in_two_spellings() -> None:
    register_config_option("toy.flag", bool)
    given: dict[str, object] = {"toy.flag": True, "ToyFlag": False}
    assert refusal(given) == "config option 'toy.flag' is given twice: True and False"


def test_key_that_is_no_string() -> None:
    with pytest.raises(ConfigError, match="the key of a config option is a string, not 3"):
        PassContext(config={3: 1})  # pyright: ignore[reportArgumentType]


@table_test("config", [["toy-append"], "toy-append"])
def test_config_that_is_no_dict(config: object) -> None:
    with pytest.raises(TypeError, match="config is a dict of options"):
        PassContext(config=config)  # pyright: ignore[reportArgumentType]


def test_callers_dict_is_left_alone() -> None:
    fields: dict[str, object] = {"names": ["a"]}
    config: dict[str, object] = {"tir.UnrollLoop": fields}
    ctx = PassContext(config=config)
    assert config == {"tir.UnrollLoop": {"names": ["a"]}} and config["tir.UnrollLoop"] is fields
    fields["auto_max_step"] = 7
    with ctx:
        assert tags(UnrollLoop()(module())) == ["0 True"]


# Registered options


def test_plain_option() -> None:
    register_config_option("relax.fallback_device_type", int)
    ctx = PassContext(config={"relax.fallback_device_type": 2})
    assert ctx.get_config("relax.fallback_device_type") == 2


def test_type_that_is_imported_on_first_use() -> None:
    made: list[type] = []

    def make() -> type:
        made.append(Settings)
        return Settings

    register_config_option("toy.Settings", make)
    assert not made
    assert PassContext().get_config("toy.Settings") == Settings()
    register_config_option("toy.level", lambda: int, "high")
    with pytest.raises(ConfigError, match="config option 'toy.level': expected a whole number"):
        PassContext().get_config("toy.level")


def test_plain_option_of_a_wrong_type() -> None:
    register_config_option("toy.flag", bool)
    message = "config option 'toy.flag': expected true or false, got 1"
    assert refusal({"toy.flag": 1}) == message
    assert "got {'a': 1}" in refusal({"toy.flag": {"a": 1}})


def test_registered_option_that_is_none() -> None:
    register_config_option("toy.flag", bool)
    assert refusal({"toy.flag": None}).startswith("config option 'toy.flag' is None")


def test_whole_number_for_a_number() -> None:
    register_config_option("toy.ratio", float)
    value = PassContext(config={"toy.ratio": 2}).get_config("toy.ratio")
    assert value == 2.0 and isinstance(value, float)


def test_dict_becomes_the_dataclass_with_defaults() -> None:
    register_config_option("toy.Settings", Settings)
    ctx = PassContext(config={"toy.Settings": {"depth": 3}})
    assert ctx.get_config("toy.Settings") == Settings(3, ("a",))


def test_instance_of_the_dataclass_is_taken_as_it_is() -> None:
    register_config_option("toy.Settings", Settings)
    given = Settings(4)
    assert PassContext(config={"toy.Settings": given}).get_config("toy.Settings") is given


def test_field_of_a_registered_dataclass_is_checked() -> None:
    register_config_option("toy.Settings", Settings)
    message = "config option 'toy.Settings.depth': expected a whole number, got 'x'"
    assert refusal({"toy.Settings": {"depth": "x"}}) == message
    assert "has no option 'dept', did you mean 'depth'?" in refusal({"toy.Settings": {"dept": 1}})
    assert refusal({"toy.Settings": 1}) == "config option 'toy.Settings': expected Settings, got 1"


def test_dict_that_makes_no_instance_of_the_dataclass() -> None:
    register_config_option("toy.Choosy", Choosy, Choosy(1))
    assert "config option 'toy.Choosy'" in refusal({"toy.Choosy": {}})
    assert "'size'" in refusal({"toy.Choosy": {}})
    assert refusal({"toy.Choosy": {"size": -1}}) == (
        "config option 'toy.Choosy': size is not negative"
    )


def test_registering_twice_is_an_error_in_any_spelling() -> None:
    register_config_option("toy.flag", bool)
    for key in ("toy.flag", "ToyFlag"):
        with pytest.raises(ValueError, match=f"config option '{key}' is registered already"):
            register_config_option(key, bool)


def test_registering_the_name_of_a_pass_is_an_error() -> None:
    with pytest.raises(ValueError, match="'tir.UnrollLoop' is the name of a pass"):
        register_config_option("tir.UnrollLoop", Settings)


def test_registering_a_default_of_another_type_is_an_error() -> None:
    with pytest.raises(ConfigError, match="'toy.flag': expected true or false, got 'x'"):
        register_config_option("toy.flag", bool, "x")
    register_config_option("toy.flag", bool)


def test_passes_see_registered_options() -> None:
    register_config_option("toy.tag", str)

    class Reads(ModulePass):
        name = "toy-reads"

        def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
            Append(str(ctx.get_config("toy.tag"))).transform_module(module, ctx)

    assert ran(Reads(), {"toy.tag": "y"}) == ["y"]


# Reading


def test_registered_default_is_read_where_nothing_is_set() -> None:
    register_config_option("toy.flag", bool, True)
    register_config_option("toy.Settings", Settings)
    register_config_option("toy.tag", str)
    ctx = PassContext()
    assert ctx.get_config("toy.flag") is True
    assert ctx.get_config("toy.Settings") == Settings()
    assert ctx.get_config("toy.tag") is None


def test_option_is_read_in_any_spelling() -> None:
    register_config_option("toy.flag", bool)
    assert PassContext(config={"ToyFlag": True}).get_config("toy-flag") is True


def test_fields_of_a_pass_are_read_back_with_their_defaults() -> None:
    ctx = PassContext(config={"tir.UnrollLoop": {"auto_max_step": 10}})
    expected = {"auto_max_step": 10, "explicit_unroll": True, "names": ()}
    assert ctx.get_config("tir.UnrollLoop") == expected
    assert PassContext().get_config("tir-unroll-loop") == {**expected, "auto_max_step": 0}


def test_required_field_that_is_not_set_is_not_read_back() -> None:
    assert PassContext().get_config("toy-needs") == {"step": 1}


def test_fields_that_were_read_can_be_changed_without_effect() -> None:
    ctx = PassContext(config={"toy-append": {"tag": "y"}})
    fields = ctx.get_config("toy-append")
    assert isinstance(fields, dict)
    fields["tag"] = "z"
    with ctx:
        assert tags(Append()(module())) == ["y"]


def test_config_is_a_mapping_of_what_was_set() -> None:
    config = PassContext(config={"tir.UnrollLoop": {"auto_max_step": 16}}).config
    fields = {"auto_max_step": 16, "explicit_unroll": True, "names": ()}
    assert dict(config) == {"tir.UnrollLoop": fields} and len(config) == 1
    assert config["tir.transform.UnrollLoop"] == config.get("tir-unroll-loop") == fields
    assert "tir-unroll-loop" in config and "toy-append" not in config
    assert config.get("toy-append") is None and config.get("zzz", 3) == 3
    with pytest.raises(KeyError, match="toy-append"):
        config["toy-append"]


def test_config_of_a_context_can_be_given_to_another() -> None:
    ctx = PassContext(config={"tir.UnrollLoop": {"auto_max_step": 16}})
    assert dict(PassContext(config=ctx.config).config) == dict(ctx.config)


def test_unknown_key_with_the_name_of_a_field_gets_the_pass() -> None:
    assert "did you mean 'tir-unroll-loop.auto_max_step'?" in refusal({"loops.auto_max_step": 1})


def test_the_key_of_another_project_gets_its_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("passline.passmanager.names.foreign_names", [])
    row = ForeignName("tir.disable_all", note="write opt_level=0")
    register_foreign_names(lambda: ForeignTable({}, {name_key(row.name): row}))
    assert refusal({"tir.disable_all": True}).endswith("; write opt_level=0")


def test_keys_of_tvm_get_a_hint() -> None:
    assert 'disabled_pass=["tir-vectorize-loop"]' in refusal({"tir.disable_vectorize": True})
    assert "leave it out" in refusal({"testing.immutable_module": True})


def test_unknown_key_reads_as_none() -> None:
    assert PassContext().get_config("zzz") is None


def test_repr_of_a_context_shows_its_config() -> None:
    assert "config={'toy-append': {'tag': 'y'}}" in repr(
        PassContext(config={"toy-append": {"tag": "y"}})
    )


def test_list_of_all_options_has_their_types(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed(), "passes", {"tir-unroll-loop": lambda: UnrollLoop})
    register_config_option("toy.flag", bool)
    register_config_option("toy.Settings", Settings)
    assert PassContext.list_configs() == {
        "tir-unroll-loop": {"type": "UnrollLoop"},
        "tir-unroll-loop.auto_max_step": {"type": "int"},
        "tir-unroll-loop.explicit_unroll": {"type": "bool"},
        "tir-unroll-loop.names": {"type": "tuple[str, ...]"},
        "toy.Settings": {"type": "Settings"},
        "toy.Settings.depth": {"type": "int"},
        "toy.Settings.names": {"type": "tuple[str, ...]"},
        "toy.flag": {"type": "bool"},
    }


def test_type_of_a_key() -> None:
    register_config_option("toy.flag", bool)
    register_config_option("toy.Settings", Settings)
    types: dict[str, object] = {
        "tir.UnrollLoop.auto_max_step": int,
        "tir-unroll-loop.auto-max-step": int,
        "tir.UnrollLoop": None,
        "toy.flag": bool,
        "toy.Settings.depth": int,
        "toy.Settings": None,
    }
    assert {key: option_type(key) for key in types} == types


def test_type_of_a_key_or_field_that_there_is_not() -> None:
    with pytest.raises(ConfigError, match="no pass 'zzz.x'"):
        option_type("zzz.x")
    with pytest.raises(ConfigError, match="'toy-append' has no option 'tga', did you mean 'tag'?"):
        option_type("toy-append.tga")
