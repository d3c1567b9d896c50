"""passline-run: what it computes, with which arguments, and what a user's mistakes say."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.missing import hide
from support.native.needs_llvmlite import needs_native
from support.suites.inprocess import Result, capture
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp, NameLoc, NoneAttr, StringAttr

from passline.compiler.interpreters.signature import argument_names, entry_function
from passline.dialects.target import host
from passline.passmanager.errors import install_hint
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.registry import make_ir_context
from passline.tools.run import PasslineRunMain

MODULE = """\
func.func @main(%x: tensor<2xf32>, %y: tensor<?xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %sum = relax.add %x, %y : (tensor<2xf32>, tensor<?xf32>) -> tensor<2xf32>
  %0 = relax.multiply %sum, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %sum, %0 : tensor<2xf32>, tensor<2xf32>
}
func.func private @outside() -> ()
func.func @scalars(%a: tensor<i1>, %k: i32) -> (tensor<i1>, i32) {
  func.return %a, %k : tensor<i1>, i32
}
func.func @unknown(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = "test.op"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "model.mlir"
    path.write_text(MODULE)
    return str(path)


def run(*args: str, stdin: str = "") -> Result:
    return capture(lambda: PasslineRunMain(args=args).run(), stdin)


def failing(*args: str) -> str:
    """Return the stderr of a run, which must end with status 1 and no traceback."""
    result = run(*args)
    assert result.status == 1 and "Traceback" not in result.stderr, result
    return result.stderr


def inputs(tmp_path: Path, *by_position: object, **by_name: object) -> str:
    path = tmp_path / "x.npz"
    arrays = {name: np.asarray(value, np.float32) for name, value in by_name.items()}
    np.savez(path, *[np.asarray(v, np.float32) for v in by_position], **arrays, allow_pickle=False)
    return str(path)


NAMED = """\
func.func @main(%x: tensor<?x3xf32> {onnx.dims = ["batch", unit]},
                %y: tensor<?x?xf32> {onnx.dims = ["batch", unit]}) -> tensor<?x?xf32> {
  %0 = relax.add %x, %y : (tensor<?x3xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  func.return %0 : tensor<?x?xf32>
}
"""


def test_unknown_dimensions_of_random_arguments_are_named() -> None:
    result = run(stdin=NAMED)
    assert result.status == 0 and "float32 1x3" in result.stdout
    said = "note: unknown dimensions of random arguments are 1: batch, dimension 1 of y\n"
    assert said in result.stderr
    assert run("--quiet", stdin=NAMED).stderr == ""


def test_unknown_dimensions_get_sizes() -> None:
    for sizes in (["--dim", "batch=2"], ["--shape", "x=2x3"], ["--shape=y=2x3"]):
        result = run(*sizes, stdin=NAMED)
        assert result.status == 0 and "float32 2x3" in result.stdout
    result = run("--dim=batch=2", "--shape", "y=?x1", "--engine=numpy", stdin=NAMED)
    assert "float32 2x3" in result.stdout and result.stderr == ""


HALVES = """\
func.func @main(%x: tensor<?xf32> {onnx.dims = ["h"]},
                %y: tensor<?xf32> {onnx.dims = ["h // 2"]}) -> tensor<?xf32> {
  %0 = relax.concatenate %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  func.return %0 : tensor<?xf32>
}
"""


def test_random_arguments_fit_the_expressions_of_their_dimensions() -> None:
    result = run(stdin=HALVES)
    assert result.status == 0 and "float32 3" in result.stdout
    assert "note: unknown dimensions of random arguments are 2: h\n" in result.stderr
    assert "float32 12" in run("--dim", "h=8", stdin=HALVES).stdout


def test_arguments_whose_dimensions_contradict_their_names_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "halves.mlir"
    path.write_text(HALVES)
    good = inputs(tmp_path, x=[1, 2], y=[3])
    assert run(str(path), "--inputs", good).status == 0
    bad = inputs(tmp_path, x=[1, 2], y=[3, 4])
    assert (
        "dimension 0 of parameter 'y' is 'h // 2', which is 1 by dimension 0 of "
        "parameter 'x', not 2"
    ) in failing(str(path), "--inputs", bad)


def test_sizes_that_do_not_fit_are_an_error() -> None:
    result = run("--dim", "bach=2", stdin=NAMED)
    assert result.status == 1
    assert "no parameter has a dimension 'bach', did you mean 'batch'?" in result.stderr
    result = run("--shape", "x=2", stdin=NAMED)
    assert result.status == 1
    assert "parameter 'x' has 2 dimensions, batchx3, not the 1 of 2" in result.stderr
    result = run("--shape", "x:2x3", stdin=NAMED)
    assert result.status == 1 and "such as x=1x3x?x192" in result.stderr


def test_results_are_printed_by_name(file: str, tmp_path: Path):
    result = run(file, "--inputs", inputs(tmp_path, x=[1, 2], y=[10]))
    assert result.stdout == "sum: float32 2\n[11. 12.]\nresult1: float32 2\n[11. 24.]\n"


def test_arguments_may_be_given_by_position(file: str, tmp_path: Path):
    result = run(file, "--inputs", inputs(tmp_path, [1, 2], [10]))
    assert "[11. 12.]" in result.stdout


def test_results_are_saved(file: str, tmp_path: Path):
    out = tmp_path / "y.npz"
    result = run(file, "--inputs", inputs(tmp_path, x=[1, 2], y=[10]), "--outputs", str(out))
    assert (result.status, result.stdout, result.stderr) == (0, "", f"wrote {out}\n")
    assert run(file, f"--outputs={tmp_path / 'z.npz'}", "--quiet").stderr == ""
    with np.load(out) as arrays:
        assert {name: arrays[name].tolist() for name in arrays.files} == {
            "sum": [11, 12],
            "result1": [11, 24],
        }


def test_random_arguments_depend_on_the_seed_alone(file: str):
    first, again, other = run(file), run(file, "--seed=0"), run(file, "--seed=1")
    assert first == again and first.status == 0
    assert other.stdout != first.stdout


def test_passes_run_first(file: str):
    plain, folded = run(file), run(file, "-p", "infer-type", "--print-ir-after-all")
    assert folded.stdout == plain.stdout and "IR Dump After" in folded.stderr


def test_another_function(file: str, tmp_path: Path):
    path = tmp_path / "x.npz"
    np.savez(path, a=np.asarray(True), k=np.asarray(7, np.int32))
    result = run(file, "--function", "scalars", "--inputs", str(path))
    assert result.stdout == "a: bool scalar\nTrue\nk: int32 scalar\n7\n"


@table_test("type", ["i1", "i32", "i64", "index"])
def test_integers_that_are_not_in_tensors_are_random_from_0_to_9(type: str):
    text = f"func.func @main(%a: {type}) -> {type} {{ func.return %a : {type} }}"
    shown = [run("--seed", str(seed), stdin=text) for seed in range(8)]
    values = [result.stdout.splitlines()[1] for result in shown]
    assert all(result.status == 0 for result in shown) and len(set(values)) > 1
    assert set(values) <= ({"False", "True"} if type == "i1" else set("0123456789"))


def test_number_that_is_not_in_a_tensor_is_random():
    shown = run(stdin="func.func @main(%a: f32) -> f32 { func.return %a : f32 }").stdout
    assert shown.startswith("a: float") and float(shown.splitlines()[1]) != 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"x": [1, 2], "z": [1]}, "@main has no parameter 'z': its parameters are x, y"),
        ({"x": [1, 2]}, "no value is given for parameter y"),
        (
            {"x": [1, 2, 3], "y": [1]},
            "parameter 'x' is tensor<2xf32>: expected float32 of 2, got float32 of 3",
        ),
        (
            {"x": [[1, 2]], "y": [1]},
            "parameter 'x' is tensor<2xf32>: expected float32 of 2, got float32 of 1x2",
        ),
    ],
)
def test_arguments_that_do_not_fit(
    given: dict[str, object], message: str, file: str, tmp_path: Path
):
    assert message in failing(file, "--inputs", inputs(tmp_path, **given))


