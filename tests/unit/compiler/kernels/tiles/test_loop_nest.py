"""The loops of contractions: what they write into buffers of their own."""

from __future__ import annotations

import re

import numpy as np
import pytest
from support.native.needs_llvmlite import needs_native
from xdsl.dialects.builtin import MemRefType, ModuleOp, f32
from xdsl.ir import SSAValue

import passline
from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function
from passline.compiler.kernels.builder import KernelBuilder
from passline.compiler.kernels.contraction.contraction import Contraction, Coordinates
from passline.compiler.kernels.tiles.blocks import ColumnBlock, padded
from passline.compiler.kernels.tiles.loop_nest import pack_columns, panel_shape
from passline.compiler.kernels.tiles.schedule import Schedule
from passline.compiler.native import compile_module
from passline.dialects.target import NAMED, set_target
from passline.dialects.tir.ops import PrimFuncOp
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context


def unused(*_: object) -> SSAValue:
    raise AssertionError("only columns are read")


def contraction(columns: int, terms: int) -> Contraction:
    """Return a product whose rhs is a matrix of ones."""
    return Contraction(
        (8, columns),
        f32,
        f32,
        batch=(),
        m=8,
        rows=(),
        columns=columns,
        terms=(terms,),
        read_lhs=unused,
        rhs=lambda b, terms, at: b.number(1.0, f32),
        index_of=lambda b, at: [at.m, at.column],
        coordinates_of=lambda b, index: Coordinates([], index[0], [], index[1]),
    )


@pytest.mark.parametrize("by_rows", [False, True])
@pytest.mark.parametrize("columns", [1, 3, 8, 9, 13, 18])
def test_a_panel_is_filled_to_the_end_of_its_last_tile(columns: int, by_rows: bool):
    t = contraction(columns, terms=2)
    s = Schedule(5, 2, 4, 1, columns, 2, packs=True, lhs_inside=True, by_rows=by_rows)
    terms, width = panel_shape(t, s)
    assert isinstance(terms, int)
    shape = terms, width
    func = PrimFuncOp("main", [MemRefType(f32, shape)])
    (panel,) = func.body.block.args
    b = KernelBuilder(func)
    pack_columns(b, t, s, ColumnBlock((), 0, 1, 0, columns, panel, None, columns), (0, 2))
    b.finish()
    module = ModuleOp([func])
    empty = np.full(shape, np.nan, np.float32)
    (array,) = interpret(module, entry_function(module, "main"))(empty)
    assert isinstance(array, np.ndarray)
    assert (array[:, :columns] == 1).all()
    assert (array[:, columns : padded(columns, s.tile)] == 0).all()


@needs_native
@pytest.mark.parametrize("threads", [1, 2])
def test_one_row_of_an_unknown_number_has_tiles_of_its_own(threads: int):
    weights = np.random.default_rng(0).integers(-9, 9, (7, 40)).astype(np.float32)
    module = passline.load(f"""
func.func @main(%x: tensor<?x7xf32> {{onnx.dims = ["n", unit]}}) -> tensor<?x40xf32> {{
  %w = relax.constant dense<{weights.tolist()}> : tensor<7x40xf32>
  %0 = relax.matmul %x, %w : (tensor<?x7xf32>, tensor<7x40xf32>) -> tensor<?x40xf32>
  %1 = relax.nn.relu %0 : (tensor<?x40xf32>) -> tensor<?x40xf32>
  func.return %1 : tensor<?x40xf32>
}}""")
    module = passline.optimize(module)
    sums = re.findall(r"memref.alloca.*memref<(\d+)x\d+x16xf32", str(legalized(module)))
    assert len({*sums}) == 2 and "1" in sums
    function = compile_module(module, threads=threads)
    for rows in (0, 1, 2, 9):
        x = np.arange(7 * rows, dtype=np.float32).reshape(rows, 7) - 3
        np.testing.assert_array_equal(function(x)[0], np.maximum(x @ weights, 0))


def legalized(module: ModuleOp) -> ModuleOp:
    """Return the module with its kernels for a fixed target with vectors of 16 lanes."""
    set_target(module := module.clone(), NAMED["x86-64-v4"])
    parse_pipeline("legalize-ops").apply(make_ir_context(), module)
    return module
