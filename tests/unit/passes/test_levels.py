"""All registered passes up to a level, as one pipeline."""

from __future__ import annotations

import pytest
from support.passes.toy import named, register_in_test
from support.tables import table_test

import passline
from passline.passes import OPTIMIZE, PASSES
from passline.passmanager import (
    ConfigError,
    PassContext,
    Sequential,
    find_pass,
    info_of,
    register_pass,
)
from passline.passmanager.runner import nested_passes


def names(pipeline: Sequential) -> list[str]:
    """Return the names of all passes of a pipeline, those of nested ones too."""
    return [info_of(pass_).name for pass_ in nested_passes(pipeline)][1:]


def level_of(name: str) -> int | None:
    """Return the level of a registered pass; None for one that needs arguments."""
    try:
        return info_of(find_pass(name)()).opt_level
    except TypeError:
        return None


LEVELS = {name: level for name in PASSES if (level := level_of(name)) is not None}


@table_test("level", [0, 1, 2, 3, 4])
def test_it_has_the_passes_of_the_level_alone(level: int) -> None:
    found = names(passline.passes.at_level(level))
    assert {name for name, own in LEVELS.items() if own <= level} <= {*found}
    assert not [name for name in found if LEVELS.get(name, 0) > level]


def test_the_order_is_that_of_the_pipelines() -> None:
    found = names(passline.passes.at_level(4))
    written = [text.partition("{")[0] for text in OPTIMIZE if "(" not in text]
    assert [name for name in found if name in written] == written
    assert found.index("fuse-ops") < found.index("legalize-ops") < found.index("lower-tir")
    at = found.index("combine-parallel-conv2d")
    assert found[at + 1] == "combine-parallel-matmul"
    assert found.index("gradient") < found.index("inline")


def test_disabled_passes_are_left_out() -> None:
    with PassContext(disabled_pass=["gradient", "FuseOps"]):
        found = names(passline.passes.at_level(3))
    assert "gradient" not in found and "fuse-ops" not in found and "legalize-ops" in found


def test_passes_of_projects_are_in_it_with_their_places(monkeypatch: pytest.MonkeyPatch) -> None:
    register_in_test(monkeypatch)
    register_pass(type(named("mine", level=2, ahead=["fuse-ops"])))
    found = names(passline.passes.at_level(2))
    assert found[found.index("mine") + 1] == "fuse-ops"
    assert "mine" not in names(passline.passes.at_level(1))


def test_passes_of_xdsl_have_no_level() -> None:
    assert "convert-arith-to-varith" not in names(passline.passes.at_level(4))


def test_it_optimizes_and_lowers() -> None:
    text = """
    func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
      %y = relax.nn.relu %x : (tensor<3xf32>) -> tensor<3xf32>
      func.return %y : tensor<3xf32>
    }"""
    not_wanted = ["gradient", "print-ir", "print-op-stats"]
    with PassContext(opt_level=3, disabled_pass=not_wanted):
        result = passline.passes.at_level(3)(passline.load(text))
    assert "llvm.func @main" in str(result)


def test_a_level_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(ConfigError, match="levels are 0 to 4"):
        passline.passes.at_level(5)
