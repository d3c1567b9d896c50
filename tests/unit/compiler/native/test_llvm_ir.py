"""LLVM IR as text: what becomes of the operations of the dialect llvm."""

from __future__ import annotations

import pytest
from support.native.needs_llvmlite import needs_native
from support.parsing import parsed

from passline.compiler.native.jit import load_llvm
from passline.compiler.native.llvm_printer import llvm_ir
from passline.passmanager.errors import PasslineError
from passline.passmanager.pipeline import parse_pipeline


def ir_of(text: str, pipeline: str = "") -> str:
    module = parsed(text)
    if pipeline:
        module = parse_pipeline(pipeline)(module)
    return llvm_ir(module)


def body_of(text: str) -> list[str]:
    """Return the instructions of the first function."""
    lines = ir_of(text).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("define"))
    return [line.strip() for line in lines[start + 1 : lines.index("}")]]


@pytest.mark.parametrize(
    ("op", "instruction"),
    [
        ("llvm.add %a, %b overflow<nsw> : i64", "add nsw i64 %a0, %a1"),
        ("llvm.udiv exact %a, %b : i64", "udiv exact i64 %a0, %a1"),
        ('llvm.icmp "ult" %a, %b : i64', "icmp ult i64 %a0, %a1"),
        ("llvm.trunc %a : i64 to i8", "trunc i64 %a0 to i8"),
        (
            "llvm.fadd %x, %y {fastmathFlags = #llvm.fastmath<fast>} : f32",
            "fadd fast float %a2, %a3",
        ),
        ('llvm.fcmp "oge" %x, %y : f32', "fcmp oge float %a2, %a3"),
        ("llvm.fneg %x : f32", "fneg float %a2"),
        (
            "llvm.select %c, %a, %b {llvm.unpredictable} : i1, i64",
            "select i1 %a5, i64 %a0, i64 %a1, !unpredictable !{}",
        ),
        ("llvm.uitofp %a : i64 to f32", "uitofp i64 %a0 to float"),
        ("llvm.inttoptr %a : i64 to !llvm.ptr", "inttoptr i64 %a0 to ptr"),
        ("llvm.load %p {alignment = 4 : i64} : !llvm.ptr -> f32", "load float, ptr %a4, align 4"),
        (
            "llvm.getelementptr inbounds %p[%a] : (!llvm.ptr, i64) -> !llvm.ptr, f32",
            "getelementptr inbounds float, ptr %a4, i64 %a0",
        ),
        (
            'llvm.call_intrinsic "llvm.fabs.f32"(%x) : (f32) -> f32',
            "call float @llvm.fabs.f32(float %a2)",
        ),
        ("llvm.intr.sqrt(%x) : (f32) -> f32", "call float @llvm.sqrt.f32(float %a2)"),
    ],
)
def test_instructions(op: str, instruction: str) -> None:
    text = (
        "llvm.func @f(%a: i64, %b: i64, %x: f32, %y: f32, %p: !llvm.ptr, %c: i1) {\n"
        f"  %r = {op}\n  llvm.return\n}}"
    )
    assert body_of(text) == ["b0:", f"%0 = {instruction}", "ret void"]


def test_constants_are_written_where_they_are_used() -> None:
    text = """
    llvm.func @f(%p: !llvm.ptr) {
      %c = llvm.mlir.constant(1.0 : f32) : f32
      %v = llvm.mlir.constant(dense<[1, -2]> : vector<2xi32>) : vector<2xi32>
      %s = llvm.mlir.constant(dense<0.5> : vector<2xf64>) : vector<2xf64>
      %t = llvm.mlir.constant(1 : i1) : i1
      llvm.store %c, %p : f32, !llvm.ptr
      llvm.store %v, %p : vector<2xi32>, !llvm.ptr
      llvm.store %s, %p : vector<2xf64>, !llvm.ptr
      llvm.store %t, %p : i1, !llvm.ptr
      llvm.return
    }"""
    assert body_of(text) == [
        "b0:",
        "store float 0x3FF0000000000000, ptr %a0",
        "store <2 x i32> <i32 1, i32 -2>, ptr %a0",
        "store <2 x double> splat (double 0x3FE0000000000000), ptr %a0",
        "store i1 true, ptr %a0",
        "ret void",
    ]


def test_arguments_of_blocks_are_phis() -> None:
    text = """
    llvm.func @f(%c: i1, %x: f32, %y: f32) -> f32 {
      llvm.cond_br %c, ^bb1(%x : f32), ^bb2
    ^bb1(%a: f32):
      llvm.return %a : f32
    ^bb2:
      llvm.br ^bb1(%y : f32)
    }"""
    assert body_of(text) == [
        "b0:",
        "br i1 %a0, label %b1, label %b2",
        "b1:",
        "%a3 = phi float [ %a1, %b0 ], [ %a2, %b2 ]",
        "ret float %a3",
        "b2:",
        "br label %b1",
    ]


@needs_native
def test_llvm_reads_what_the_passes_make() -> None:
    text = """
    func.func @f(%x: memref<?x4xf32> {llvm.noalias}, %y: memref<4xf16>, %n: index) -> index {
      %c0 = arith.constant 0 : index
      %v = vector.load %x[%c0, %c0] : memref<?x4xf32>, vector<4xf32>
      %w = math.exp %v : vector<4xf32>
      %r = vector.reduction <add>, %w : vector<4xf32> into f32
      %h = arith.truncf %r : f32 to f16
      memref.store %h, %y[%n] : memref<4xf16>
      %d = "memref.dim"(%x, %c0) : (memref<?x4xf32>, index) -> index
      func.return %d : index
    }"""
    ir = ir_of(text, "lower-to-llvm")
    assert "ptr noalias %a0, i64 %a1, ptr %a2, i64 %a3" in ir
    module = load_llvm().parse_assembly(ir)  # which verifies it
    assert module.get_function("f").name == "f"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "llvm.func @f(%x: f32) {\n  %0 = math.exp %x : f32\n  llvm.return\n}",
            "'math.exp' at x.mlir:2:8 cannot be translated to LLVM IR: 'lower-math' has to turn it "
            "into the dialect llvm first",
        ),
        (
            '"test.op"() : () -> ()',
            "'test.op' at x.mlir:1:1 cannot be translated to LLVM IR: no pass lowers it to the "
            "dialect llvm",
        ),
        (
            "llvm.func @f(%x: tensor<2xf32>) {\n  llvm.return\n}",
            "incompatible type 'tensor<2xf32>'|the type tensor<2xf32> is none of LLVM's",
        ),
    ],
)
def test_what_has_no_form_in_llvm_ir(text: str, message: str) -> None:
    with pytest.raises(Exception, match=message):
        ir_of(text)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            '"vector.print"(%x) : (f32) -> ()',
            "'vector.print' at x.mlir:2:1",
        ),
    ],
)
def test_what_the_passes_leave_is_named(body: str, message: str) -> None:
    text = f"func.func @f(%x: f32) {{\n{body}\nfunc.return\n}}"
    with pytest.raises(PasslineError, match="cannot be translated to LLVM IR") as error:
        ir_of(text, "lower-to-llvm")
    assert message in str(error.value)
