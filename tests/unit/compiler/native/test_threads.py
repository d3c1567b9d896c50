"""Machine code on several threads: results, errors, and calls from several Python threads."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from support.native.needs_llvmlite import needs_native
from support.native.needs_openmp import needs_openmp
from support.parsing import parsed
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp

from passline.compiler.interpreters.arguments import random_arguments
from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function
from passline.compiler.native import compile_module
from passline.compiler.native.preparation.preparation import prepare
from passline.dialects.target import Target
from passline.passmanager.context import PassContext
from passline.passmanager.errors import PasslineError
from passline.passmanager.ir.walk import walk
from passline.passmanager.pipeline import parse_pipeline
from passline.tools.run import main

pytestmark = needs_native

THREADS = (2, 3, 8)


def function(inputs: Mapping[str, str], body: str, result: str) -> str:
    """Return the text of a function of tensors that returns `%r`."""
    parameters = ", ".join(f"%{name}: tensor<{type}>" for name, type in inputs.items())
    end = f"func.return %r : tensor<{result}>"
    return f"func.func @main({parameters}) -> tensor<{result}> {{\n{body}\n{end}\n}}"


def conv(data: str, weight: str, result: str, attributes: str) -> str:
    return binary("nn.conv2d", data, weight, result, f"{{{attributes}}}")


def binary(op: str, x: str, y: str, result: str, attributes: str = "") -> str:
    types = f"(tensor<{x}>, tensor<{y}>) -> tensor<{result}>"
    return function({"x": x, "y": y}, f"%r = relax.{op} %x, %y {attributes} : {types}", result)


def unary(op: str, data: str, result: str, attributes: str = "") -> str:
    body = f"%r = relax.{op} %x {attributes} : (tensor<{data}>) -> tensor<{result}>"
    return function({"x": data}, body, result)


PADDED = "strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>"
POOL = (
    "{pool_size = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>}"
)

KERNELS = {
    "conv": conv("1x16x30x30xf32", "32x16x3x3xf32", "1x32x30x30xf32", PADDED),
    "pointwise": conv("2x64x14x14xf32", "128x64x1x1xf32", "2x128x14x14xf32", ""),
    "depthwise": conv(
        "1x48x28x28xf32", "48x1x3x3xf32", "1x48x28x28xf32", f"{PADDED}, groups = 48 : i64"
    ),
    "matmul": binary("matmul", "96x200xf32", "200x130xf32", "96x130xf32"),
    "vector times matrix": binary("matmul", "1x512xf32", "512x1000xf32", "1x1000xf32"),
    "max pool": unary("nn.max_pool2d", "1x40x56x56xf32", "1x40x28x28xf32", POOL),
    "average pool": unary("nn.avg_pool2d", "1x40x56x56xf32", "1x40x28x28xf32", POOL),
    "softmax": unary("nn.softmax", "300x400xf32", "300x400xf32", "{axis = -1 : i64}"),
    "sum": unary("sum", "50x40x60xf32", "50x60xf32", "{axis = array<i64: 1>}"),
    "transpose": unary("transpose", "300x200xf32", "200x300xf32"),
    "exp": unary("exp", "7x64x117xf32", "7x64x117xf32"),
}


def optimized(text: str) -> ModuleOp:
    with PassContext(opt_level=3):
        return parse_pipeline("optimize")(parsed(text))


def parallel_loops(module: ModuleOp, threads: int) -> int:
    """Return the number of loops that threads share."""
    prepared = prepare(module, "main", Target("x86-64-v3"), threads).module
    calls = (op for op in walk(prepared) if isinstance(op, llvm.CallOp))
    return sum(str(op.callee) == "@__kmpc_fork_call" for op in calls)


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_shared_by_threads(name: str):
    module = optimized(KERNELS[name])
    assert parallel_loops(module, 2) > 0
    assert parallel_loops(module, 1) == 0 or name in ("conv", "pointwise", "depthwise", "matmul")


@needs_openmp
@pytest.mark.parametrize("name", KERNELS)
def test_results_do_not_depend_on_the_number_of_threads(name: str):
    module = optimized(KERNELS[name])
    entry = entry_function(module, "main")
    arguments = random_arguments(entry, 0)
    expected = np.asarray(interpret(module, entry)(*arguments)[0])
    for threads in THREADS:
        native = compile_module(module, threads=threads)
        for _ in range(3):
            (result,) = native(*arguments)
            np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)


def test_small_work_stays_serial():
    module = optimized(unary("exp", "8x16xf32", "8x16xf32"))
    assert parallel_loops(module, 8) == 0


def test_each_chunk_is_a_function_of_buffers_that_do_not_overlap():
    module = optimized(KERNELS["softmax"])
    prepared = prepare(module, "main", Target("x86-64-v3"), 2).module
    functions = [op for op in prepared.ops if isinstance(op, llvm.FuncOp)]
    parts = [op for op in functions if op.sym_name.data.endswith("_part")]
    assert parts
    for part in parts:
        assert part.arg_attrs is not None
        assert "llvm.noalias" in part.arg_attrs.data[0].data


TAKE = binary(
    "take",
    "4096x64xf32",
    "5000xi64",
    "5000x64xf32",
    '{axis = 0 : i64, mode = "raise"}',
)


@needs_openmp
@pytest.mark.parametrize("threads", [1, *THREADS])
def test_an_assertion_fails_in_a_parallel_loop(threads: int):
    module = optimized(TAKE)
    assert threads == 1 or parallel_loops(module, threads) > 0
    native = compile_module(module, threads=threads)
    x, i = np.ones((4096, 64), np.float32), np.zeros(5000, np.int64)
    native(x, i)
    for place in (0, 2499, 4999):
        bad = i.copy()
        bad[place] = 4096
        with pytest.raises(PasslineError, match=r"x\.mlir:3.*is out of bounds|index"):
            native(x, bad)
    (result,) = native(x, i)  # a failure leaves nothing behind
    assert (result == 1).all()


@needs_openmp
def test_python_threads_call_at_once():
    module = optimized(KERNELS["matmul"])
    native = compile_module(module, threads=2)
    rng = np.random.default_rng(0)
    pairs = [
        (rng.random((96, 200), np.float32), rng.random((200, 130), np.float32)) for _ in range(8)
    ]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            calls = [pool.submit(native, *pair) for pair in pairs]
            for (a, b), call in zip(pairs, calls, strict=True):
                (result,) = call.result()
                np.testing.assert_allclose(result, a @ b, rtol=1e-4)


LOWERED = """
func.func @main(%x: memref<64xf32>) attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %f = arith.constant 3.0 : f32
  "scf.parallel"(%c0, %c64, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    %t = memref.alloca() : memref<1xf32>
    memref.store %f, %t[%c0] : memref<1xf32>
    %v = memref.load %t[%c0] : memref<1xf32>
    memref.store %v, %x[%i] : memref<64xf32>
    scf.reduce
  }) : (index, index, index) -> ()
  func.return
}
"""


@needs_openmp
@pytest.mark.parametrize("threads", [1, *THREADS])
def test_lowered_modules_keep_stack_buffers_in_their_thread(threads: int):
    (result,) = compile_module(parsed(LOWERED), threads=threads)()
    assert (result == 3).all()


def test_the_number_of_threads_is_positive():
    with pytest.raises(PasslineError, match="the number of threads is 0: expected at least 1"):
        compile_module(parsed(LOWERED), threads=0)


def test_passline_run_takes_the_number_of_threads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (file := tmp_path / "x.mlir").write_text(unary("exp", "200x300xf32", "200x300xf32"))
    arguments = [str(file), "-O3", "--engine=native", "--no-cache"]
    main(arguments)
    alone = capsys.readouterr().out
    main([*arguments, "--threads=3"])
    assert capsys.readouterr().out == alone
    with pytest.raises(SystemExit, match="2"):
        main([*arguments, "--threads=0"])
    assert "--threads: " in capsys.readouterr().err
