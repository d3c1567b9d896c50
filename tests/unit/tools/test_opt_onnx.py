"""passline-opt and passline-run on ONNX models."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, numpy_helper
from support.missing import hide
from support.models.from_text import model_of
from support.native.needs_llvmlite import needs_native
from support.suites.inprocess import Result, capture, passline_opt
from xdsl.ir import SSAValue

from passline.compiler.frontends.onnx.converters import CONVERTERS
from passline.compiler.frontends.onnx.node import Node
from passline.passes import LOWER_TO_MLIR, LOWER_TO_TIR
from passline.passmanager.errors import install_hint
from passline.tools.run import PasslineRunMain, save_arrays

W = np.arange(3, dtype=np.float32)


@pytest.fixture
def file(tmp_path: Path) -> str:
    model = model_of("g (float[3] x) => (float[3] y) { [a] y = Add(x, w) }")
    model.graph.initializer.append(numpy_helper.from_array(W, "w"))
    (path := tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    return str(path)


def test_a_model_is_imported_optimized_and_written(file: str):
    result = passline_opt(file, "-O3")
    assert result.status == 0 and result.stderr == ""
    assert (
        "%y = relax.add %x, %w : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>" in result.stdout
    )


def test_what_is_written_can_be_read_again(file: str):
    assert passline_opt(file, "--verify-roundtrip").status == 0
    debug = passline_opt(file, "--print-debuginfo")
    assert 'loc("a")' in debug.stdout


def test_the_import_has_a_row_in_the_timing_report(file: str):
    report = passline_opt(file, "--timing").stderr
    assert "Import" in report and "Parser" not in report


def test_the_frontend_may_be_named(file: str, tmp_path: Path):
    (other := tmp_path / "model.pb").write_bytes(Path(file).read_bytes())
    assert passline_opt(str(other), "--frontend", "onnx").stdout == passline_opt(file).stdout


def test_what_is_not_supported_is_said_without_a_traceback(tmp_path: Path):
    model = model_of(
        "g (float[2] x) => (float[2] y) {"
        " [a] b = RandomNormalLike(x) [c] y = RandomUniformLike(b) }"
    )
    (path := tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    result = passline_opt(str(path))
    assert result.status == 1 and result.stdout == ""
    assert result.stderr == (
        "error: the model has 2 nodes that cannot be imported:\n"
        "  node 'a' (RandomNormalLike, opset 17): this operator is not supported\n"
        "  node 'c' (RandomUniformLike, opset 17): this operator is not supported\n"
    )


def test_an_unexpected_exception_shows_its_traceback_with_debug(
    file: str, monkeypatch: pytest.MonkeyPatch
):
    def faulty(_: Node) -> Sequence[SSAValue]:
        return getattr(1, "missing")  # noqa: B009

    monkeypatch.setitem(CONVERTERS, ("", "Add"), faulty)
    result = passline_opt(file)
    message = "error: the model is invalid at node 'a' (Add): AttributeError: 'int' object has no"
    assert result.status == 1 and result.stderr.startswith(message)
    assert "Traceback" not in result.stderr
    shown = passline_opt(file, "--debug").stderr
    assert "in faulty" in shown and "AttributeError" in shown


def test_branches_in_branches_without_other_operations(tmp_path: Path):
    depth, body = 30, "y0 = Identity(x)"
    for i in range(1, depth + 1):
        body = f"""y{i} = If (c) <
            then_branch = t{i} () => (float[3] y{i - 1}) {{ {body} }},
            else_branch = e{i} () => (float[3] n{i}) {{ n{i} = Identity(z) }}
        >"""
    model = model_of(f"g (bool c, float[3] x, float[3] z) => (float[3] y{depth}) {{ {body} }}")
    (path := tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    x, z = np.ones(3, np.float32), np.zeros(3, np.float32)
    for condition, expected in ((True, x), (False, z)):
        inputs, outputs = tmp_path / "in.npz", tmp_path / "out.npz"
        save_arrays(str(inputs), {"c": np.array(condition), "x": x, "z": z})
        words = [str(path), "--inputs", str(inputs), "--outputs", str(outputs)]
        assert capture(lambda: PasslineRunMain(args=words).run()).status == 0  # noqa: B023
        with np.load(outputs) as results:
            np.testing.assert_array_equal(results[f"y{depth}"], expected)


def test_a_file_that_is_no_model(tmp_path: Path):
    (path := tmp_path / "m.onnx").write_bytes(b"module {}")
    result = passline_opt(str(path))
    assert result.status == 1
    assert result.stderr.startswith(f"error: '{path}' is not an ONNX model: ")
    assert len(result.stderr.splitlines()) == 1


def test_without_onnx_it_is_said_what_to_install(file: str, monkeypatch: pytest.MonkeyPatch):
    for name in [
        name for name in sys.modules if name.startswith("passline.compiler.frontends.onnx")
    ]:
        monkeypatch.delitem(sys.modules, name)
    hide(monkeypatch, "onnx")
    result = passline_opt(file)
    assert result.status == 1
    assert result.stderr == (f"error: onnx is not installed: {install_hint('onnx')}\n")


def test_a_model_is_run(file: str, tmp_path: Path):
    save_arrays(str(tmp_path / "x.npz"), {"x": W})
    args = [file, "--inputs", str(tmp_path / "x.npz")]
    result = capture(lambda: PasslineRunMain(args=args).run())
    assert result.status == 0 and result.stderr == ""
    assert result.stdout.startswith("y") and "4" in result.stdout


# Names

INPUTS = {"gpu_0/data_0": np.ones((2, 3), np.float32), "input.1": W, 'Input:0 "é\\"': np.array(2.0)}
STAGES = ["infer-type", "fuse-ops", *LOWER_TO_TIR, *LOWER_TO_MLIR]


def run(*args: str) -> Result:
    return capture(lambda: PasslineRunMain(args=args).run())


def named_model() -> ModelProto:
    """Return a model with inputs of these names, and outputs `out/sum:0` and `data_0`."""
    model = model_of("""g (float[2, 3] a, float[3] b, double c) => (float[2, 3] y, double z) {
        y = Add(a, b)
        z = Mul(c, c)
    }""")
    names = dict(zip("abcyz", [*INPUTS, "out/sum:0", "data_0"], strict=True))
    for value in (*model.graph.input, *model.graph.output):
        value.name = names[value.name]
    for node in model.graph.node:
        node.input[:] = [names[name] for name in node.input]
        node.output[:] = [names[name] for name in node.output]
    return model


@pytest.fixture
def named(tmp_path: Path) -> Path:
    (path := tmp_path / "named.onnx").write_bytes(named_model().SerializeToString())
    np.savez(tmp_path / "x.npz", **INPUTS)  # pyright: ignore[reportArgumentType]
    return path


@pytest.mark.parametrize("engine", ["numpy", pytest.param("native", marks=needs_native)])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, len(STAGES) - 2, len(STAGES)])
def test_values_have_the_names_of_the_model_at_every_stage(
    count: int, engine: str, named: Path, tmp_path: Path
):
    text, out = tmp_path / "x.mlir", tmp_path / "y.npz"
    passes = [f"-p={','.join(STAGES[:count])}"] if count else []
    assert passline_opt(str(named), *passes, "-o", str(text)).status == 0
    args = [str(text), "--engine", engine, "--inputs", str(tmp_path / "x.npz")]
    result = run(*args, "--outputs", str(out))
    assert result.status == 0, result.stderr
    with np.load(out) as results:
        assert [*results.files] == ["out/sum:0", "data_0"]
        np.testing.assert_array_equal(results["out/sum:0"], [[1, 2, 3]] * 2)
        assert results["data_0"] == 4
    printed = run(*args).stdout
    assert "out/sum:0: float32 2x3\n" in printed and "data_0: float64 scalar\n4.\n" in printed


def test_a_name_that_is_nearly_right(named: Path, tmp_path: Path):
    np.savez(tmp_path / "x.npz", **{"gpu_0.data_0": W})  # pyright: ignore[reportArgumentType]
    result = run(str(named), "--inputs", str(tmp_path / "x.npz"), "--print-ir-after-all", "-O3")
    assert result.stderr == (
        "error: @main has no parameter 'gpu_0.data_0', did you mean 'gpu_0/data_0'?\n"
    )


@needs_native
def test_a_model_is_compiled_and_run(file: str, tmp_path: Path):
    save_arrays(str(tmp_path / "x.npz"), {"x": W})
    result = run(file, "--engine=native", "--inputs", str(tmp_path / "x.npz"))
    assert (result.status, result.stderr) == (0, "")
    assert result.stdout == "y: float32 3\n[0. 2. 4.]\n"
