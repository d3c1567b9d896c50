"""passline-compile for GPUs: files of kernels, and what a user's mistakes say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.gpu.cubins import cubin
from support.suites.inprocess import Result, capture

from passline.compiler.gpu.assemble import TILEIRAS, Resources
from passline.dialects.cuda_tile.bytecode.tile_reader import read_tile_bytecode
from passline.dialects.cuda_tile.module_ops import EntryOp
from passline.passmanager.ir.walk import walk
from passline.tools.compile import PasslineCompileMain

MODEL = """\
func.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %w = relax.constant dense<0.5> : tensor<8x8xf32>
  %0 = relax.matmul %x, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %1 = relax.nn.softmax %0 {axis = 1} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  func.return %1 : tensor<?x8xf32>
}
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (file := tmp_path / "m.mlir").write_text(MODEL)
    return file


def compile_file(*args: str | Path) -> Result:
    return capture(lambda: PasslineCompileMain([*map(str, args)]).run())


@pytest.mark.usefixtures("assembler")
@pytest.mark.parametrize("kind", ["cubin", "tileirbc"])
def test_kernels_and_a_manifest(model: Path, kind: str):
    kernels, manifest = model.with_name(f"k.{kind}"), model.with_name("k.json")
    for _ in range(2):  # its own files are written again
        result = compile_file(model, "-O3", "--target=sm_90", "-o", kernels)
        assert result.status == 0 and f"wrote {kernels}" in result.stderr
    facts = json.loads(manifest.read_text())
    assert facts["target"] == "sm_90" and facts["function"] == "main"
    assert facts["entries"]["fused_softmax"] == ["ptr", "ptr", "i32"]
    launched = re.findall(r"tir.launch.*@kernels::@(\w+)", facts["host"])
    assert launched == [*facts["entries"]]
    if kind == "cubin":
        assert kernels.read_bytes() == cubin()
        assert facts["resources"] == {"f": vars(Resources(40, 8, 1024, 128))}
    else:
        read = read_tile_bytecode(kernels.read_bytes())
        entries = [op.sym_name.data for op in walk(read) if isinstance(op, EntryOp)]
        assert entries == [*facts["entries"]]


MISTAKES = {
    ("sm_90", "x.o"): "an object file cannot be made for sm_90: expected an output file with the "
    "suffix .so, .cubin, .tileirbc, or another --target",
    (
        "x86-64",
        "x.cubin",
    ): "kernels of a GPU cannot be made for x86-64: expected .* .so, .o, .ll, .s",
    ("sm_91", "x.cubin"): "there is no target 'sm_91', did you mean 'sm_90'?",
    ("sm_90", "x.foo"): "the suffix of '.*x.foo' does not say what to make: expected one of .so",
    ("sm_90", "x.cubin"): "PASSLINE_TILEIRAS=none: there is no program",
    ("sm_90", "x.so"): "PASSLINE_TILEIRAS=none: there is no program",
}


@pytest.mark.parametrize(("target", "name"), [*MISTAKES])
def test_mistakes(model: Path, target: str, name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(TILEIRAS, "none")
    result = compile_file(model, f"--target={target}", "-o", model.with_name(name))
    first, *rest = result.stderr.splitlines()
    assert result.status in (1, 2) and re.search(f"error: {MISTAKES[target, name]}", first)
    assert not rest or re.fullmatch("see '.* --help'", "\n".join(rest))
    assert not model.with_name(name).exists()


def test_an_assembler_that_is_not_installed(model: Path, monkeypatch: pytest.MonkeyPatch):
    for name in (TILEIRAS, "CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "/bin")
    monkeypatch.setattr("passline.compiler.gpu.assemble.find_spec", dict[str, None]().get)
    result = compile_file(model, "--target=sm_90", "-o", model.with_name("x.cubin"))
    assert result.status == 1
    assert re.fullmatch(r"error: tileiras is not installed: pip install .*cuda.*\n", result.stderr)
