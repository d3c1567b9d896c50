"""Frontends and targets of other projects in passline-opt, and the frontend `onnx` in xdsl-opt."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
import pytest
from onnx import numpy_helper
from onnx.external_data_helper import convert_model_to_external_data, write_external_data_tensors
from support.models.from_text import model_of
from support.releases import needs_xdsl
from support.suites.inprocess import capture, passline_opt, passline_reduce
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.utils.target import Target
from xdsl.xdsl_opt_main import xDSLOptMain

from passline.passmanager.registry import installed
from passline.passmanager.releases.targets import Frontend


@dataclass(frozen=True)
class Lines(Frontend):
    """The reader of a text that becomes attributes of an empty module."""

    name = "lines"

    prefix: str = ""

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        names = input.read().decode().split()
        return ModuleOp([], {f"{self.prefix}{n}": StringAttr(Path(input_name).name) for n in names})


@dataclass(frozen=True)
class Names(Target):
    """The names of the attributes of a module."""

    name = "names"

    upper: bool = False

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        text = " ".join(module.attributes)
        output.write((text.upper() if self.upper else text) + "\n")


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A frontend and a target are installed, and gone after the test."""
    offer = installed()
    monkeypatch.setattr(offer, "frontends", {**offer.frontends, "lines": lambda: Lines})
    monkeypatch.setattr(offer, "targets", {**offer.targets, "names": lambda: Names})


@pytest.fixture
def lines(tmp_path: Path) -> str:
    (path := tmp_path / "x.lines").write_text("a b")
    return str(path)


@pytest.fixture
def model(tmp_path: Path) -> str:
    model = model_of("g (float[n] x) => (float[n] y) { [a] y = Add(x, x) }")
    (path := tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    return str(path)


def test_the_end_of_the_file_name_chooses_the_frontend(lines: str) -> None:
    text = 'builtin.module attributes {a = "x.lines", b = "x.lines"}'
    assert passline_opt(lines).stdout.startswith(text)
    assert "Import" in passline_opt(lines, "--timing").stderr


def test_a_frontend_and_a_target_have_options(lines: str) -> None:
    args = ("-f", 'lines{prefix="p."}', "-t", "names{upper=true}")
    assert passline_opt(lines, *args).stdout == "P.A P.B\n"
    assert passline_opt(*args, stdin="c").stdout == "P.C\n"


def test_tools_that_run_passes_many_times_take_frontends(lines: str) -> None:
    result = passline_reduce(lines, "-f", 'lines{prefix="p."}', "--test", "grep p.a")
    assert result.stdout == 'builtin.module attributes {p.a = "x.lines"} {\n}\n\n', result


def test_parts_of_a_file_are_read_apart(lines: str) -> None:
    Path(lines).write_text("a\n// -----\nb\n")
    assert passline_opt(lines, "--split-input-file", "-t", "names").stdout == "a\n// -----\nb\n"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("lins", "there is no frontend 'lins', did you mean 'lines'?"),
        ("lines{prefx=1}", "frontend 'lines': Provided arguments"),
        ("mlir{x=1}", "frontend 'mlir': Provided arguments"),
        ("lines{", "Error parsing"),
    ],
)
def test_a_mistake_in_the_frontend(spec: str, message: str, lines: str) -> None:
    result = passline_opt(lines, "-f", spec)
    assert result.status == 2
    assert f"error: argument -f/--frontend: {message}" in result.stderr


def test_the_options_of_our_own_frontends(model: str, tmp_path: Path) -> None:
    assert "tensor<4xf32>" in passline_opt(model, "-f", 'onnx{dim="n=4"}').stdout
    (two := tmp_path / "two.mlir").write_text("func.func private @f()\n")
    assert passline_opt(str(two), "-f", "mlir").status == 0
    assert passline_opt(str(two), "-f", "mlir{no-implicit-module=true}").status == 1


@needs_xdsl("0.75", "its tools have no frontends of plugins")
def test_xdsl_opt_reads_models(model: str) -> None:
    def run(*args: str) -> str:
        return capture(lambda: xDSLOptMain(args=[model, *args]).run()).stdout

    assert run() == passline_opt(model).stdout
    assert "tensor<4xf32>" in run("-f", 'onnx{dim="n=4"}')


@needs_xdsl("0.75", "its tools have no frontends of plugins")
def test_xdsl_opt_finds_the_data_beside_a_model(tmp_path: Path) -> None:
    model = model_of("g (float[3] x) => (float[3] y) { [a] y = Add(x, w) }")
    weight = numpy_helper.from_array(np.arange(3, dtype=np.float32), "w")
    model.graph.initializer.append(weight)
    convert_model_to_external_data(model, location="w.bin", size_threshold=0)
    (path := tmp_path / "m.onnx").write_bytes(
        write_external_data_tensors(model, str(tmp_path)).SerializeToString()
    )
    result = capture(lambda: xDSLOptMain(args=[str(path)]).run())
    assert result.stdout == passline_opt(str(path)).stdout and "relax.add" in result.stdout
