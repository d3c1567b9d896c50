"""The tools and `import passline` without numpy: what computes nothing works, and the rest says in
one line what to install."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.missing import environment_without

PYTHON = Path(sys.executable)
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


class Session:
    """A directory with IR, in which commands run without numpy."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = environment_without(folder, "numpy", "onnx", "llvmlite")
        (folder / "scalars.mlir").write_text(SCALARS)
        (folder / "tensors.mlir").write_text(TENSORS)

    def run(self, program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program to its end."""
        return subprocess.run(
            [program, *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
        )

    def tool(self, line: str) -> subprocess.CompletedProcess[str]:
        """Run a command line of ours."""
        name, *arguments = line.split()
        return self.run(PYTHON.with_name(name), *arguments)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
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
    ],
)
def test_the_tools_work_without_numpy(line: str, shown: str, session: Session) -> None:
    done = session.tool(line)
    assert shown in done.stdout + done.stderr
    assert done.returncode == 0 and "numpy" not in done.stderr


def test_a_record_is_shown_without_numpy(session: Session) -> None:
    session.tool("passline-opt scalars.mlir -p cse --record=r.jsonl")
    done = session.tool("passline-report r.jsonl --timing -o r.html")
    assert done.returncode == 0 and "cse" in done.stdout
    assert (session.folder / "r.html").stat().st_size > 1000


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("passline-opt tensors.mlir -O3", 1),
        ("passline-opt tensors.mlir -p gradient", 1),
        ("passline-opt tensors.mlir -p fold-constant", 1),
        ("passline-opt tensors.mlir --verify-semantics -p cse", 2),
        ("passline-run tensors.mlir", 1),
        ("passline-compile tensors.mlir -o x.so", 1),
        ("passline-tune tensors.mlir", 1),
        ("passline-bisect tensors.mlir -p fold-constant", 1),
        ("passline-reduce tensors.mlir -p fold-constant", 1),
    ],
)
def test_a_tool_says_in_one_line_what_to_install(line: str, status: int, session: Session) -> None:
    done = session.tool(line)
    (error,) = [text for text in done.stderr.splitlines() if "error: " in text]
    assert re.search(f"^(passline-opt: )?error: {MISSING}", error)
    assert "Traceback" not in done.stderr and done.returncode == status


@pytest.mark.parametrize(
    "code",
    [
        "passline.optimize(passline.load('tensors.mlir'))",
        "passline.run(passline.load('tensors.mlir'))",
        "passline.compile(passline.load('tensors.mlir'))",
        "passline.passes.FoldConstant()(passline.load('tensors.mlir'))",
        "import passline.interpreters.arrays",
        "from passline.compiler.kernels.contraction.packing import _owner; _owner(0)",
    ],
)
def test_in_python_it_is_an_import_error(code: str, session: Session) -> None:
    program = f"import passline\ntry: {code}\nexcept ImportError as error: print(error)"
    done = session.run(PYTHON, "-c", program)
    assert re.match(MISSING, done.stdout), done.stderr


def test_a_model_needs_onnx(session: Session) -> None:
    (session.folder / "model.onnx").write_bytes(b"")
    done = session.tool("passline-opt model.onnx")
    assert re.match(r"error: onnx is not installed: pip install .*\[onnx\]'$", done.stderr)
    assert done.returncode == 1
