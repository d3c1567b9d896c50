"""The table of TVM's passes and config keys: every name leads to a counterpart, or to the reason
why there is none. As a program this file writes the page with the table, `docs/tvm-passes.md`.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from support.passes.toy import Append, collect, module, named, register_in_test, tags
from support.tables import table_test

import passline
import passline.transform
from passline.passes import PlanMemory
from passline.passes.tvm_names import read_names, read_sections
from passline.passmanager import (
    ConfigError,
    PassContext,
    PassDependencyError,
    PassInfo,
    PassNotFoundError,
    PipelineSyntaxError,
    Sequential,
    find_pass,
    parse_pipeline,
)
from passline.passmanager.config import option_type
from passline.passmanager.foreign_names import ForeignName
from passline.passmanager.names import name_key

PAGE = Path(__file__).parents[3] / "docs" / "tvm-passes.md"
SECTIONS = read_sections()
TABLE = read_names()
PASSES = SECTIONS["passes"]
KEYS = SECTIONS["keys"]
PIPELINES = SECTIONS["pipelines"]
ROWS = [*PASSES, *SECTIONS["older passes"]]


def counterparts(row: ForeignName) -> list[str]:
    """Return the passes, or the key, that stand for a row."""
    return row.here.split(",") if row.here else []


@table_test("row", ROWS)
def test_counterparts_are_passes(row: ForeignName) -> None:
    for name in counterparts(row):
        assert name_key(find_pass(name).name) == name_key(name)
    assert not row.is_same or len(counterparts(row)) == 1
    assert row.here or row.note, "a row without a counterpart says why"


@table_test("row", KEYS)
def test_keys_are_accepted_or_say_what_to_write(row: ForeignName) -> None:
    if row.is_same:
        option_type(row.name)  # which raises for an unknown key
        return
    with pytest.raises(ConfigError) as info:
        PassContext(config={row.name: True})
    assert (row.here or row.note) in str(info.value)
    if row.here:
        option_type(row.here)


@table_test("row", ROWS)
def test_every_spelling_of_a_pass_is_answered(row: ForeignName) -> None:
    namespace, _, name = row.name.partition(".")
    spelling = f"{namespace}.transform.{name}"
    if namespace in ("relax", "tirx", "s_tir"):
        for each in (row.name, spelling, f"tvm.{spelling}"):
            found = TABLE.find_pass(each)
            assert found is not None and (found.here, found.note) == (row.here, row.note)
    if row.is_same:
        assert find_pass(spelling) is find_pass(row.here)
        return
    with pytest.raises(PassNotFoundError) as info:
        find_pass(spelling)
    expected = f"did you mean '{row.here}'?" if row.here else f"has no counterpart: {row.note}"
    assert expected in str(info.value)


def test_a_class_of_tvm_is_found_without_its_namespace() -> None:
    assert find_pass("StmtSimplify") is find_pass("tir-simplify")
    assert find_pass("stmt-simplify") is find_pass("tir-simplify")
    same, fused, devices = "StaticPlanBlockMemory", "FuseTIR", "RealizeVDevice"
    assert getattr(passline.transform, same) is PlanMemory
    with pytest.raises(AttributeError, match=r"did you mean 'LegalizeOps'\? \(it makes one kernel"):
        getattr(passline.transform, fused)
    with pytest.raises(AttributeError, match=r"did you mean 'passline.passes.PlanDevices'"):
        getattr(passline, devices)


def test_a_registered_pass_has_precedence(monkeypatch: pytest.MonkeyPatch) -> None:
    own = named("StmtSimplify")
    register_in_test(monkeypatch, type(own))
    assert find_pass("StmtSimplify") is type(own)
    assert find_pass("tirx.transform.StmtSimplify").name == "tir-simplify"


def test_names_of_tvm_work_where_passes_are_named() -> None:
    assert parse_pipeline("StaticPlanBlockMemory").passes == (PlanMemory(),)
    info = PassInfo("plan-memory")
    assert info.name == "StaticPlanBlockMemory" and info.name != "FuseTIR"
    ctx = PassContext(disabled_pass=["StaticPlanBlockMemory"], required_pass=["tir.Simplify"])
    assert ctx.is_disabled(info) and not ctx.pass_enabled(info)
    assert ctx.pass_enabled(PassInfo("tir-simplify", 4))
    config = PassContext(config={"tirx.StmtSimplify": {}, "relax.FuseOps.max_depth": 2}).config
    assert [*config] == ["tir-simplify", "relax.FuseOps"]
    assert config["tirx.StmtSimplify"] == config["tir-simplify"]


def test_a_disabled_pass_of_tvm_is_no_mistake() -> None:
    found: list[str] = []
    names = ["StaticPlanBlockMemory", "RewriteCUDAGraph"]
    with PassContext(disabled_pass=names, renderer=collect(found)):
        assert tags(Sequential([Append("a")])(module())) == ["a"]
    (warning,) = found
    assert "names 'RewriteCUDAGraph', which is not a pass; relax.RewriteCUDAGraph has no" in warning


def test_pipelines_point_at_the_counterpart() -> None:
    with pytest.raises(PipelineSyntaxError, match=r"did you mean 'legalize-ops'\? \(it makes one"):
        parse_pipeline("FuseTIR")
    with pytest.raises(PipelineSyntaxError, match="relax.RewriteCUDAGraph has no counterpart"):
        parse_pipeline("RewriteCUDAGraph")


def test_a_requirement_has_the_name_that_is_registered() -> None:
    pass_ = named("x", requires=["StaticPlanBlockMemory"])
    with pytest.raises(PassDependencyError, match="did you mean 'plan-memory'"):
        Sequential([pass_])(module())


def test_names_that_no_project_has_are_unknown() -> None:
    assert TABLE.find_pass("there-is-no-such-pass") is None
    assert TABLE.find_key("there.is.no.such.key") is None


# Beside TVM itself

NO_PASSES = {
    *("Pass", "ModulePass", "FunctionPass", "DataflowBlockPass", "PrimFuncPass"),
    *("PassContext", "PassInfo", "Sequential", "FusionPattern", "PatternCheckContext", "Callable"),
    *("HoistedConditionals", "HoistedLetBindings"),
}
"""The names in TVM's modules of passes that make none."""


