"""The tools and `import passline` without numpy: what computes nothing works, and the rest says in
one line what to install."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.missing import environment_without
from support.suites.inprocess import Result

MISSING = r"numpy is not installed: pip install .*\[compiler\]'$"
SCALARS = """\
func.func @main(%x: i32) -> i32 {
  %unused = arith.constant dense<[1.5, -0.0]> : tensor<2xf32>
  %a = arith.addi %x, %x : i32
  %b = arith.addi %x, %x : i32
  %c = arith.muli %a, %b : i32
  func.return %c : i32
}
"""
TENSORS = """\
func.func @main() -> tensor<f32> {
  %x = relax.constant dense<2.0> : tensor<f32>
  %y = relax.add %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %y : tensor<f32>
}
"""


DRIVER = """
import json, sys
from passline.tools import commands
from support.suites.inprocess import capture

results = []
for name, *arguments in json.loads(sys.argv[1]):
    sys.argv = [name, *arguments]
    done = capture(getattr(commands, name.removeprefix("passline-")))
    results.append([done.status, done.stdout, done.stderr])
print(json.dumps(results))
"""
"""A program that runs command lines one after the other, in one process."""


class Session:
    """A directory with IR, in which commands run without numpy."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = environment_without(folder, "numpy", "onnx", "llvmlite")
        (folder / "scalars.mlir").write_text(SCALARS)
        (folder / "tensors.mlir").write_text(TENSORS)

    def python(self, code: str, *arguments: str) -> str:
        """Run a program to its end; return what it writes to stdout."""
        command = [sys.executable, "-c", code, *arguments]
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def tools(self, *lines: str) -> list[Result]:
        """Run command lines of ours."""
        results = json.loads(self.python(DRIVER, json.dumps([line.split() for line in lines])))
        return [Result(*result) for result in results]


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path)


WORKING = [
    ("passline-opt scalars.mlir -p cse,canonicalize,dead-code-elimination", "muli %a, %a"),
    ("passline-opt scalars.mlir", "dense<[1.500000e+00, -0.000000e+00]>"),
    ("passline-opt tensors.mlir", "relax.add %x, %x"),
    (
        "passline-opt scalars.mlir -p cse --timing --report=r.html --print-diff",
        "report: r.html",
    ),
    ("passline-opt --list-passes", "gradient"),
    ("passline-opt --list-passes=short", "gradient"),
    ("passline-opt --help-pass gradient", "target-index"),
    ("passline-opt --list-configs", "fold-constant.max_elements"),
    ("passline-opt --list-instruments", "PassTimingInstrument"),
    ("passline-opt --print-completion bash", "_shtab_passline_opt"),
    ("passline-opt --help", "--verify-each"),
    ("passline-run --help", "--engine"),
    ("passline-opt -O3 --explain-pipeline", "fuse-ops"),
    ("passline-bisect scalars.mlir -p cse,canonicalize --bad-if=muli.%a,.%a", "pass:      cse"),
    ("passline-reduce scalars.mlir --test true", "builtin.module {"),
    ("passline new my-compiler", "cd my-compiler"),
]
"""Command lines, and a part of what they show."""


def test_the_tools_work_without_numpy(session: Session) -> None:
    for (line, shown), done in zip(WORKING, session.tools(*(line for line, _ in WORKING))):
        assert shown in done.stdout + done.stderr, line
        assert done.status == 0 and "numpy" not in done.stderr, line


def test_a_record_is_shown_without_numpy(session: Session) -> None:
    record = "passline-opt scalars.mlir -p cse --record=r.jsonl"
    _, done = session.tools(record, "passline-report r.jsonl --timing -o r.html")
    assert done.status == 0 and "cse" in done.stdout
    assert (session.folder / "r.html").stat().st_size > 1000


FAILING = [
    ("passline-opt tensors.mlir -O3", 1),
    ("passline-opt tensors.mlir -p gradient", 1),
    ("passline-opt tensors.mlir -p fold-constant", 1),
    ("passline-opt tensors.mlir --verify-semantics -p cse", 2),
    ("passline-run tensors.mlir", 1),
    ("passline-compile tensors.mlir -o x.so", 1),
    ("passline-tune tensors.mlir", 1),
    ("passline-bisect tensors.mlir -p fold-constant", 1),
    ("passline-reduce tensors.mlir -p fold-constant", 1),
]
"""Command lines that need numpy, and their status."""


def test_a_tool_says_in_one_line_what_to_install(session: Session) -> None:
    for (line, status), done in zip(FAILING, session.tools(*(line for line, _ in FAILING))):
        (error,) = [text for text in done.stderr.splitlines() if "error: " in text]
        assert re.search(f"^(passline-opt: )?error: {MISSING}", error), line
        assert "Traceback" not in done.stderr and done.status == status, line


COMPUTING = [
    "passline.optimize(passline.load('tensors.mlir'))",
    "passline.run(passline.load('tensors.mlir'))",
    "passline.compile(passline.load('tensors.mlir'))",
    "passline.passes.FoldConstant()(passline.load('tensors.mlir'))",
    "import passline.interpreters.arrays",
    "from passline.compiler.kernels.contraction.contraction import _owner; _owner(0)",
]


def test_in_python_it_is_an_import_error(session: Session) -> None:
    tries = [f"try: {code}\nexcept ImportError as error: print(error)\n" for code in COMPUTING]
    shown = session.python("import passline\n" + "".join(tries)).splitlines()
    assert len(shown) == len(COMPUTING) and all(re.match(MISSING, line) for line in shown), shown


def test_a_model_needs_onnx(session: Session) -> None:
    (session.folder / "model.onnx").write_bytes(b"")
    (done,) = session.tools("passline-opt model.onnx")
    assert re.match(r"error: onnx is not installed: pip install .*\[onnx\]'$", done.stderr)
    assert done.status == 1
