"""Imports in a process of the tools: a phase of their own, in no pass, and none without need."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from support.tables import table_test

EXAMPLE = Path(__file__).parents[3] / "examples" / "sequential.mlir"

SCALARS = """
func.func @main(%a: i32, %b: i32) -> i32 {
  %0 = arith.addi %a, %b : i32
  %1 = arith.muli %0, %b : i32
  func.return %1 : i32
}
"""

NETWORK = """
func.func @main(%x: tensor<1x1x3xf32>, %q: tensor<2x3xui8>) -> (tensor<1x1x3xf32>, tensor<2x3xui8>) {
  %w = relax.constant dense<2.0> : tensor<1x1x1xf32>
  %one = relax.constant dense<1.0> : tensor<1xf32>
  %0 = relax.nn.conv1d %x, %w : (tensor<1x1x3xf32>, tensor<1x1x1xf32>) -> tensor<1x1x3xf32>
  %1 = relax.nn.batch_norm %0, %one, %one, %one, %one {epsilon = 0.0} : (tensor<1x1x3xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x3xf32>
  %2 = relax.nn.softmax %1 : (tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
  %s = relax.full 0.5 : tensor<f32>
  %z = relax.full 0 : tensor<ui8>
  %3 = relax.dequantize %q, %s, %z : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xf32>
  %4 = relax.nn.relu %3 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = relax.quantize %4, %s, %z : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  func.return %2, %5 : tensor<1x1x3xf32>, tensor<2x3xui8>
}
"""  # noqa: E501

WATCH = """
import json, sys
from passline.passmanager import PassInstrument
from passline.tools.opt import PasslineOptMain

found, before = {}, []

class Watch(PassInstrument):
    def run_before_pass(self, module, info):
        before.append({*sys.modules})

    def run_after_pass(self, module, info):
        new = {*sys.modules} - before.pop()
        if not info.composite:
            found.setdefault(info.name, []).extend(sorted(new))

class Tool(PasslineOptMain):
    def instruments(self):
        return [*super().instruments(), Watch()]

Tool(args=[*sys.argv[1:], "-o", "/dev/null"]).run()
print(json.dumps([found, "numpy" in sys.modules]))
"""


def watch(text: str, *args: str) -> tuple[dict[str, list[str]], bool]:
    """Run a pipeline in a new process; return the modules that were imported while each pass ran,
    and whether numpy was, at any time."""
    done = subprocess.run(
        [sys.executable, "-c", WATCH, *args], input=text, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    imported, has_numpy = json.loads(done.stdout)
    return imported, has_numpy


def opt(text: str, *args: str) -> str:
    """Run `passline-opt` in a new process; return what it says on stderr."""
    command = [sys.executable, "-m", "passline.tools.opt", *args, "-o", "/dev/null"]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


@table_test("text", [EXAMPLE.read_text(), NETWORK, SCALARS])
def test_no_module_is_imported_while_a_pass_runs(text: str) -> None:
    imported, _ = watch(text, "-O3", "-p", "optimize,lower-to-tir,lower-to-mlir")
    assert len(imported) > 25 and not any(imported.values()), imported


@table_test(
    "passes", ["infer-type,to-mixed-precision", 'convert-layout{desired="relax.nn.conv1d:NWC"}']
)
def test_no_module_is_imported_while_types_and_layouts_change(passes: str) -> None:
    imported, has_numpy = watch(NETWORK, "-p", passes)
    assert has_numpy and not any(imported.values()), imported


def test_numpy_is_not_imported_for_scalars() -> None:
    imported, has_numpy = watch(SCALARS, "-O3")
    assert "fake-quantization-to-integer" in imported and not has_numpy


def test_numpy_is_not_imported_for_constants_that_nothing_reads() -> None:
    text = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %c = relax.constant dense<2.0> : tensor<2xf32>
      %0 = relax.add %x, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      func.return %0 : tensor<2xf32>
    }"""
    assert watch(text, "-p", "fold-constant,fuse-ops")[1] is False


def rows(report: str) -> list[str]:
    """The names in a report of --timing, with their indentation."""
    return [line[40:] for line in report.splitlines() if re.match(r" +\d+\.\d", line)]


def test_timing_has_the_imports_of_passes_first() -> None:
    names = rows(opt(EXAMPLE.read_text(), "-O3", "--timing"))
    # A row of the parser's for each dialect.
    others = [name for name in names if name != "  Load"]
    assert others[:4] == ["Load", "Parser", "Verifier", "sequential"]
    assert names.index("      Load") + 1 == names.index("      fold-constant")


def test_timing_has_the_imports_of_dialects_in_the_parser() -> None:
    names = rows(opt(EXAMPLE.read_text(), "--timing"))
    assert names[: names.index("Verifier")] == ["Parser", *["  Load"] * names.count("  Load")]


def test_record_and_trace_have_the_same_imports(tmp_path: Path) -> None:
    record, trace = tmp_path / "run.jsonl", tmp_path / "trace.json"
    opt(EXAMPLE.read_text(), "-O3", f"--record={record}", f"--trace={trace}")
    events = [json.loads(line) for line in record.read_text().splitlines()]
    loads = [event for event in events if event.get("name") == "Load"]
    traced = [e for e in json.loads(trace.read_text())["traceEvents"] if e["name"] == "Load"]
    assert len(loads) == len(traced) >= 2
    assert loads[0]["time"] == traced[0]["ts"] == 0
    assert {event["event"] for event in loads} == {"phase"}