def test_wrong_element_type(file: str, tmp_path: Path):
    path = tmp_path / "x.npz"
    np.savez(path, x=np.ones(2), y=np.ones(2))
    assert "expected float32, got float64 of 2" in failing(file, "--inputs", str(path))


def test_functions_that_cannot_be_run(file: str):
    assert "no function @mian, did you mean 'main'?" in failing(file, "--function", "mian")
    assert "@outside is a declaration" in failing(file, "--function", "outside")


def test_an_operation_without_semantics_is_named(file: str):
    message = failing(file, "--function", "unknown")
    assert "'test.op' at " in message and "model.mlir:11:8 cannot be computed" in message
    assert "no semantics are registered for the dialect 'test'" in message


def test_shapes_that_do_not_fit_are_an_error_at_the_operation(file: str, tmp_path: Path):
    message = failing(file, "--inputs", inputs(tmp_path, x=[1, 2], y=[1, 2, 3]))
    assert (
        "'relax.add' at " in message and "model.mlir:2:10 cannot be computed: ValueError" in message
    )
    assert "builtin.module" not in message


@table_test("type", ["tensor<2xindex>", "tensor<*xf32>", "i128", "none"])
def test_no_random_values_for_a_type(type: str):
    result = run(stdin=f"func.func @main(%k: {type}) {{ func.return }}")
    assert f"parameter 'k' of type {type}: pass its value, at the shell with" in result.stderr
    assert result.status == 1


