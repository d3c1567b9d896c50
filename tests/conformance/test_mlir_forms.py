"""mlir-opt reads what is printed of MLIR's operations, as the operations that were read."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.parsing import parsed
from support.tables import table_test

from passline.passes.generic.mlir_opt import find_mlir_opt
from passline.passmanager.ir.text.printer import PLAIN, PrintStyle, module_text
from passline.passmanager.ir.verifier import verify
from passline.passmanager.registry import make_ir_context

MLIR_OPT = find_mlir_opt()

pytestmark = pytest.mark.skipif(
    MLIR_OPT is None, reason="mlir-opt is not installed (Debian: mlir-22-tools)"
)

FOLDER = Path(__file__).parents[1] / "filecheck" / "dialects" / "mlir"
FILES = sorted(path for path in FOLDER.glob("*.mlir") if path.stem != "invalid")


def mlir_text(text: str, *options: str) -> str:
    """Return what mlir-opt prints of a module."""
    assert MLIR_OPT is not None
    command = [MLIR_OPT, "--allow-unregistered-dialect", "--mlir-print-local-scope", *options]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    assert not done.returncode, f"{done.stderr}\n{text}"
    return done.stdout


def check(text: str) -> None:
    """Check that a text is the same to mlir-opt after it was read and printed here, in both forms,
    and that we read both forms of mlir-opt as the same."""
    expected = mlir_text(text, "--mlir-print-op-generic")
    for given in (text, mlir_text(text), expected):
        module = parsed(given)
        verify(module)
        for style in (PLAIN, PrintStyle(generic=True)):
            shown = module_text(module, make_ir_context(True), style)
            assert mlir_text(shown, "--mlir-print-op-generic") == expected


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_files(path: Path) -> None:
    check(path.read_text())


VALUES = "%c: i1, %n: i32, %i: index, %x: f32, %t: tensor<4xf32>, %m: memref<4x8xf32>"


@table_test(
    "text",
    [
        "%0 = scf.if %c -> f32 { scf.yield %x : f32 } else { scf.yield %x : f32 }",
        "scf.if %c { } else { }",
        "%0 = scf.for %k = %n to %n step %n iter_args(%a = %x) -> f32 : i32 { scf.yield %a : f32 }",
        "scf.for %k = %i to %i step %i { }",
        "%0 = scf.while : () -> i32 { scf.condition(%c) %n : i32 } do { ^bb0(%q: i32): scf.yield }",
        "%0 = scf.execute_region -> i32 { scf.yield %n : i32 } {note}",
        'scf.parallel (%p, %q) = (%i, %i) to (%i, %i) step (%i, %i) { "foo"(%p) : (index) -> () }',
        "%0 = scf.parallel (%p) = (%i) to (%i) step (%i) init (%x) -> f32 { scf.reduce(%x : f32) "
        "{ ^bb0(%l: f32, %r: f32): scf.reduce.return %l : f32 } }",
        "affine.if affine_set<(d0)[s0] : (d0 - s0 >= 0)>(%i)[%i] { } else { }",
        "%0 = affine.if affine_set<(d0) : (d0 == 0)>(%i) -> f32 "
        "{ affine.yield %x : f32 } else { affine.yield %x : f32 }",
        "affine.parallel (%p, %q) = (0, max(%i, %i + 2)) to (10, min(%i, 4)) step (2, 1) { }",
        '%0 = affine.parallel (%p) = (0) to (10) reduce ("addf") -> f32 { affine.yield %x : f32 }',
        "affine.for %p = 0 to 4 { %0 = affine.load %m[%p, %p + symbol(%i)] : memref<4x8xf32> }",
        "%0 = memref.cast %m : memref<4x8xf32> to memref<?x?xf32>",
        "%0 = memref.rank %m : memref<4x8xf32>",
        "memref.copy %m, %m : memref<4x8xf32> to memref<4x8xf32>",
        "vector.print %x : f32",
        "%0 = memref.atomic_rmw addf %x, %m[%i, %i] : (f32, memref<4x8xf32>) -> f32",
        "%0 = memref.cast %m : memref<4x8xf32> to memref<?x?xf32>\n"
        "memref.copy %0, %m : memref<?x?xf32> to memref<4x8xf32>",
        "scf.forall (%p) in (4) { }",
    ],
)
def test_forms(text: str) -> None:
    check(f"func.func @f({VALUES}) {{ {text} return }}")


@table_test(
    "text",
    [
        'memref.global "private" constant @a : memref<2xi32> = dense<[1, 2]> {alignment = 64}',
        "memref.global @a : memref<2xi32> = uninitialized",
        "memref.global @a : memref<2xi32>",
        "func.func private @f(i32 {llvm.signext}, f32) -> (i32 {llvm.signext})",
        "func.func private @f(memref<?x?xf32, affine_map<(d0, d1)[s0] -> (d0 * s0 + d1 mod s0)>>)",
    ],
)
def test_symbols(text: str) -> None:
    check(text)
