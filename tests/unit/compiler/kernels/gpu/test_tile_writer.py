"""What the writer of entries tells the assembler: hints, and by what sizes are divisible."""

from __future__ import annotations

from support.tables import table_test
from xdsl.dialects.builtin import f16, f32

from passline.compiler.kernels.gpu.tile_writer import TileWriter, factor_of
from passline.dialects.sizes import Size
from passline.dialects.tir.functions import Extent, SymbolicExtent

N: Extent = SymbolicExtent(Size.symbol("n"))


@table_test(
    "extent, factor", [(N, 1), (N * 48, 16), (N * 48 + 8, 8), (N * N * 4, 4), (24, 8), (0, 0)]
)
def test_factors(extent: Extent, factor: int):
    assert factor_of(extent) == factor


def test_strides_of_unknown_sizes_are_multiples():
    w = TileWriter("k", [f16])
    w.view(w.pointers[0], (N, N, 128), (1, 16, 128))
    text = str(w.finish())
    assert text.count("assume div_by<128>") == 1  # the stride n * 128; that of a row is known


def test_hidden_sizes_are_parameters():
    w = TileWriter("k", [])
    w.size(7)
    assert w.sizes == {}
    assert w.size(7, hidden=True) is w.size(7, hidden=True)
    assert [*w.sizes] == [7] and len(w.finish().function_type.inputs) == 1


def written(*, warps: int = 4, bulk: bool = True) -> str:
    """Return the text of an entry that copies a tile."""
    w = TileWriter("k", [f32, f32], warps=warps, bulk=bulk)
    source, result = (w.view(pointer, (64,), (64,)) for pointer in w.pointers)
    w.store(w.load(source, [w.size(0)], f32), result, [w.size(0)])
    return str(w.finish())


def test_hints():
    assert "hints" not in written()
    assert "hints=<default = {num_worker_warps_per_cta = 8}>" in written(warps=8)
    assert written(bulk=False).count("<default = {allow_tma = false}>") == 2