@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04broken"])
def test_broken_inputs(content: bytes, file: str, tmp_path: Path):
    (broken := tmp_path / "x.npz").write_bytes(content)
    assert f"'{broken}' is not a file of arrays (.npz)" in failing(file, "--inputs", str(broken))


def test_missing_files(file: str, tmp_path: Path):
    assert "nowhere.npz': No such file" in failing(file, "--inputs", "nowhere.npz")
    assert "No such file" in failing(file, "--outputs", str(tmp_path / "no" / "y.npz"))


@pytest.mark.parametrize("engine", ["numpy", pytest.param("native", marks=needs_native)])
@pytest.mark.parametrize(
    "args",
    [
        ("{}", "-2", "[1.0, -inf]"),
        ("-O1", "{}", "-2", "--quiet", "[1.0, -inf]"),
        ("{}", "--", "-2", "[1, -inf]"),
        ("{}", "--args", "-2, [1.0, -inf]"),
        ("{}", "--args=-2,[1,-inf]"),
    ],
)
def test_arguments_at_the_command_line(engine: str, args: tuple[str, ...], tmp_path: Path):
    (path := tmp_path / "x.mlir").write_text("""
    func.func @main(%k: tensor<i64>, %x: tensor<?xf32>) -> (tensor<i64>, tensor<?xf32>) {
      %y = relax.add %x, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      %n = relax.add %k, %k : (tensor<i64>, tensor<i64>) -> tensor<i64>
      func.return %n, %y : tensor<i64>, tensor<?xf32>
    }""")
    given = [path if arg == "{}" else arg for arg in args]
    result = run("--engine", engine, *map(str, given))
    assert result.stdout == "n: int64 scalar\n-4\ny: float32 2\n[  2. -inf]\n", result


def test_mistakes_in_arguments_at_the_command_line(file: str, tmp_path: Path):
    message = "argument 1 of @main, 'x', is tensor<2xf32>: expected a list of 2 numbers"
    assert message in failing(file, "1", "[1]", "-p", "cse")
    assert "@main takes 2 arguments (tensor<2xf32>, tensor<?xf32>), 1 given" in failing(file, "1")
    twice = run(file, "1", "--inputs", "x.npz")
    assert "the arguments are given twice: after the input, and by --inputs" in twice.stderr
    assert (
        "unrecognized arguments: --sead (did you mean '--seed'?)" in run(file, "1", "--sead").stderr
    )


