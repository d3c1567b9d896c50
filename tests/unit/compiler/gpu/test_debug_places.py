"""The places of kernels: in bytecode, in errors, in records of runs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import (
    FileLineColLoc,
    FusedLoc,
    ModuleOp,
    NameLoc,
    StringAttr,
    UnknownLoc,
)
from xdsl.utils.hints import isa

from passline import load, optimize
from passline.compiler.gpu.build import compile_for_device, lowering_to_tiles
from passline.compiler.gpu.debug_places import with_scopes
from passline.compiler.gpu.simulated import SimulatedDevice
from passline.dialects.cuda_tile.bytecode.tile_reader import read_tile_bytecode
from passline.dialects.cuda_tile.bytecode.tile_writer import write_tile_bytecode
from passline.dialects.cuda_tile.debug_info import DIFileAttr, DISubprogramAttr
from passline.dialects.cuda_tile.module_ops import EntryOp
from passline.dialects.cuda_tile.module_ops import ModuleOp as TileModuleOp
from passline.dialects.target import Target, set_target
from passline.passmanager.ir.location import file_location
from passline.passmanager.ir.walk import walk
from passline.tools.run import main

TEXT = """\
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = relax.nn.softmax %x {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = relax.nn.relu %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %1 : tensor<4x8xf32>
}
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (file := tmp_path / "m.mlir").write_text(TEXT)
    return file


def optimized(file: Path) -> ModuleOp:
    module = load(file)
    set_target(module, Target("sm_90"))
    return optimize(module)


def test_bytecode_has_the_places_of_relax_operations(model: Path):
    lowered = lowering_to_tiles("main", Target("sm_90"))(optimized(model))
    (kernels,) = (op for op in lowered.ops if isinstance(op, TileModuleOp))
    read = read_tile_bytecode(write_tile_bytecode(with_scopes(kernels)), "x")
    (entry,) = (op for op in walk(read) if isinstance(op, EntryOp))
    lines: dict[str, set[int]] = {}
    for op in walk(entry):
        place = file_location(op.location)
        assert place is not None and place.filename.data == str(model)
        assert isinstance(op.location, FusedLoc)
        assert isinstance(op.location.metadata, DISubprogramAttr)
        lines.setdefault(op.name, set()).add(place.line.data)
    assert lines["cuda_tile.reduce"] == {2} and lines["cuda_tile.maxf"] == {2, 3}
    assert all(not isa(op.location, FileLineColLoc) for op in walk(read))


def test_a_launch_names_its_operations(model: Path):
    function = compile_for_device(optimized(model), "main", None, SimulatedDevice())
    function(np.zeros((4, 8), np.float32))
    (plan,) = function.plans
    assert plan is not None
    text = f"relax.nn.softmax at {model}:2:8, relax.nn.relu at {model}:3:8"
    assert [*map(str, plan.plan.steps)] == [f"@fused_softmax_relu at {model}:3:8 ({text})"]


@pytest.mark.parametrize("options", [["--no-cache"], []])
def test_times_of_kernels_in_the_record(
    model: Path, tmp_path: Path, options: list[str], capfd: pytest.CaptureFixture[str]
):
    record = tmp_path / "r.jsonl"
    main([str(model), "-O3", "--engine=cuda-interpreter", f"--record={record}", *options])
    phases = [json.loads(line) for line in record.read_text().splitlines() if '"phase"' in line]
    (kernel,) = (phase for phase in phases if phase["name"].startswith("@"))
    assert kernel["name"] == f"@fused_softmax_relu at {model}:3:8" and kernel["seconds"] > 0


def test_a_name_that_stands_for_a_file_has_no_quotes():
    kernels = TileModuleOp("kernels")
    kernels.body.block.add_op(entry := EntryOp("k", []))
    entry.location = NameLoc(StringAttr("/block/conv1"), UnknownLoc())
    (scoped,) = with_scopes(kernels).body.ops
    assert isinstance(scoped.location, FusedLoc)
    assert isinstance(scope := scoped.location.metadata, DISubprogramAttr)
    assert isinstance(file := scope.file, DIFileAttr)
    assert file.file_name.data.startswith("conv1") and '"' not in file.directory.data
    assert '"' not in file.file_name.data
