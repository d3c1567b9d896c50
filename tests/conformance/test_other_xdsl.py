"""Releases of xDSL that nobody has tried: what is accelerated with them, and that it is right."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from support.budget import some
from support.other_xdsl import ALL_ON, OPT, ran, version
from support.releases import has_xdsl
from support.suites.rewritten_xdsl import changed, copied, rewritten

from passline.passmanager.fast.parts import PARTS, REPLACED, SETTING

EVERY = (*PARTS, *REPLACED)


@pytest.fixture(scope="module")
def other_xdsl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An xDSL whose functions are written otherwise, and mean the same."""
    return rewritten(tmp_path_factory.mktemp("rewritten"))


def test_all_parts_stay_on_where_functions_are_only_written_otherwise(
    other_xdsl: Path, tmp_path: Path
):
    assert version(other_xdsl, tmp_path) == ALL_ON


def test_the_verdict_is_kept_and_a_damaged_one_is_none(other_xdsl: Path, tmp_path: Path):
    version(other_xdsl, tmp_path)
    (kept,) = (tmp_path / "passline").glob("xdsl-*.json")
    kept.write_text(json.dumps([["printing"], "as the test says"]))
    lines = version(other_xdsl, tmp_path)
    assert lines[0] == "accelerated: printing" and lines[1].endswith("(as the test says)")
    kept.write_text("{")
    assert version(other_xdsl, tmp_path) == ALL_ON
    assert json.loads(kept.read_text()) == [[*EVERY], ""]


def test_nothing_is_accelerated_where_the_verdict_cannot_be_kept(other_xdsl: Path, tmp_path: Path):
    (tmp_path / "passline").write_text("a file in place of the folder")
    lines = version(other_xdsl, tmp_path)
    assert lines[0] == "accelerated: nothing"
    assert "it was not tried with this release, and the cache cannot be written" in lines[1]


def test_releases_do_not_mix(tmp_path: Path):
    """An upgrade while a process runs: it has imported other files than are there now."""
    xdsl = copied(tmp_path / "xdsl")
    code = (
        "import sys, xdsl.printer\nfrom pathlib import Path\n"
        "file = Path(xdsl.printer.__file__)\n"
        "file.write_text('# new\\n' + file.read_text())\n"
        "from passline.passmanager.fast.acceleration import acceleration_text\n"
        "print(acceleration_text())"
    )
    done = ran(sys.executable, "-c", code, env={"XDG_CACHE_HOME": str(tmp_path)}, xdsl=xdsl)
    lines = done.stdout.splitlines()
    assert lines[0] == "accelerated: nothing", done.stderr
    assert lines[1].endswith("(its files were changed while this process runs)")


TEXT = """
func.func @f(%arg: i32, %c: i1) -> i32 {
  %x = arith.constant {b = 1, a = 2.5} 7 : i32
  %0 = arith.addi %arg, %x : i32
  %x_1 = arith.muli %0, %x {z = "s", y = [1 : i8, -2]} : i32
  %d = arith.constant dense<[1.5, 2.5]> : tensor<2xf32>
  cf.cond_br %c, ^a(%0 : i32), ^b
^a(%y: i32):
  func.return %y : i32
^b:
  cf.br ^bb3
^bb3:
  %1 = "test.op"(%x_1) ({
    %w = "test.op"() {sym = @f::@"g h"} : () -> i32
    "test.termop"() : () -> ()
  }) {f = 1.0e-3, t = true} : (i32) -> i32
  func.return %1 : i32
}
func.func @g(%arg: i32) -> i128 {
  %0 = arith.extsi %arg : i32 to i128
  %1 = arith.addi %0, %0 : i128
  func.return %1 : i128
}
"""