def test_names_may_have_any_characters(tmp_path: Path):
    (path := tmp_path / "x.mlir").write_text("""
    func.func @"a/b:0"(%x: tensor<1xf32> {onnx.name = "in/x:0"}, %y: tensor<1xf32>)
        -> (tensor<1xf32> {onnx.name = "out"}, tensor<1xf32>) {
      %z = relax.add %x, %y : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
      func.return %z, %z : tensor<1xf32>, tensor<1xf32>
    }""")
    np.savez(given := tmp_path / "x.npz", **{"in/x:0": np.float32([1]), "y": np.float32([2])})  # pyright: ignore[reportArgumentType]
    result = run(str(path), "--function=a/b:0", "--inputs", str(given))
    assert result.stdout == "out: float32 1\n[3.]\nz: float32 1\n[3.]\n"
    assert "no function @a/b:1, did you mean 'a/b:0'?" in failing(str(path), "--function=a/b:1")


@needs_native
def test_the_parameters_of_a_tuple_are_its_elements(tmp_path: Path):
    (path := tmp_path / "x.mlir").write_text("""
    func.func @main(%p: tuple<tensor<1xf32>, tensor<1xf32>>) -> tensor<1xf32> {
      %y = relax.tuple_get_item %p {index = 1}
          : (tuple<tensor<1xf32>, tensor<1xf32>>) -> tensor<1xf32>
      func.return %y : tensor<1xf32>
    }""")
    np.savez(given := tmp_path / "x.npz", **{"p.0": np.float32([1]), "p.1": np.float32([2])})  # pyright: ignore[reportArgumentType]
    result = run(str(path), "--engine=native", "--inputs", str(given))
    assert result.stdout == "y: float32 1\n[2.]\n"


def test_names_that_a_frontend_gave_have_precedence():
    module = parse_module(make_ir_context(), MODULE.split("func.func private")[0], "x.mlir")
    func = entry_function(module, "main")
    first, second = func.body.block.args
    first.location = NameLoc(StringAttr("data_0"), NoneAttr())
    second.location = NameLoc(StringAttr("data_0"), NoneAttr())
    assert argument_names(func) == ["data_0", "data_0_1"]


# Machine code

BUFFERS = """\
tir.prim_func @main(%x: memref<2xf32>, %y: memref<2xf32>)OUTPUTS {
  %c0 = arith.constant 0 : index
  %v = vector.load %x[%c0] : memref<2xf32>, vector<2xf32>
  %s = arith.addf %v, %v : vector<2xf32>
  vector.store %s, %y[%c0] : memref<2xf32>, vector<2xf32>
}
"""


@needs_native
def test_the_engines_give_the_same(tmp_path: Path):
    (path := tmp_path / "model.mlir").write_text(
        BUFFERS.replace("OUTPUTS", " attributes {tir.outputs = 1 : i64}")
    )
    args = str(path), "--inputs", inputs(tmp_path, x=[1, 2])
    for engine in ("numpy",):
        assert run(*args, "--engine", engine).stdout == "y: float32 2\n[2. 4.]\n"
    lowered = run(*args, "--engine=native", "-p", "lower-tir")
    assert lowered.stdout == "y: float32 2\n[2. 4.]\n"


@needs_native
def test_results_have_the_same_names_on_tensors_and_on_buffers(tmp_path: Path):
    (path := tmp_path / "model.mlir").write_text("""
    func.func @main(%a: tensor<2xf32>, %b: tensor<1xf32>)
        -> (tuple<tensor<2xf32>, tensor<1xf32>>, tensor<2xf32>, tensor<1xf32>) {
      %pair = relax.tuple %a, %b
          : (tensor<2xf32>, tensor<1xf32>) -> tuple<tensor<2xf32>, tensor<1xf32>>
      %sum = relax.add %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %0 = relax.add %b, %b : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
      func.return %pair, %sum, %0
          : tuple<tensor<2xf32>, tensor<1xf32>>, tensor<2xf32>, tensor<1xf32>
    }""")
    args = str(path), "--inputs", inputs(tmp_path, a=[1, 2], b=[3])
    expected = (
        "pair.0: float32 2\n[1. 2.]\npair.1: float32 1\n[3.]\n"
        "sum: float32 2\n[2. 4.]\nresult2: float32 1\n[6.]\n"
    )
    assert run(*args).stdout == expected
    assert run(*args, "-p", "lower-to-tir", "--engine=native").stdout == expected


