"""Products of bytes are computed by the dot products of four that processors have."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from support.budget import some
from support.native.needs_llvmlite import needs_native
from support.operations.evaluation import Array, constant, ui8
from support.operations.evaluation import run_all as run_on_numpy
from support.operations.legalized import kernel_on_constant, legalized
from support.passes.results import run
from support.tables import table_test
from xdsl.dialects.builtin import i8, i32
from xdsl.ir import Operation

from passline.compiler.kernels.contraction.byte_products import has_exact_pairs
from passline.dialects.relax.constant import ConstantOp
from passline.dialects.relax.contraction.convolution import Conv1dOp, Conv2dOp
from passline.dialects.relax.contraction.linear_algebra import DenseOp, MatmulOp
from passline.dialects.relax.types import Element
from passline.dialects.target import NAMED, Target
from passline.dialects.tir.ops import Dp4aOp
from passline.passmanager import PassContext, Sequential
from passline.passmanager.ir.walk import walk
from passline.passmanager.pipeline import parse_pipeline

RANDOM = np.random.default_rng(3)


def with_features(name: str, *features: str) -> str:
    """Return the text of a target that has some features more."""
    return f'{name}{{features="{",".join((NAMED[name].features, *features))}"}}'


VNNI = with_features("x86-64-v4", "+avx512vnni")
ARM, NEW_ARM = with_features("aarch64", "+dotprod"), with_features("aarch64", "+dotprod", "+i8mm")


def data(*shape: int, element: Element = ui8) -> ConstantOp:
    return constant(RANDOM.integers(*((0, 256) if element == ui8 else (-128, 128)), shape), element)


def weights(*shape: int, most: int = 128) -> ConstantOp:
    return constant(RANDOM.integers(-most, most, shape), i8)


def conv(image: ConstantOp, weight: ConstantOp, **properties: object) -> Conv2dOp:
    return Conv2dOp(image, weight, out_dtype=i32, **properties)  # pyright: ignore[reportArgumentType]


BLOCKS = {"data_layout": "NCHW8c", "kernel_layout": "OIHW"}

CASES: Mapping[str, Operation] = {
    "inputs that fill no word": conv(data(1, 3, 6, 7), weights(5, 3, 3, 3)),
    "padding": conv(data(2, 8, 4, 5), weights(17, 8, 3, 3), padding=[1, 1]),
    "strides and dilation": conv(
        data(1, 6, 9, 9), weights(4, 6, 3, 3), strides=[2, 2], dilation=[2, 1], padding=[2, 1]
    ),
    "one element": conv(data(1, 9, 5, 7), weights(16, 9, 1, 1)),
    "an image of one element": conv(data(2, 12, 1, 1), weights(20, 12, 1, 1)),
    "groups": conv(data(1, 16, 4, 4), weights(8, 8, 3, 3), groups=2),
    "blocks": conv(data(1, 1, 2, 3, 8), weights(8, 8, 3, 3), padding=[1, 1], **BLOCKS),
    "blocks of one element": conv(data(1, 2, 2, 3, 8), weights(16, 16, 1, 1), **BLOCKS),
    "strides of blocks": conv(
        data(1, 1, 5, 6, 8), weights(8, 8, 2, 2), strides=[2, 2], padding=[0, 1, 2, 1], **BLOCKS
    ),
    "outputs that fill no block": conv(
        data(1, 2, 2, 5, 8), weights(5, 16, 1, 1), out_layout="NCHW", **BLOCKS
    ),
    "blocks of outputs": conv(
        data(1, 3, 3, 4), weights(8, 3, 2, 2), kernel_layout="OIHW", out_layout="NCHW8c"
    ),
    "blocks that fill no word": conv(
        data(1, 1, 3, 4, 6), weights(6, 6, 2, 2), data_layout="NCHW6c", kernel_layout="OIHW"
    ),
    "one dimension": Conv1dOp(data(1, 5, 11), weights(6, 5, 3), out_dtype=i32),
    "matrices": MatmulOp(data(5, 16), weights(16, 33), out_dtype=i32),
    "terms that fill no word": MatmulOp(data(2, 3, 10), weights(10, 7), out_dtype=i32),
    "one row": MatmulOp(data(1, 19), weights(19, 40), out_dtype=i32),
    "one column": MatmulOp(data(6, 8), weights(8, 1), out_dtype=i32),
    "dense": DenseOp(data(4, 13), weights(18, 13), out_dtype=i32),
}


def has_byte_products(op: Operation) -> bool:
    return any(isinstance(inner, Dp4aOp) for inner in walk(op))


@pytest.mark.parametrize("name", CASES)
def test_results(name: str):
    module, first = kernel_on_constant(op := CASES[name], VNNI)
    assert has_byte_products(module) == (name != "blocks that fill no word")
    (actual,) = run(module, "f0", (first,))
    np.testing.assert_array_equal(actual, run_on_numpy(op)[0])


@pytest.mark.parametrize("target", [VNNI, ARM, NEW_ARM, "x86-64-v2", "x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("most", [60, 128])
def test_results_of_lowered_kernels(target: str, most: int):
    """Small weights, of which pairs of products fit in an i16, for all instructions; and others."""
    op = MatmulOp(data(3, 10), weights(10, 20, most=most), out_dtype=i32)
    module, first = kernel_on_constant(op, target)
    assert has_byte_products(module)
    passes = parse_pipeline("tir-vectorize-loop,tir-unroll-loop,tir-simplify")
    with PassContext(opt_level=3):
        (actual,) = run(passes(module), "f0", (first,))
    np.testing.assert_array_equal(actual, run_on_numpy(op)[0])


@needs_native
@pytest.mark.parametrize(
    ("name", "most"), [*((name, 128) for name in CASES), *((name, 60) for name in some(CASES, 4))]
)
def test_machine_code(name: str, most: int):
    """On this machine, whatever its instructions are."""
    from passline.compiler.native import compile_module
    from passline.dialects.target import host

    op = CASES[name].clone()
    if most < 128:
        weight = op.operands[1]
        op.operands[1] = weights(*weight.type.get_shape(), most=most).result  # pyright: ignore
    module, first = kernel_on_constant(op, str(host()))
    (actual,) = compile_module(module, "f0")(first)
    np.testing.assert_array_equal(actual, run_on_numpy(op)[0])


INSTRUCTIONS = [
    (VNNI, 60, "vpdpbusd"),
    (with_features("x86-64-v3", "+avxvnni"), 60, "vpdpbusd"),
    ("x86-64-v2", 60, "pmaddubsw"),
    ("x86-64-v3", 60, "vpmaddubsw"),
    ("x86-64-v4", 60, "vpmaddubsw"),
    (VNNI, 128, "vpdpbusd"),
    ("x86-64-v2", 128, "pmaddwd"),
    ("x86-64-v3", 128, "vpmaddwd"),
    ("x86-64-v4", 128, "vpmaddwd"),
    (ARM, 60, "sdot"),
    (NEW_ARM, 60, "usdot"),
]


@needs_native
@pytest.mark.parametrize(("target", "most", "instruction"), INSTRUCTIONS)
def test_instructions(target: str, most: int, instruction: str):
    from passline.compiler.native.jit import machine_of, optimize
    from passline.compiler.native.llvm_printer import llvm_ir
    from passline.compiler.native.preparation.preparation import prepare

    op = conv(data(1, 16, 12, 12), weights(64, 16, 3, 3, most=most))
    module, _ = kernel_on_constant(op, target)
    with PassContext(verify_each=False):
        module = Sequential(parse_pipeline("plan-memory,lower-to-mlir").passes)(module)
    prepared = prepare(module, "f0")
    machine = machine_of(Target(target))
    ir = llvm_ir(prepared.module, exported=(prepared.entry,))
    assembly = machine.emit_assembly(optimize(ir, prepared.entry, machine))
    assert f"\t{instruction}\t" in assembly
    if instruction.endswith("pmaddwd"):
        assert "pmaddubsw" not in assembly


@pytest.mark.parametrize("target", ["x86-64", "aarch64"])
def test_other_targets_compute_in_other_numbers(target: str):
    module, _ = kernel_on_constant(CASES["matrices"], target)
    assert not has_byte_products(module)


def test_other_operands_are_computed_in_other_numbers():
    signed = MatmulOp(data(5, 16, element=i8), weights(16, 33), out_dtype=i32)
    module, _ = kernel_on_constant(signed, VNNI)
    assert not has_byte_products(module)
    assert not has_byte_products(legalized(CASES["matrices"], VNNI))  # the weights are a parameter


@table_test(
    "matrix, exact",
    [
        ([[64, 64, -64, -64]], True),
        ([[65, 64]], False),
        ([[1, 127, 127]], True),
        ([[2, 127]], False),
        ([[-128, 127, 100]], True),
        ([[-128, -1]], False),
        ([[0, 127], [0, 0], [-128, 0]], True),
    ],
)
def test_pairs_of_products_fit_in_i16(matrix: Array, exact: bool):
    assert has_exact_pairs(np.array(matrix)) is exact