CHANGES = {
    "the order of attributes": {
        "printer": ("print_list(attr_dict.items()", "print_list([*attr_dict.items()][::-1]")
    },
    "numbers of values": {
        "printer": ("_next_valid_name_id[-1] - 1)", "_next_valid_name_id[-1] + 1)")
    },
    "names after hints": {"printer": ('suffix = f"_{curr_ind}"', 'suffix = f".{curr_ind}"')},
    "names of blocks": {"printer": ('f"bb{block_index}"', 'f"block{block_index}"')},
    "text of numbers": {"printer": ('f"{value:.5e}"', 'f"{value:.6e}"')},
    "spaces": {"printer": ("indent_num_spaces: int = 2", "indent_num_spaces: int = 3")},
    "types of integers": {
        "parser/attribute_parser": ("IntegerAttr(value, i64)", "IntegerAttr(value, 32)")
    },
    "values of numbers": {
        "parser/attribute_parser": ("FloatAttr(value, f64)", "FloatAttr(-value, f64)")
    },
    "hints": {"parser/core": ("val.name_hint = name", "val.name_hint = name.upper()")},
    "copies": {"ir/core": ("attributes = self.attributes.copy()", "attributes = {}")},
    "what is valid": {
        "dialects/arith": (
            "if not self.result.type.width.data > self.input.type.width.data:",
            "if not self.result.type.width.data > self.input.type.width.data + 32:",
        )
    },
    "messages": {"irdl/constraints": ("expected from variable", "wanted by variable")},
}
"""Changes of meaning: a printing order, a name, a literal, ..."""


RUN = """
import sys
from io import StringIO
import passline
from passline.passes import Canonicalize
from passline.passmanager.ir.verifier import verify
from passline.passmanager.ir.text.printer import ExactPrinter

module = passline.load(sys.argv[1])
for each in (module, Canonicalize()(module)):
    ExactPrinter(sys.stdout).print_op(each)
for text in ('"arith.addi"(%a, %b) : (i32, i64) -> i32', "arith.extsi %a : i32 to i64"):
    values = '%a = "test.op"() : () -> i32\\n%b = "test.op"() : () -> i64\\n'
    try:
        verify(passline.load(f"{values}%c = {text}"))
    except Exception as error:
        print(error)
"""


@pytest.mark.skipif(not has_xdsl("0.75"), reason="changes texts of xDSL 0.75")
@pytest.mark.parametrize("what", some([*CHANGES], 8))
def test_results_are_those_of_an_xdsl_that_means_something_else(what: str, tmp_path: Path):
    xdsl = changed(tmp_path / "xdsl", CHANGES[what])
    (tmp_path / "x.mlir").write_text(TEXT)
    command = (sys.executable, "-c", RUN, str(tmp_path / "x.mlir"))
    cache = {"XDG_CACHE_HOME": str(tmp_path)}
    found = ran(*command, env=cache, xdsl=xdsl)
    expected = ran(*command, env={SETTING: "none", **cache}, xdsl=xdsl)
    assert expected.stderr == "" and expected.stdout != ran(*command, env=cache).stdout
    assert (found.stdout, found.stderr) == (expected.stdout, "")


@pytest.mark.skipif(not has_xdsl("0.75"), reason="changes texts of xDSL 0.75")
def test_a_part_that_cannot_be_made_costs_that_part(tmp_path: Path):
    """A private class of the parser has another name, from which ours derives."""
    xdsl = copied(tmp_path / "xdsl")
    file = xdsl / "xdsl/parser/attribute_parser.py"
    file.write_text(re.sub(r"\b_TensorLiteralElement\b", "_Element", file.read_text()))
    lines = version(xdsl, tmp_path)
    assert lines[0] == "accelerated: " + ", ".join(p for p in PARTS if p != "reading")
    assert "left to xDSL: reading, locating" in lines[1] and "_TensorLiteralElement" in lines[1]
    done = ran(*OPT, env={"XDG_CACHE_HOME": str(tmp_path)}, xdsl=xdsl, input=TEXT)
    assert done.returncode == 0 and done.stdout == ran(*OPT, env={}, input=TEXT).stdout


def test_an_xdsl_that_does_not_work_is_not_accelerated(tmp_path: Path):
    xdsl = changed(tmp_path / "xdsl", {"ir/core": ("def add_use(", "def add_no_use(")})
    done = ran(
        sys.executable,
        "-c",
        "from passline.passmanager.fast.comparison import compared\n"
        "from passline.passmanager.fast.known_releases import checksum_of_files\n"
        "print(compared(checksum_of_files()).parts)",
        env={"XDG_CACHE_HOME": str(tmp_path)},
        xdsl=xdsl,
    )
    assert done.stdout == "()\n", done.stderr
    shutil.rmtree(xdsl)