@needs_native
def test_buffers_that_are_changed_are_results(tmp_path: Path):
    (path := tmp_path / "model.mlir").write_text(BUFFERS.replace("OUTPUTS", ""))
    args = str(path), "--inputs", inputs(tmp_path, x=[1, 2], y=[0, 0])
    for engine in ("numpy",):
        expected = "x: float32 2\n[1. 2.]\ny: float32 2\n[2. 4.]\n"
        assert run(*args, "--engine", engine).stdout == expected


@needs_native
@pytest.mark.parametrize(
    "option",
    ["--stop-after=infer-type", "--opt-bisect-limit=0", "-O0", "--disable-pass=tir-simplify"],
)
def test_what_machine_code_needs_is_not_left_out(option: str, tmp_path: Path):
    (path := tmp_path / "model.mlir").write_text("""
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %y = relax.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      func.return %y : tensor<2xf32>
    }""")
    args = str(path), "--inputs", inputs(tmp_path, x=[1, 2]), "--engine=native"
    result = run(*args, option, "-p=infer-type")
    assert result.stdout == "y: float32 2\n[2. 4.]\n", result.stderr


def test_the_rest_of_the_lowering_is_part_of_the_pipeline(file: str):
    plan = run(file, "-O1", "--engine=native", "--explain-pipeline").stdout
    assert "run  complete-lowering\n" in plan and "run      plan-memory\n" in plan
    result = run(file, "--engine=native", "--print-ir-after=plan-memry", "--function=nowhere")
    assert "there is no pass 'plan-memry', did you mean 'plan-memory'?" in result.stderr
    result = run(file, "--engine=native", "--print-ir-after=plan-memory", "--function=nowhere")
    assert "which is not in the pipeline" not in result.stderr
    assert "complete-lowering" not in run(file, "-O1", "--explain-pipeline").stdout


@needs_native
def test_unknown_sizes_have_machine_code(file: str, tmp_path: Path):
    for y in ([10], [10, 20]):
        given = inputs(tmp_path, x=[1, 2], y=y)
        machine_code = run(file, "--engine=native", "--inputs", given)
        assert machine_code.status == 0, machine_code
        assert machine_code.stdout == run(file, "--inputs", given).stdout


@pytest.mark.parametrize("engine", ["numpy", pytest.param("native", marks=needs_native)])
def test_results_that_are_no_buffers(engine: str, tmp_path: Path):
    (path := tmp_path / "model.mlir").write_text(
        "func.func @main(%x: memref<2xf32>, %n: index) attributes {tir.outputs = 1 : i64} "
        "{ func.return }"
    )
    message = failing(str(path), "--engine", engine)
    assert "model.mlir:1:1: tir.outputs is 1 : i64: expected at most 0" in message


def test_a_function_that_calls_itself_without_end(tmp_path: Path):
    (path := tmp_path / "model.mlir").write_text(
        "tir.prim_func @main(%x: memref<2xf32>) { tir.call @main(%x) : memref<2xf32> }"
    )
    gc.collect()  # there would be no stack for the finalizers of what other tests have left
    assert "@main cannot be computed: calls are nested too deeply" in failing(str(path))


RECURSIVE = {
    "tensors": """
        func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
          %0 = relax.exp %x : (tensor<2xf32>) -> tensor<2xf32>
          %1 = func.call @main(%0) : (tensor<2xf32>) -> tensor<2xf32>
          func.return %1 : tensor<2xf32>
        }""",
    "two functions": """
        tir.prim_func @main(%x: memref<2xf32>) { tir.call @f(%x) : memref<2xf32> }
        tir.prim_func @f(%x: memref<2xf32>) {
          %i = arith.constant 0 : index
          %0 = memref.load %x[%i] : memref<2xf32>
          memref.store %0, %x[%i] : memref<2xf32>
          tir.call @main(%x) : memref<2xf32>
        }""",
}


