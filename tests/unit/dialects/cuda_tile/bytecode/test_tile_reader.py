"""Tile IR bytecode: what is written is read the same, and what is damaged is refused."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from passline.dialects.cuda_tile.bytecode.tile_reader import read_tile_bytecode
from passline.dialects.cuda_tile.bytecode.tile_writer import write_tile_bytecode
from passline.dialects.cuda_tile.module_ops import ModuleOp
from passline.passmanager.bytecode.encoding import BytecodeError
from passline.passmanager.errors import PasslineError
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.registry import make_ir_context

VIEW = "partition_view<tile=(16x32), padding_value = nan, tensor_view<?x64xf32, strides=[64,1]>>"
VIEWS = f"""
  global private constant @table alignment = 16 <f32: [1.0, 2.0]> : tile<2xf32>
  entry @views(%p: tile<ptr<f32>>, %n: tile<i32>) optimization_hints=<sm_90 = {{occupancy = 2}}> {{
    %t = make_token : token
    %i, %j, %k = get_tile_block_id : tile<i32>
    %a = assume div_by<16>, %p : tile<ptr<f32>>
    %b = assume bounded<0, ?>, %n : tile<i32>
    %v = make_tensor_view %a, shape = [%b, 64], strides = [64, 1]
      : tile<i32> -> tensor_view<?x64xf32, strides=[64,1]>
    %w = make_partition_view %v : {VIEW}
    %s0, %s1 = get_index_space_shape %w : {VIEW} -> tile<i32>
    %c, %t1 = load_view_tko weak %w[%i, %j] token = %t
      : {VIEW}, tile<i32> -> tile<16x32xf32>, token
    %t2 = store_view_tko weak %c, %w[%i, %j] token = %t1
      : tile<16x32xf32>, {VIEW}, tile<i32> -> token
    %r = reduce %c dim=1 identities=[0.000000e+00 : f32] : tile<16x32xf32> -> tile<16xf32>
    (%e: tile<f32>, %f: tile<f32>) {{
      %g = addf %e, %f : tile<f32>
      yield %g : tile<f32>
    }}
    return
  }}
"""
CONSTANTS = """
  entry @constants() {
    %a = constant <i1: [true, false, true, true]> : tile<4xi1>
    %b = constant <i1: true> : tile<16xi1>
    %c = constant <f16: [1.5, -0.0]> : tile<2xf16>
    %d = constant <i64: -1> : tile<i64>
    %e = constant <f32: 0x7F800000> : tile<8xf32>
    %f = negf %e : tile<8xf32>
    return
  }
"""
FILE = Path(__file__).parents[4] / "filecheck/dialects/cuda_tile/newer_versions.mlir"
NEWER = FILE.read_text().split("cuda_tile.module @newer {\n")[2].rpartition("}")[0]


def module(text: str) -> ModuleOp:
    parsed = parse_module(make_ir_context(), f"cuda_tile.module @kernels {{{text}}}", "x")
    parsed.verify()
    (found,) = parsed.body.ops
    assert isinstance(found, ModuleOp)
    found.detach()
    return found


def place(error: pytest.ExceptionInfo[BytecodeError]) -> int:
    assert "\n" not in str(error.value)
    return error.value.position


@pytest.mark.parametrize(
    ("text", "version"),
    [
        *((text, (13, minor)) for text in (VIEWS, CONSTANTS, "") for minor in (3, 4, 5)),
        (NEWER, (13, 5)),
    ],
)
def test_what_is_written_is_read_the_same(text: str, version: tuple[int, int]) -> None:
    written = write_tile_bytecode(module(text), version)
    read = read_tile_bytecode(written)
    assert read.is_structurally_equivalent(module(text))
    assert write_tile_bytecode(read, version) == written


def test_an_older_version_lacks_fields() -> None:
    with pytest.raises(PasslineError, match="@table needs version 13.3 .* the file is of 13.1"):
        write_tile_bytecode(module(VIEWS), (13, 1))
    with pytest.raises(PasslineError, match="'cuda_tile.fpowi' needs version 13.4"):
        write_tile_bytecode(module(NEWER), (13, 3))
    with pytest.raises(PasslineError, match="'inbounds' of .*red_view_tko' needs version 13.5"):
        write_tile_bytecode(module(NEWER), (13, 4))
    with pytest.raises(PasslineError, match="version 12.0 .* expected 13.1 to 13.5"):
        write_tile_bytecode(module(VIEWS), (12, 0))
    written = write_tile_bytecode(module(CONSTANTS), (13, 1))
    assert read_tile_bytecode(written).is_structurally_equivalent(module(CONSTANTS))


def test_types_that_the_format_lacks_are_refused() -> None:
    text = "entry @f(%x: tile<i32>) { %p = alloca num_elem = 4, alignment = 16 : tile<ptr<f32>> }"
    with pytest.raises(PasslineError, match="'cuda_tile.alloca' needs version 13.3"):
        write_tile_bytecode(module(text), (13, 2))


def test_damaged_bytecode_is_an_error_with_its_place() -> None:
    written = write_tile_bytecode(module(VIEWS))
    for size in range(len(written)):
        with pytest.raises(BytecodeError) as error:
            read_tile_bytecode(written[:size])
        assert 0 <= place(error) <= size
    refused = 0
    for at, byte in enumerate(written):
        for change in (0x01, 0x80, 0xFF):
            damaged = written[:at] + bytes((byte ^ change,)) + written[at + 1 :]
            try:
                read_tile_bytecode(damaged)
            except BytecodeError as e:
                assert "\n" not in str(e)
                assert 0 <= e.position <= len(written)
                refused += 1
    assert refused > len(written)


def disassembler() -> Path | None:
    tool = Path(os.environ.get("PASSLINE_TILEIRAS") or "/none").with_name("tileirdisasm")
    return tool if os.access(tool, os.X_OK) else None


@pytest.mark.parametrize("text", [VIEWS, CONSTANTS, NEWER])
def test_nvidias_disassembler_shows_the_same_module(text: str, tmp_path: Path) -> None:
    if (tool := disassembler()) is None:
        pytest.skip("needs tileirdisasm beside PASSLINE_TILEIRAS")
    (path := tmp_path / "x.tileirbc").write_bytes(write_tile_bytecode(module(text), (13, 5)))
    shown = subprocess.run([tool, path], capture_output=True, text=True, check=True).stdout
    assert module(shown).is_structurally_equivalent(module(text))
