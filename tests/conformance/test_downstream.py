"""Projects on xDSL from the package index: each installs beside Passline, its own tests pass with
passline-opt in the place of xdsl-opt, and its passes run in pipelines of Passline."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.suites.downstream import Project
from support.suites.packages import package_files

pytestmark = pytest.mark.downstream

JAX = Project("xdsl-jax==0.6.0")
CATALYST = Project("pennylane-catalyst==0.15.0")

DIFFERENT = {"version.mlir": "the version of the tool that runs"}
"""The tests of xdsl-jax with another result, each with the reason."""


@pytest.mark.parametrize(("project", "release"), [(JAX, "0.73."), (CATALYST, "0.59.")])
def test_installs_beside_passline(project: Project, release: str) -> None:
    assert project.release().startswith(release)
    assert "passline" in project.run("passline-opt", "--version")


def test_suite_of_xdsl_jax() -> None:
    suite = package_files(JAX.requirement, source=True) / "tests" / "filecheck"
    theirs = JAX.results(suite, with_passline=False)
    ours = JAX.results(suite, with_passline=True)
    print(f"xdsl-jax: {len(ours)} tests, {[*ours.values()].count('PASS')} pass with passline-opt")
    assert ours.keys() == theirs.keys() and len(ours) > 20
    # On a loaded machine some exceed the time limit of the suite with the project's own tool.
    compared = {name for name in ours if theirs[name] != "TIMEOUT"}
    changed = {name for name in compared if theirs[name] != ours[name]}
    assert changed == {*DIFFERENT}


ROTATIONS = """\
func.func @twice(%q: !quantum.bit, %angle: f64) -> !quantum.bit {
  %0 = quantum.custom "Hadamard"() %q : !quantum.bit
  %1 = quantum.custom "Hadamard"() %0 : !quantum.bit
  %2 = quantum.custom "RX"(%angle) %1 : !quantum.bit
  %3 = quantum.custom "RX"(%angle) %2 : !quantum.bit
  func.return %3 : !quantum.bit
}
"""
PASSES = "xdsl-cancel-inverses,xdsl-merge-rotations"


@pytest.fixture
def rotations(tmp_path: Path) -> str:
    path = tmp_path / "rotations.mlir"
    path.write_text(ROTATIONS)
    return str(path)


@pytest.mark.parametrize("passes", ["", *PASSES.split(","), PASSES])
def test_passes_of_catalyst_by_their_entry_point(passes: str, rotations: str) -> None:
    pipeline = ["-p", passes] if passes else []
    expected = CATALYST.run("xdsl-opt", rotations, *pipeline)
    assert CATALYST.run("passline-opt", rotations, *pipeline) == expected
    assert ("Hadamard" in expected) == ("inverses" not in passes)


def test_bisection_finds_the_pass_of_catalyst(rotations: str) -> None:
    found = CATALYST.run(
        "passline-bisect", rotations, "-p", PASSES, "--bad-if", "arith.addf", "--quiet"
    )
    assert "xdsl-merge-rotations (2 of 2 that ran)" in found and "@twice" in found


EMBEDDED = """
import sys
from catalyst.python_interface.xdsl_universe import CATALYST_XDSL_UNIVERSE as UNIVERSE
from xdsl.passes import PassPipeline

from passline.passmanager import PassContext, Sequential
from passline.passmanager.instruments import OptBisect, PassTimingInstrument, ReportInstrument
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.registry import make_ir_context

cancel = UNIVERSE.all_passes["xdsl-cancel-inverses"]()()
merge = UNIVERSE.all_passes["xdsl-merge-rotations"]()()
ctx, text = make_ir_context(), sys.stdin.read()

def read():
    return parse_module(ctx, text, "rotations.mlir")

expected = read()
PassPipeline((cancel, merge)).apply(ctx, expected)
merging = Sequential([merge], name="merging", opt_level=2, required=["xdsl-cancel-inverses"])
timing, report = PassTimingInstrument(), ReportInstrument(sys.argv[1])
with PassContext(opt_level=2, instruments=[timing, report]):
    assert str(Sequential([merging])(read())) == str(expected)
assert "xdsl-merge-rotations" in timing.report()
assert any("xdsl-merge-rotations" in line for line in report.lines)
with PassContext(opt_level=1):
    assert "addf" not in str(Sequential([cancel, merging])(read()))
with PassContext(instruments=[OptBisect(1)]):
    half = str(Sequential([cancel, merge])(read()))
assert "Hadamard" not in half and "addf" not in half
with PassContext(disabled_pass=["xdsl-cancel-inverses"]):
    assert "Hadamard" in str(Sequential([cancel, merge])(read()))
"""


def test_pipeline_of_catalyst_in_python(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    CATALYST.run("python", "-c", EMBEDDED, str(page), stdin=ROTATIONS)
    assert page.read_text().startswith("<!doctype html>")