@pytest.mark.parametrize("level", ["-O0", "-O3"])
@pytest.mark.parametrize("engine", ["numpy", pytest.param("native", marks=needs_native)])
@pytest.mark.parametrize("text", RECURSIVE.values(), ids=RECURSIVE)
def test_infinite_recursion(text: str, engine: str, level: str, tmp_path: Path):
    (path := tmp_path / "model.mlir").write_text(text)
    message = failing(str(path), "--engine", engine, level)
    assert "nested too deeply" in message and "Traceback" not in message


INDICES = """
func.func @main(%x: tensor<4xf32>, %i: tensor<64xi64>, %n: tensor<64xi64>) -> tensor<64xf32> {
  %0 = relax.gather %x, %i : (tensor<4xf32>, tensor<64xi64>) -> tensor<64xf32>
  func.return %0 : tensor<64xf32>
}
"""


@pytest.mark.parametrize(
    "options",
    ["-O0", "-O3", "-p=lower-to-tir", pytest.param("--engine=native", marks=needs_native)],
)
def test_random_indices_are_valid(options: str, tmp_path: Path):
    (path := tmp_path / "model.mlir").write_text(INDICES)
    results = [run(str(path), f"--seed={seed}", options) for seed in range(3)]
    assert [result.status for result in results] == [0, 0, 0]


@pytest.mark.parametrize("engine", ["numpy", pytest.param("native", marks=needs_native)])
@pytest.mark.parametrize("index", [4, -5, 10**9])
def test_indices_out_of_bounds(index: int, engine: str, tmp_path: Path):
    (path := tmp_path / "model.mlir").write_text(INDICES)
    given = tmp_path / "x.npz"
    i = np.zeros(64, np.int64)
    i[63] = index
    np.savez(given, x=np.zeros(4, np.float32), i=i, n=i)
    message = failing(str(path), "--engine", engine, "--inputs", str(given))
    assert "relax.gather" in message and "model.mlir:3:8" in message
    assert "out of bounds for axis 0 with size 4" in message


@pytest.mark.parametrize("engine", ["numpy", pytest.param("native", marks=needs_native)])
def test_numbers_are_checked(engine: str, tmp_path: Path):
    (path := tmp_path / "model.mlir").write_text(
        "tir.prim_func @main(%n: i8, %x: memref<2xf32>) { }"
    )
    given = tmp_path / "x.npz"
    for n, problem in (7.5, "expected an integer, got float64"), (300, "300 is out of range"):
        np.savez(given, n=n, x=np.ones(2, np.float32))
        message = failing(str(path), "--engine", engine, "--inputs", str(given))
        assert f"parameter 'n' is i8: {problem}" in message


def test_llvmlite_that_is_missing(file: str, monkeypatch: pytest.MonkeyPatch):
    host.cache_clear()
    hide(monkeypatch, "llvmlite")
    result = run(file, "--engine=native")
    assert result.status == 2
    assert f"error: llvmlite is not installed: {install_hint('native')}\n" in result.stderr


def test_engines_have_names(file: str):
    result = run(file, "--engine=nativ")
    assert result.status == 2 and "native" in result.stderr


@table_test(
    ("args", "message"),
    [
        (["--seed", "-1"], "argument --seed: expected a whole number, got '-1'"),
        (["--seed=1.5"], "argument --seed: expected a whole number, got '1.5'"),
        (["--seed=" + "1" * 6000], "(6000 characters)"),
        (["--inputs="], "argument --inputs: expected a value that is not empty"),
    ],
)
def test_options_that_make_no_sense(file: str, args: list[str], message: str):
    result = run(file, *args)
    assert result.status == 2 and message in result.stderr and len(result.stderr) < 300


@table_test("type", ["tensor<1099511627776xf32>", "tensor<4611686018427387904x4xi64>"])
def test_random_arguments_that_are_too_large(type: str):
    text = f"func.func @main(%x: {type}) -> {type} {{ func.return %x : {type} }}"
    result = run(stdin=text)
    assert result.status == 1 and "Traceback" not in result.stderr
    assert (
        "too" in result.stderr
        or "Unable to allocate" in result.stderr
        or "exceeds" in result.stderr
    )
    assert type.partition("<")[2][:10] in result.stderr


