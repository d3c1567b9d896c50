"""`import passline`: its names, their types, and what is imported for them."""

from __future__ import annotations

import ast
import pydoc
import re
import subprocess
import sys
from doctest import DocTestParser, DocTestRunner
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import assert_type

import numpy as np
import pytest
from support.models.from_text import model_of
from support.suites.inprocess import mlir_opt
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp

import passline
from passline.compiler.interpreters.arrays import Array
from passline.passes import OPTIMIZE, PASSES, REPLACEMENTS
from passline.passmanager import find_pass

ROOT = Path(passline.__file__).parent
RELU = """
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = relax.nn.relu %x : (tensor<3xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}
"""


def imported_by(code: str) -> set[str]:
    """Return the modules that code imports, in a process of its own."""
    code = f"import sys; old = {{*sys.modules}}; {code}; print(*({{*sys.modules}} - old))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return set(done.stdout.split())


# What is imported


def test_import_is_of_one_module() -> None:
    own = {name for name in imported_by("import passline") if name.startswith("passline")}
    assert own == {"passline"}


@table_test(
    "code",
    [
        "import passline; dir(passline)",
        "from passline import PassContext, Sequential, Fixpoint, PatternPass, parse_pipeline",
        "from passline import passes, instruments, transform, instrument",
        "import passline; passline.passes; dir(passline.passes)",
        "from passline.instruments import PassTimingInstrument",
    ],
)
def test_names_import_neither_numpy_nor_a_dialect(code: str) -> None:
    found = imported_by(code)
    assert not found.intersection(("numpy", "onnx", "rich", "pygments", "passline.dialects"))
    tables = {"passline.passes", "passline.passes.generic", "passline.passes.pipelines"}
    assert {name for name in found if name.startswith("passline.passes")} <= tables


NOTHING = """
from passline import ModulePass, Sequential
from xdsl.dialects.builtin import ModuleOp
class Nothing(ModulePass):
    def transform_module(self, module, ctx): pass
Sequential([Nothing()])(ModuleOp([]))
"""


def test_a_pass_that_changes_nothing_needs_little_code() -> None:
    found = imported_by(f"exec({NOTHING!r})")
    # A package without a file has no code, and a name for users no module of its own.
    specs = [find_spec(name) for name in found if name.startswith("passline")]
    files = {Path(spec.origin) for spec in specs if spec is not None and spec.origin}
    assert len(files) <= 45
    assert sum(len(file.read_text().splitlines()) for file in files) <= 7000


def test_load_of_text_imports_no_numpy() -> None:
    assert "numpy" not in imported_by("import passline; passline.load('builtin.module {}')")


def test_a_pass_is_imported_alone() -> None:
    found = imported_by("from passline.passes import DeadCodeElimination")
    generic = {name.split(".")[3] for name in found if name.startswith("passline.passes.generic.")}
    assert generic == {"dead_code_elimination", "call_graph", "purity"}


SCALARS = """
func.func @f(%x: i32) -> i32 {
  %a = arith.constant 2 : i32
  %b = arith.muli %a, %a : i32
  %c = arith.addi %x, %b : i32
  func.return %c : i32
}
"""


def test_passes_on_any_dialect_load_neither_the_compiler_nor_numpy() -> None:
    code = f"""
from passline.passes import Canonicalize, CommonSubexpressionElimination, DeadCodeElimination
from passline.passmanager import Sequential
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.text.printer import module_text
from passline.passmanager.registry import make_ir_context
passes = [CommonSubexpressionElimination(), Canonicalize(), DeadCodeElimination()]
module = Sequential(passes)(parse_module(context := make_ir_context(), {SCALARS!r}, "x"))
assert "arith.constant 4" in module_text(module, context)
"""
    found = imported_by(f"exec({code!r})")
    assert "passline.passes.generic.cse" in found and "numpy" not in found
    assert not [name for name in found if name.startswith("passline.compiler")]


