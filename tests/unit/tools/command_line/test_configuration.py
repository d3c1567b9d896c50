"""--config, --config-file and --list-configs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.passes.toy import register_in_test
from support.suites.inprocess import passline_opt
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp

from passline.passmanager import ConfigError, ModulePass, PassContext, register_config_option
from passline.passmanager import config as config_module
from passline.tools.command_line.arguments import read_config


@dataclass(frozen=True)
class Unroll(ModulePass):
    """Prints its options, as a warning."""

    name = "tir-unroll-loop"

    auto_max_step: int = 0
    factor: float = 1.0
    names: tuple[str, ...] = ()
    explicit_unroll: bool = True

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        ctx.diagnostics.warning(None, str(self))


@dataclass(frozen=True)
class Device:
    """A registered option with fields."""

    kind: str = "cpu"
    index: int = 0


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The pass and the options of this file are there, and gone afterwards."""
    register_in_test(monkeypatch, Unroll)
    monkeypatch.setattr(config_module, "_registered", dict(config_module._registered))  # pyright: ignore[reportPrivateUsage]
    register_config_option("toy.fallback_device_type", int, 1)
    register_config_option("toy.device", Device)
    yield


def shown(*args: str) -> str:
    """The options that the pass runs with."""
    result = passline_opt("-p", "tir-unroll-loop", *args, stdin="")
    assert result.status == 0, result.stderr
    return result.stderr.removeprefix("warning: ").strip()


def test_field_of_a_pass_in_tvms_spelling() -> None:
    option = "--config", "tir.UnrollLoop.auto_max_step=16"
    assert shown(*option) == "tir-unroll-loop{auto-max-step=16}"


def test_values_of_all_types() -> None:
    options = ["factor=1e-3", "names=a,b c", "explicit_unroll=false"]
    args = [word for text in options for word in ("--config", f"tir-unroll-loop.{text}")]
    expected = 'tir-unroll-loop{factor=0.001 names="a","b c" explicit-unroll=false}'
    assert shown(*args) == expected


def test_later_option_has_precedence() -> None:
    key = "tir.UnrollLoop.auto_max_step"
    other = "tir-unroll-loop.auto-max-step"
    assert "=2" in shown("--config", f"{key}=1", "--config", f"{other}=2")


def test_option_of_the_pipeline_has_precedence() -> None:
    result = passline_opt(
        "-p", "tir-unroll-loop{auto-max-step=3}", "--config", "tir.UnrollLoop.auto_max_step=1"
    )
    assert "auto-max-step=3" in result.stderr


def test_registered_options() -> None:
    config = read_config(None, ["toy.fallback_device_type=2", "toy.device.index=3"])
    ctx = PassContext(config=config)
    assert ctx.get_config("toy.fallback_device_type") == 2
    assert ctx.get_config("toy.device") == Device(index=3)


def test_toml_file(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(
        '"toy.fallback_device_type" = 7\n[tir.UnrollLoop]\nauto_max_step = 16\nnames = ["a"]\n'
        '[toy.device]\nkind = "gpu"\n'
    )
    ctx = PassContext(config=read_config(str(path), ["toy.device.index=1"]))
    assert ctx.get_config("toy.fallback_device_type") == 7
    assert ctx.get_config("toy.device") == Device("gpu", 1)
    expected = 'tir-unroll-loop{auto-max-step=16 names="a"}'
    assert shown("--config-file", str(path)) == expected


def test_command_line_has_precedence_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text("[tir-unroll-loop]\nauto-max-step = 16\nfactor = 2\n")
    text = shown("--config-file", str(path), "--config", "tir.UnrollLoop.auto_max_step=1")
    assert text == "tir-unroll-loop{auto-max-step=1 factor=2.0}"


def failing(*args: str) -> str:
    result = passline_opt("-p", "tir-unroll-loop", *args, stdin="")
    assert result.status == 2 and "Traceback" not in result.stderr
    return result.stderr


@table_test(
    ("assignment", "message"),
    [
        ("tir.UnrollLop.auto_max_step=1", "did you mean 'tir-unroll-loop.auto_max_step'?"),
        ("tir.UnrollLoop.auto_max_stp=1", "did you mean 'auto-max-step'?"),
        ("tir.UnrollLoop.auto_max_step=x", "expected a whole number, got x"),
        ("tir.UnrollLoop=1", "has fields: write tir.UnrollLoop.FIELD=VALUE"),
        ("tir.UnrollLoop.auto_max_step", "expected KEY=VALUE"),
        ("zzz=1", "there is no config option and no pass 'zzz'"),
    ],
)
def test_wrong_assignment(assignment: str, message: str) -> None:
    assert message in failing("--config", assignment)


def test_file_that_is_no_toml(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text("a = \n")
    assert f"'{path}' is not TOML: Invalid value (at line 1" in failing("--config-file", str(path))


def test_wrong_value_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text('[tir.UnrollLoop]\nauto_max_step = "many"\n')
    assert "expected a whole number, got 'many'" in failing("--config-file", str(path))


def test_missing_file() -> None:
    result = passline_opt("--config-file", "no.toml", stdin="")
    assert result.status == 1 and result.stderr == "error: 'no.toml': No such file or directory\n"


def test_list_of_all_keys() -> None:
    lines = [line.split() for line in passline_opt("--list-configs").stdout.splitlines()]
    assert ["tir-unroll-loop.auto_max_step", "int"] in lines
    assert ["toy.fallback_device_type", "int"] in lines and ["toy.device.kind", "str"] in lines
    assert lines == sorted(lines)


def test_error_of_python_users_is_a_config_error() -> None:
    with pytest.raises(ConfigError, match="'toy.device' has no option 'indx'"):
        PassContext(config={"toy.device.indx": 1, "toy.device": {"kind": "gpu"}})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"[fold-constant]\nmax-elements = {'1' * 6000}\n", "is not TOML: Exceeds the limit"),
        (
            "[fold-constant]\nmax-elements = -5\n",
            "'fold-constant.max-elements': expected 0 or more",
        ),
        ("a = " + "[" * 100_000, "is nested too deeply"),
    ],
)
def test_numbers_and_lists_that_no_file_should_have(
    tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "x.toml"
    file.write_text(text)
    result = passline_opt("--config-file", str(file), "-")
    assert result.status == 2 and message in result.stderr, result.stderr
    assert len(result.stderr) < 500
