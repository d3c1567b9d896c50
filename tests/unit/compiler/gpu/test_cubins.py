"""Kernels of real sizes are assembled for each generation of GPUs, and their registers suffice.

`make test` assembles some of them, `make test-thorough` all.
"""

from __future__ import annotations

import pytest
from support.budget import some
from support.tables import table_test

from passline import load
from passline.compiler.gpu.assemble import TILEIRAS, assemble_each, find_tileiras, resources
from passline.compiler.gpu.build import lowering_to_tiles
from passline.dialects.cuda_tile.module_ops import ModuleOp as TileModuleOp
from passline.dialects.target import Target
from passline.passmanager.errors import NotInstalledError

GPUS = ("sm_80", "sm_90", "sm_100")
ATTENTION_OF_F32 = 192
"""The bytes that a thread may spill in attention without tensor cores: queries and sums of values
are in registers beside the operands of two products."""

MATMUL = "%r = relax.matmul %a, %b"
INTEGERS = "%r = relax.matmul %a, %b {out_dtype = i32}"
GELU = """%0 = relax.nn.dense %a, %b : (<A>, <B>) -> <R>
          %1 = relax.add %0, %c : (<R>, <C>) -> <R>
          %r = relax.nn.gelu %1 : (<R>) -> <R>"""
RELU = """%0 = relax.add %a, %b : (<A>, <B>) -> <R>
          %r = relax.nn.relu %0 : (<R>) -> <R>"""
SOFTMAX = "%r = relax.nn.softmax %a {axis = -1}"
NORM = "%r = relax.nn.layer_norm %a, %b, %c {axes = [-1]}"
SUM = "%r = relax.sum %a {axis = [AXES], keepdims = false}"
SCAN = "%r = relax.cumsum %a {axis = 1}"
TURN = "%r = relax.transpose %a {axes = [1, 0]}"
CAUSAL = '%r = relax.nn.attention %a, %b, %c {causal_mask = "BottomRight"}'
ATTENTION = "%r = relax.nn.attention %a, %b, %c"
NHWC = 'data_layout = "NHWC", kernel_layout = "HWIO", '


def conv(text: str = "") -> str:
    return f"%r = relax.nn.conv2d %a, %b {{{text}}}"


KERNELS: list[tuple[str, str, str]] = [
    # The operations, the types of %a, %b and so on, and that of the result; E is each of the types
    # after the colon.
    (MATMUL, "4096x4096xE 4096x4096xE : f16 bf16 f32", "4096x4096xE"),
    (MATMUL, "1024x1024xE 1024x1024xE : f16 f64", "1024x1024xE"),
    (MATMUL, "128x3072xE 3072x768xE : f16", "128x768xE"),
    (MATMUL, "1x4096xE 4096x4096xE : f16 f32", "1x4096xE"),  # split along the terms
    (MATMUL, "96x512x64xE 96x64x512xE : f16", "96x512x512xE"),
    (MATMUL, "?x?xE ?x?xE : f16 f32", "?x?xE"),
    (INTEGERS, "1024x1024xi8 1024x1024xi8 : f16", "1024x1024xi32"),
    (GELU, "4096x768xE 3072x768xE 3072xE : f16", "4096x3072xE"),
    (conv("padding = [1, 1]"), "32x64x56x56xE 64x64x3x3xE : f16 f32", "32x64x56x56xE"),
    (conv("padding = [1, 1]"), "1x256x14x14xE 256x256x3x3xE : f16 f32", "1x256x14x14xE"),
    (conv(), "32x256x56x56xE 64x256x1x1xE : f16 f32", "32x64x56x56xE"),
    (
        conv("padding = [3, 3], strides = [2, 2]"),
        "32x3x224x224xE 64x3x7x7xE : f16 f32",
        "32x64x112x112xE",
    ),
    (
        conv("padding = [1, 1], groups = 32"),
        "32x128x56x56xE 128x4x3x3xE : f16 f32",
        "32x128x56x56xE",
    ),
    (
        conv("padding = [1, 1], groups = 144"),
        "1x144x56x56xE 144x1x3x3xE : f32",
        "1x144x56x56xE",
    ),
    (
        conv(f"{NHWC}padding = [1, 1]"),
        "32x56x56x64xE 3x3x64x64xE : f16",
        "32x56x56x64xE",
    ),
    (SOFTMAX, "4096x1024xE : f16 f32", "4096x1024xE"),
    (SOFTMAX, "512x50257xE : f16 f32", "512x50257xE"),
    (NORM, "4096x768xE 768xE 768xE : f16 f32", "4096x768xE"),
    (NORM, "4096x8192xE 8192xE 8192xE : f16 f32", "4096x8192xE"),
    (SUM.replace("AXES", "1"), "4096x1024xE : f16 f32", "4096xE"),
    (SUM.replace("AXES", "0"), "4096x1024xE : f16", "1024xE"),
    (SUM.replace("AXES", "0, 1"), "4096x1024xE : f16", "E"),
    (SCAN, "512x4096xE : f16 f32", "512x4096xE"),
    (TURN, "4096x4096xE : f16 f32", "4096x4096xE"),
    (RELU, "4096x4096xE 4096x4096xE : f16 f32", "4096x4096xE"),
    (CAUSAL, "?x?x16x128xE ?x?x16x128xE ?x?x16x128xE : f16", "?x?x16x128xE"),
    *(
        (op, " ".join([f"4x2048x16x{dim}xE"] * 3) + " : f16 f32", f"4x2048x16x{dim}xE")
        for op in (ATTENTION, CAUSAL)
        for dim in (64, 128)
    ),
]


def function(op: str, types: list[str], result: str) -> str:
    """Return the text of a function @main."""
    names = "abc"[: len(types)]
    if ":" not in op:
        op += f" : ({', '.join(f'<{name.upper()}>' for name in names)}) -> <R>"
    for letter, type in zip((*names.upper(), "R"), (*types, result), strict=True):
        op = op.replace(f"<{letter}>", f"tensor<{type}>")
    parameters = ", ".join(f"%{n}: tensor<{t}>" for n, t in zip(names, types, strict=True))
    return f"""func.func @main({parameters}) -> tensor<{result}> {{
      {op}
      func.return %r : tensor<{result}>
    }}"""


def cases() -> list[tuple[str, int]]:
    """Return the texts of functions, and the bytes that their threads may spill."""
    found: list[tuple[str, int]] = []
    for op, types, result in KERNELS:
        shapes, _, elements = types.partition(" : ")
        for element in elements.split():
            text = function(op, shapes.replace("E", element).split(), result.replace("E", element))
            bound = ATTENTION_OF_F32 if "attention" in op and element == "f32" else 0
            found.append((text, bound))
    return found


@pytest.mark.parametrize("gpu", GPUS)
@table_test("text, bound", some(cases(), 13))
def test_registers_suffice(gpu: str, text: str, bound: int) -> None:
    try:
        find_tileiras()
    except NotInstalledError:
        pytest.skip(f"needs tileiras: {TILEIRAS}, or the package nvidia-cuda-tileiras")
    target = Target(gpu)
    lowered = lowering_to_tiles("main", target)(load(text))
    (kernels,) = (op for op in lowered.ops if isinstance(op, TileModuleOp))
    for code in assemble_each(kernels, target):
        for name, taken in resources(code).items():
            assert taken.local_bytes <= bound, name
            assert taken.registers * taken.threads <= 1 << 16, name
            assert taken.shared_bytes <= target.l1_cache, name