def test_the_tool_loads_neither_the_compiler_nor_its_dialects_for_such_passes(
    tmp_path: Path,
) -> None:
    (path := tmp_path / "x.mlir").write_text(SCALARS)
    args = ["passline-opt", str(path), "-p", "cse,canonicalize,dead-code-elimination"]
    code = f"""
import atexit, sys
atexit.register(lambda: print(*sys.modules, file=sys.stderr))
sys.argv = {args!r}
from passline.tools.commands import opt
opt()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and "arith.constant 4" in done.stdout
    found = done.stderr.split()
    assert {"passline.passes.generic.cse", "passline.tools.compiler_extension"} <= {*found}
    heavy = ("numpy", "passline.compiler", "passline.dialects.", "passline.passes.")
    light = ("passline.passes.generic", "passline.passes.pipelines", "passline.dialects.extensions")
    assert [n for n in found if n.startswith(heavy) and not n.startswith(light)] == []


# Names


@table_test(
    ("name", "place"),
    [
        ("analysis.calls.purity", "passes.generic.purity"),
        ("analysis.arith.analyzer", "compiler.analysis.arith.analyzer"),
        ("interpreters", "compiler.interpreters"),
        ("kernels.builder", "compiler.kernels.builder"),
        ("runtime", "compiler.compile.runtime"),
    ],
)
def test_modules_are_the_same_under_the_names_for_users(name: str, place: str) -> None:
    module = import_module(f"passline.{place}")
    assert import_module(f"passline.{name}") is module
    assert module.__spec__ is not None and module.__spec__.name == f"passline.{place}"


def test_a_module_that_does_not_exist_is_named_by_its_place() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"passline\.compiler\.kernels\.bulider"):
        import_module("passline.kernels.bulider")


def test_a_project_is_started_by_the_module_too() -> None:
    command = [sys.executable, "-m", "passline.new", "--help"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.startswith("usage: python -m passline.new ")


def test_every_name_is_there() -> None:
    for name in passline.__all__:
        assert getattr(passline, name) is not None
    assert {*passline.__all__} <= {*dir(passline)}


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'passline' has no attribute 'optimise'"):
        passline.optimise  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


def test_unknown_pass_gets_the_nearest() -> None:
    with pytest.raises(AttributeError, match="'FoldConstnat', did you mean 'FoldConstant'?"):
        passline.passes.FoldConstnat  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


def typed_imports(path: Path) -> set[str]:
    """Return the names that a module imports for type checkers alone."""
    blocks = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.If)]
    body = next(b.body for b in blocks if ast.unparse(b.test) == "TYPE_CHECKING")
    found = [node for node in body if isinstance(node, ast.ImportFrom)]
    return {alias.name for node in found for alias in node.names}


def test_types_are_known_of_every_name() -> None:
    assert typed_imports(ROOT / "__init__.py") | {"__version__"} == {*passline.__all__}


def test_every_pass_is_there_and_typed() -> None:
    classes = {place.partition(":")[2] for place in PASSES.values()}
    classes |= {factory().__name__ for factory in REPLACEMENTS.values()}
    typed = typed_imports(ROOT / "passes" / "__init__.py")
    typed |= typed_imports(ROOT / "passes" / "generic" / "__init__.py")
    tables = {"LOWER_TO_LLVM", "LOWER_TO_MLIR", "LOWER_TO_TIR", "OPTIMIZE", "REPLACEMENTS"}
    tables |= {"at_level", "get_pipeline", "register_pipeline"}
    assert typed - {"*"} == classes | tables
    assert {*passline.passes.__all__} == classes | tables | {"PASSES", "UNIVERSE"}
    for name in classes:
        assert getattr(passline.passes, name).__name__ == name
    assert {name: find_pass(name).name for name in PASSES} == {name: name for name in PASSES}


def test_tvms_spelling() -> None:
    assert passline.transform.Sequential is passline.Sequential
    assert passline.transform.FoldConstant is passline.passes.FoldConstant
    timing = passline.instruments.PassTimingInstrument
    assert passline.instrument.PassTimingInstrument is timing
    assert passline.instrument.PassInstrument is passline.PassInstrument
    assert passline.instrument.pass_instrument is passline.instruments.pass_instrument


def test_they_are_modules_to_import_from() -> None:
    code = "from passline.transform import Sequential, FuseOps; import passline.instrument as i"
    assert imported_by(f"{code}; i.PrintDiff") >= {"passline.transform", "passline.instrument"}


@table_test("name", ["transform", "instrument", "instruments"])
def test_unknown_name_in_a_module_is_an_attribute_error(name: str) -> None:
    module = getattr(passline, name)
    assert {*module.__all__} <= {*dir(module)}
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        module.Nothing


def test_all_of_the_infrastructure_is_in_transform() -> None:
    names = {*passline.passmanager.__all__, *passline.passes.__all__}
    of_tvm = {"PrimFuncPass", "prim_func_pass"}
    assert {*dir(passline.transform)} == names | of_tvm and len(names) > 70


@pytest.mark.skipif(mlir_opt() is None, reason="mlir-opt is not installed")
def test_example_of_the_docstring_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of("g (float[3] x) => (float[3] y) { y = Relu(x) }")
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    monkeypatch.chdir(tmp_path)
    names = {"array": np.array([-1, 0, 1], np.float32)}
    example = DocTestParser().get_doctest(passline.__doc__ or "", names, "passline", None, None)
    assert len(example.examples) == 6
    assert DocTestRunner().run(example).failed == 0


def test_help_lists_the_names() -> None:
    page = pydoc.plain(pydoc.render_doc(passline))
    # From Python 3.13 on, each parameter of a long signature has a line of its own.
    assert all(re.search(rf"{name}\(\s*source", page) for name in ("load", "optimize"))


# Types: pyright checks `assert_type` over this file


def test_names_have_types() -> None:
    module = assert_type(passline.load(RELU), ModuleOp)
    assert_type(passline.optimize(module, level=3), ModuleOp)
    fold = assert_type(
        passline.passes.FoldConstant(max_elements=3), passline.transform.FoldConstant
    )
    pipeline = assert_type(passline.transform.Sequential([fold]), passline.Sequential)
    assert_type(passline.parse_pipeline("inline"), passline.Sequential)
    timing = assert_type(
        passline.instruments.PassTimingInstrument(), passline.instrument.PassTimingInstrument
    )
    with assert_type(passline.PassContext(instruments=[timing]), passline.PassContext):
        assert_type(pipeline(module), ModuleOp)
    assert_type(timing.report(), str)
    assert_type(passline.diff(module, fold), passline.Diff)
    function = assert_type(passline.compile(module, engine="numpy"), passline.CompiledFunction)
    assert repr(function).startswith("<CompiledFunction @main")


def results_have_types(module: ModuleOp) -> None:
    assert_type(passline.run(module), tuple[Array, ...])
    assert_type(passline.compile(module)(), tuple[Array, ...])


def test_pipeline_of_optimize_is_the_one_of_the_tool() -> None:
    timing = passline.instruments.PassTimingInstrument()
    with passline.PassContext(instruments=[timing]):
        passline.optimize(RELU)
    (outermost,) = [span for span in timing.spans if span.name == "sequential"]
    ran = [span.name for span in outermost.children]
    names = [text.partition("{")[0] for text in OPTIMIZE if "(" not in text]
    assert [name for name in ran if name in names and name != "infer-type"] == [
        name for name in names if name != "infer-type"
    ]
