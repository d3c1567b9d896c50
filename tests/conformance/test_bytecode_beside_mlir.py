"""Bytecode both ways beside mlir-opt: what it writes is read, and what is written it reads, with
the same IR and locations. `bytecode_files.py` does so on whole folders.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from bytecode_files import MLIR_OPT, SAME, outcome
from support.bytecode import TEXT, written
from support.tables import table_test

from passline.passmanager.ir.text.parser import split_chunks

pytestmark = pytest.mark.skipif(
    not MLIR_OPT, reason="mlir-opt is not installed (Debian: mlir-22-tools)"
)

FOLDER = Path(__file__).parents[1] / "filecheck" / "dialects" / "mlir"
FILES = sorted(path for path in FOLDER.glob("*.mlir") if path.stem != "invalid")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_files(path: Path) -> None:
    for part, _ in split_chunks(path.read_bytes()):
        if part.strip():
            assert outcome(part) == (SAME, "")


@pytest.mark.parametrize("version", range(7))
def test_versions(version: int) -> None:
    text = TEXT.replace("<{a = 1 : i8}>", "")  # before version 5 it is an attribute
    assert outcome(text.encode(), version) == (SAME, "")


@table_test(
    "text",
    [
        '"a.b"() {x = dense<[true, false, true]> : tensor<3xi1>, y = dense<[1, -1]> : vector<2xi5>}'
        " : () -> ()",
        '"a.b"() {x = dense<true> : tensor<11xi1>, y = dense<[(1, 2)]> : tensor<1xcomplex<i16>>}'
        " : () -> ()",
        '"a.b"() {x = dense<[1.5, 0xFFC00001]> : tensor<2xf32>, y = dense<3.0> : tensor<4xbf16>}'
        " : () -> ()",
        '"a.b"() {x = 1.5 : f80, y = -5 : i100, z = 255 : ui8, w = -1 : si3} : () -> ()',
        '"a.b"() {x = array<i1: true, false>, y = array<i64: -1, 3>, z = array<f64>} : () -> ()',
        '"a.b"() {x = memref<2x?xf32, affine_map<(d0, d1) -> (d1, d0)>, 3>, y = tuple<i1, none>}'
        " : () -> ()",
        '"a.b"() {x = vector<[4]x2xf32>, y = tensor<2xf32, "e">, z = f8E4M3FN} : () -> ()',
        '"a.b"() {x = @f::@g::@h, y = "\\00\\FF", z = !q.r<1>, w = #q.r<"x">} : () -> ()',
        '"a.b"() {x = dense_resource<blob> : tensor<2xi8>} : () -> ()\n'
        '{-# dialect_resources: { builtin: { blob: "0x100000000102" } } #-}',
        '"a.b"() : () -> () loc(fused<"m">["f":1:2, callsite("n"("g":3:4) at unknown)])',
        '"a.b"() <{x = 1 : i8}> {y = 2 : i8} : () -> ()',
        "func.func @f(%a: i32) -> i32 { %0 = llvm.add %a, %a overflow<nsw> : i32 return %0 : i32 }",
        "func.func @f(%p: !llvm.ptr) { %0 = llvm.getelementptr inbounds %p[1] : (!llvm.ptr) -> "
        "!llvm.ptr, i32 return }",
        "func.func @f(%m: memref<?xf32>, %i: index) { scf.parallel (%k) = (%i) to (%i) step (%i) {"
        " memref.store %c, %m[%k] : memref<?xf32> scf.reduce } return }".replace(
            "scf.parallel", "%c = arith.constant 1.0 : f32 scf.parallel"
        ),
    ],
)
def test_texts(text: str) -> None:
    assert outcome(text.encode()) == (SAME, "")


def test_values_that_are_used_before_they_are_defined() -> None:
    text = b"""
func.func @f(%a: i32) {
  cf.br ^bb2
^bb1:
  "test.use"(%x, %a) : (i32, i32) -> ()
  return
^bb2:
  %x = "test.def"() : () -> i32
  "test.again"(%x, %x) : (i32, i32) -> ()
  cf.br ^bb1
}
"""
    assert outcome(text) == (SAME, "")


def test_a_file_of_ours_names_its_producer() -> None:
    assert b"Passline" in written("module {}")[:16]
