"""The passes to the dialect llvm beside MLIR's: kernels that both lower compute the same."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from io import StringIO
from itertools import count

import numpy as np
import pytest
from support.budget import some
from support.native.needs_llvmlite import needs_native
from support.operations.evaluation import Array
from support.operations.instances import instances
from support.operations.legalized import function_of
from support.suites.inprocess import mlir_opt
from xdsl.dialects.builtin import ModuleOp, f32

from passline.compiler.interpreters.signature import entry_function
from passline.compiler.kernels.choices import NoKernel
from passline.compiler.kernels.kernel import kernel_of
from passline.compiler.native.jit import link, machine_of, optimize
from passline.compiler.native.llvm_printer import llvm_ir
from passline.compiler.native.parameters import BufferParameter, address, parameters_of
from passline.dialects.target import host
from passline.passes.llvm.lower_to_llvm import lower_to_llvm
from passline.passmanager import PassContext
from passline.passmanager.fast.clone import clone
from passline.passmanager.ir.text.printer import ExactPrinter, PrintStyle
from passline.passmanager.ir.walk import walk
from passline.passmanager.pipeline import parse_pipeline

MLIR_PASSES = (
    "canonicalize,cse,arith-expand,convert-vector-to-scf{full-unroll=true},convert-scf-to-cf,"
    "expand-strided-metadata,lower-affine,convert-math-to-llvm,convert-math-to-libm,"
    "convert-vector-to-llvm,finalize-memref-to-llvm,"
    "convert-func-to-llvm{use-bare-ptr-memref-call-conv=true},convert-arith-to-llvm,"
    "convert-index-to-llvm,convert-cf-to-llvm,convert-ub-to-llvm,reconcile-unrealized-casts"
)
NUMBERS = count()
TRANSLATE = shutil.which("mlir-translate-22") or shutil.which("mlir-translate")

pytestmark = [
    needs_native,
    pytest.mark.skipif(not (mlir_opt() and TRANSLATE), reason="mlir-opt is not installed"),
]


def lowered_kernels() -> list[tuple[str, ModuleOp]]:
    """Return the kernels of operations on f32, in MLIR's dialects."""
    found: list[tuple[str, ModuleOp]] = []
    passes = parse_pipeline("lower-to-mlir")
    for op in instances(f32):
        try:
            kernel = kernel_of(function_of(op, "main")).func
        except NoKernel:
            continue
        if kernel.parent is not None:
            kernel.detach()
        kernel.sym_visibility = None
        with PassContext(verify_each=False):
            found.append((op.name, passes(ModuleOp([kernel]))))
    return found


def ir_by_mlir(module: ModuleOp) -> str:
    """Return the LLVM IR that MLIR's tools make of a module."""
    printer = ExactPrinter(stream := StringIO(), PrintStyle(generic=True))
    printer.print_op(module)
    opt, translate = mlir_opt(), TRANSLATE
    assert opt is not None and translate is not None
    pipeline = f"--pass-pipeline=builtin.module({MLIR_PASSES})"
    options = [opt, pipeline, "--allow-unregistered-dialect"]
    lowered = subprocess.run(options, input=stream.getvalue(), capture_output=True, text=True)
    assert lowered.returncode == 0, lowered.stderr
    translated = subprocess.run(
        [translate, "--mlir-to-llvmir"], input=lowered.stdout, capture_output=True, text=True
    )
    assert translated.returncode == 0, translated.stderr
    return translated.stdout


def ir_by_us(module: ModuleOp) -> str:
    lower_to_llvm(copy := clone(module))
    return llvm_ir(copy)


def computed(ir: str, buffers: Sequence[Array]) -> list[Array]:
    """Run the function `@main` of LLVM IR on copies of buffers, and return these."""
    machine, entry = machine_of(host()), f"main{next(NUMBERS)}"  # LLVM has one library of a name
    ir = ir.replace("@main(", f"@{entry}(")
    code = link([machine.emit_object(optimize(ir, entry, machine))], entry, {})
    copies = [buffer.copy() for buffer in buffers]
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(copies))(code.address)
    function(*map(address, copies))
    return copies


def test_kernels_compute_the_same() -> None:
    kernels = lowered_kernels()
    assert len(kernels) > 50
    random = np.random.default_rng(0)
    for name, module in some(kernels, 8):
        if any(op.name == "memref.global" for op in walk(module)) or "f16" in str(module):
            continue  # LLVM has no data for the one, and no instructions for the other
        parameters = parameters_of(entry_function(module, "main"))
        buffers = [
            (random.uniform(0.1, 3, p.shape)).astype(p.stored)
            for p in parameters
            if isinstance(p, BufferParameter)
        ]
        ours, theirs = (computed(ir(module), buffers) for ir in (ir_by_us, ir_by_mlir))
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(
                np.asarray(a, float), np.asarray(b, float), rtol=1e-6, err_msg=name
            )
