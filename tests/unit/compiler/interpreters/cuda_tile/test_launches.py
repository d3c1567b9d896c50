"""Launches of entries in functions on buffers."""

from __future__ import annotations

import numpy as np
import pytest
from support.parsing import parsed

from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function
from passline.passmanager.errors import PasslineError

VIEW = "partition_view<tile=(4), tensor_view<?xf32, strides=[1]>>"
TEXT = f"""
tir.prim_func @main(%a: memref<10xf32>, %b: memref<10xf32>) {{
  %one = arith.constant 1 : index
  %blocks = arith.constant 3 : index
  %zero = arith.constant 0 : index
  %n = memref.dim %a, %zero : memref<10xf32>
  %c = memref.alloc() : memref<10xf32>
  tir.launch @kernels::@double[%blocks, %one, %one](%a, %c, %n)
    : memref<10xf32>, memref<10xf32>, index
  tir.launch @kernels::@double[%blocks, %one, %one](%c, %b, %n)
    : memref<10xf32>, memref<10xf32>, index
}}
cuda_tile.module @kernels {{
  entry @double(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %n: tile<i32>) {{
    %x, %y, %z = get_tile_block_id : tile<i32>
    %u = make_tensor_view %a, shape = [%n], strides = [1]
      : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %v = make_partition_view %u : {VIEW}
    %s = make_tensor_view %b, shape = [%n], strides = [1]
      : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %w = make_partition_view %s : {VIEW}
    %t, %r = load_view_tko weak %v[%x] : {VIEW}, tile<i32> -> tile<4xf32>, token
    %d = addf %t, %t : tile<4xf32>
    %e = store_view_tko weak %d, %w[%x] token=%r : tile<4xf32>, {VIEW}, tile<i32> -> token
    return
  }}
}}"""


def test_launches_change_buffers():
    module = parsed(TEXT)
    module.verify()
    warnings = list[str]()
    main = interpret(module, entry_function(module, "main"), warn_of_launch=warnings.append)
    array = np.arange(10, dtype=np.float32)
    _, result = main(array, np.zeros(10, np.float32))
    np.testing.assert_array_equal(result, 4 * array)
    assert len(warnings) == 2 and "store_view_tko" in warnings[0]
    assert warnings[0].endswith("orders nothing (@double)")


def test_races_are_errors_only_if_they_are_checked():
    module = parsed(
        TEXT.replace("%w[%x]", "%w[%q]").replace(
            "%d = addf", "%q = constant <i32: 0> : tile<i32>\n %d = addf"
        )
    )
    arrays = np.zeros(10, np.float32), np.zeros(10, np.float32)
    interpret(module, entry_function(module, "main"))(*arrays)
    checked = interpret(module, entry_function(module, "main"), warn_of_launch=lambda _: None)
    with pytest.raises(PasslineError) as error:
        checked(*arrays)
    assert str(error.value) == (
        "'tir.launch' at x.mlir:8:3 cannot be computed: 'cuda_tile.store_view_tko' at "
        "x.mlir:25:10 in block (1, 0, 0) writes element 0 of argument 1, which "
        "'cuda_tile.store_view_tko' at x.mlir:25:10 writes in block (0, 0, 0); nothing orders "
        "blocks (@double)"
    )
