"""The estimate of the memory of functions."""

from __future__ import annotations

import passline
from passline import MemoryEstimate, estimate_memory

CHAIN = """
func.func @main(%x: tensor<256xf32>) -> tensor<256xf32> {
  %c = relax.constant dense<1.0> : tensor<256xf32>
  %0 = relax.add %x, %c : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
  %1 = relax.exp %0 : (tensor<256xf32>) -> tensor<256xf32>
  %2 = relax.negative %1 : (tensor<256xf32>) -> tensor<256xf32>
  %3 = relax.abs %2 : (tensor<256xf32>) -> tensor<256xf32>
  func.return %3 : tensor<256xf32>
}
func.func @id(%x: tensor<2xf32>) -> tensor<2xf32> { func.return %x : tensor<2xf32> }
func.func @no_tensors() { func.return }
"""


def test_intermediate_results_share_memory() -> None:
    module = passline.load(CHAIN)
    text = str(module)
    found = estimate_memory(module)
    assert str(module) == text
    assert {*found} == {"main", "id"}
    kb = 1024
    assert found["main"] == MemoryEstimate(kb, kb, kb, 3, 3 * kb, 2 * kb, 0)
    assert found["main"].total == 5 * kb
    assert found["id"] == MemoryEstimate(8, 8, kb, 0, 0, 0, 0)
    assert "3 intermediate results 2048 (before planning 3072)" in str(found["main"])


def test_sizes_that_are_unknown_are_left_out() -> None:
    found = estimate_memory(
        "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
        "  %0 = relax.exp %x : (tensor<?xf32>) -> tensor<?xf32>\n"
        "  func.return %0 : tensor<?xf32>\n}"
    )
    assert found["main"].total == 0


def test_memory_of_kernels_counts() -> None:
    found = estimate_memory(
        "func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {\n"
        "  %0 = relax.matmul %x, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>\n"
        "  func.return %0 : tensor<64x64xf32>\n}"
    )
    assert found["main"].kernels > 0