def test_seed_below_zero_in_python():
    from passline.compiler.interpreters.arguments import random_arguments
    from passline.passmanager import PasslineError

    func = entry_function(parse_module(make_ir_context(), MODULE, "x.mlir"), "main")
    with pytest.raises(PasslineError, match="the seed of random arguments is 0 or more, not -1"):
        random_arguments(func, -1)


def test_results_do_not_overwrite_what_was_given(file: str, tmp_path: Path):
    arrays = str(tmp_path / "in.npz")
    np.savez(arrays, x=np.ones(2, np.float32), y=np.ones(2, np.float32))
    content = Path(file).read_text()
    both = str(tmp_path / "both")
    for args, what in (
        ([f"--outputs={file}"], "the input"),
        ([f"--inputs={arrays}", f"--outputs={arrays}"], "the file of --inputs"),
        ([f"--outputs={both}", f"-o{both}"], "the file of -o"),
    ):
        result = run(file, *args)
        assert result.status == 2 and f"--outputs would overwrite {what}, '" in result.stderr
    result = run(file, f"--outputs={both}", f"--out-dir={tmp_path}")
    assert result.status == 2 and "--outputs names one file" in result.stderr
    assert Path(file).read_text() == content and np.load(arrays).files == ["x", "y"]


def test_argument_by_name_and_by_position(file: str, tmp_path: Path):
    np.savez(path := tmp_path / "in.npz", x=np.ones(2), arr_0=np.ones(2))
    result = run(file, f"--inputs={path}")
    message = "error: parameter 'x' is given twice, by name and by position\n"
    assert (result.status, result.stderr) == (1, message)


@needs_native
def test_the_second_run_loads_machine_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from passline.compiler.native import function

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("PASSLINE_CACHE_SIZE")
    compiled: list[str] = []
    compile_code = function.compile_code

    def counting(module: ModuleOp, entry: str = "main", *rest: Any) -> object:
        compiled.append(entry)
        return compile_code(module, entry, *rest)

    monkeypatch.setattr(function, "compile_code", counting)
    (path := tmp_path / "model.mlir").write_text(
        BUFFERS.replace("OUTPUTS", " attributes {tir.outputs = 1 : i64}")
    )
    args = str(path), "--engine=native", "--inputs", inputs(tmp_path, x=[1, 2])
    for _ in range(2):
        assert run(*args).stdout == "y: float32 2\n[2. 4.]\n"
    assert compiled == ["main"]
    (entry,) = (tmp_path / "passline").iterdir()
    made = entry.stat().st_mtime_ns
    for other in (["--no-cache"], ["--timing"], ["--print-ir-after-change"], ["-p", "lower-tir"]):
        result = run(*args, *other)
        assert result.stdout == "y: float32 2\n[2. 4.]\n"
        assert other[0] in ("--no-cache", "-p") or "lower-tir" in result.stderr
    assert len([*(tmp_path / "passline").iterdir()]) == 1 and entry.stat().st_mtime_ns == made
    run(*args, "--disable-pass", "tir-simplify")
    assert len([*(tmp_path / "passline").iterdir()]) == 2, "another pipeline has another entry"


LAUNCH = """
tir.prim_func @main(%a: memref<1xf32>) {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  tir.launch @kernels::@k[%two, %one, %one](%a) : memref<1xf32>
}
cuda_tile.module @kernels {
  entry @k(%a: tile<ptr<f32>>) {
    %x = constant <f32: 2.0> : tile<f32>
    %t = store_ptr_tko weak %a, %x : tile<ptr<f32>>, tile<f32> -> token
    return
  }
}
"""


def test_races_of_tile_blocks_are_checked_on_request():
    assert "[2.]" in run(stdin=LAUNCH).stdout
    for engine in ("numpy", "cuda-interpreter"):
        result = run("--check-races", f"--engine={engine}", stdin=LAUNCH)
        assert result.status == 1 and "writes element 0 of argument 0" in result.stderr
    assert (
        "--check-races needs --engine=numpy or cuda-interpreter"
        in run("--check-races", "--engine=native", stdin=LAUNCH).stderr
    )
