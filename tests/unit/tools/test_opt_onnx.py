"""passline-opt and passline-run on ONNX models."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import numpy_helper
from support.inprocess import capture, passline_opt
from support.models import model_of

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
    model = model_of("g (float[2, 2] x) => (float y) { [a] b = Det(x) [c] y = Unique(b) }")
    (path := tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    result = passline_opt(str(path))
    assert result.status == 1 and result.stdout == ""
    assert result.stderr == (
        "error: the model has 2 nodes that cannot be imported:\n"
        "  node 'a' (Det, opset 17): this operator is not supported\n"
        "  node 'c' (Unique, opset 17): this operator is not supported\n"
    )


def test_a_file_that_is_no_model(tmp_path: Path):
    (path := tmp_path / "m.onnx").write_bytes(b"module {}")
    result = passline_opt(str(path))
    assert result.status == 1
    assert result.stderr.startswith(f"error: '{path}' is not an ONNX model: ")
    assert len(result.stderr.splitlines()) == 1


def test_without_onnx_it_is_said_what_to_install(file: str, monkeypatch: pytest.MonkeyPatch):
    for name in [name for name in sys.modules if name.startswith("passline.frontends.onnx")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "onnx", None)
    result = passline_opt(file)
    assert result.status == 1
    assert result.stderr == (
        "error: reading ONNX needs 'onnx', which is not installed: pip install 'passline[onnx]'\n"
    )


def test_a_model_is_run(file: str, tmp_path: Path):
    save_arrays(str(tmp_path / "x.npz"), {"x": W})
    args = [file, "--inputs", str(tmp_path / "x.npz")]
    result = capture(lambda: PasslineRunMain(args=args).run())
    assert result.status == 0 and result.stderr == ""
    assert result.stdout.startswith("y") and "4" in result.stdout