def tvm_modules() -> Iterator[ModuleType]:
    pytest.importorskip("tvm", reason="apache-tvm is not installed")
    for namespace in ("ir", "relax", "tirx", "s_tir"):
        yield importlib.import_module(f"tvm.{namespace}.transform")


def test_the_table_has_each_pass_of_the_installed_tvm() -> None:
    found = {
        f"{tvm.__name__.split('.')[1]}.{name}"
        for tvm in tvm_modules()
        for name, _ in inspect.getmembers(tvm, callable)
        if name[0].isupper() and name not in NO_PASSES and not name.endswith("Config")
    }
    assert found == {row.name for row in PASSES}


def test_the_table_has_each_pipeline_of_the_installed_tvm() -> None:
    pytest.importorskip("tvm", reason="apache-tvm is not installed")
    pipeline = importlib.import_module("tvm.relax.pipeline")
    assert {*pipeline.PIPELINE_MAP} == {row.name for row in PIPELINES}


def test_the_table_has_each_key_of_the_installed_tvm() -> None:
    ir, *_ = tvm_modules()
    assert {*ir.PassContext.list_configs()} == {row.name for row in KEYS}


# The page

START = """# Passes of TVM

Each pass and each key of the config of TVM 0.27, with its counterpart in Passline.

* **Bold**: the same pass. TVM's name finds it wherever a pass is named: `-p StaticPlanBlockMemory`,
  `find_pass("relax.transform.StaticPlanBlockMemory")`, `passline.transform.StaticPlanBlockMemory`,
  `disabled_pass=["StaticPlanBlockMemory"]`. `required` of a pass takes the name in bold.
* Any other name is an error, which says what stands here.

How passes of the same name differ is in [Differences from TVM](tvm-differences.md). The table is
`passes/tvm_names.txt`; `python tests/unit/passes/test_tvm_names.py` writes this page.
"""

TITLES = {
    "ir": "tvm.ir.transform",
    "relax": "tvm.relax.transform",
    "tirx": "tvm.tirx.transform",
    "s_tir": "tvm.s_tir.transform",
}


CODE = re.compile(r"(\w+(?:\.\w+)+|\w+(?:-\w+)*\{\S+\}|\w+_pass(?:es)?=\S+|@\w+)")
"""The words of a note that are code."""


def page() -> str:
    """Return the text of the page."""
    parts = [START]
    for namespace, title in TITLES.items():
        rows = [row for row in PASSES if row.name.startswith(f"{namespace}.")]
        parts.append(f"## `{title}`\n\n| TVM | Passline | |\n|---|---|---|\n{table(rows)}")
    parts.append(
        "## Pipelines\n\n`passline.get_pipeline(name)` returns them.\n\n"
        f"| TVM | Passline | |\n|---|---|---|\n{table(PIPELINES)}"
    )
    parts.append(f"## Keys of the config\n\n| TVM | Passline | |\n|---|---|---|\n{table(KEYS)}")
    return "\n".join(parts)


def table(rows: list[ForeignName]) -> str:
    lines: list[str] = []
    for row in rows:
        name = row.name.partition(".")[2] if row in PASSES else row.name
        here = ", ".join(f"`{each}`" for each in counterparts(row))
        here = f"**{here}**" if row.is_same else here or "none"
        note = re.sub(
            r"(?<![\w`])(\w+\.\w+[\w.]*(?:=\S+)?|\w+_pass=\S+|@\w+)(?![\w`])", r"`\1`", row.note
        )
        lines.append(f"| `{name}` | {here} | {note} |\n")
    return "".join(lines)


def test_the_page_shows_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
