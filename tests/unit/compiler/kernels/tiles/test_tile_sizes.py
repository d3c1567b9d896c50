"""Schedules of contractions: what the cost model chooses, and the machine code that comes of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from support.native.needs_llvmlite import needs_native
from xdsl.dialects.builtin import TensorType, f32, f64
from xdsl.ir import Block, Operation

from passline.compiler.kernels.tiles.cost_model import (
    candidates,
    cycles,
    peak_share,
    schedule_of,
    shares_columns,
)
from passline.compiler.kernels.tiles.schedule import ContractionOperand, Extents, Schedule
from passline.dialects.relax.contraction.convolution import Conv2dOp
from passline.dialects.relax.contraction.linear_algebra import MatmulOp
from passline.dialects.target import NAMED, Target

X86 = NAMED["x86-64-v3"]
PROCESSORS = [name for name, target in NAMED.items() if not target.is_cuda]
SHAPES = [
    Extents(64, 56, 56, 64, 9, 32, True),
    Extents(512, 7, 7, 512, 9, 32, True, ContractionOperand.LHS),
    Extents(2048, 1, 49, 512, 1, 32, True, ContractionOperand.LHS),
    Extents(1, 1, 1000, 4096, 1, 32, False, ContractionOperand.RHS),
    Extents(1024, 1, 1024, 1024, 1, 64, False),
    Extents(1, 112, 112, 1, 9, 32, True),
    Extents(3, 1, 1, 5, 1, 32, False),
    Extents(7, 2, 3, 1, 1, 8, True),
]


@pytest.mark.parametrize("name", PROCESSORS)
def test_tiles_fit_into_registers(name: str):
    for extents in SHAPES:
        target = NAMED[name]
        for schedule in candidates(extents, target):
            assert schedule.lanes == target.lanes(extents.bits)
            m, vectors = schedule.m, schedule.vectors
            kept = min(m, vectors) if schedule.in_place else vectors
            assert m * vectors + kept + 1 <= target.vector_registers


@pytest.mark.parametrize("name", PROCESSORS)
def test_panels_fit_into_the_second_cache(name: str):
    for extents in SHAPES:
        target = NAMED[name]
        for schedule in candidates(extents, target):
            columns = max(schedule.rows * schedule.columns, schedule.tile)
            size = schedule.inputs * extents.taps * columns * extents.bits // 8
            least = schedule.inputs * extents.taps * schedule.tile * extents.bits // 8
            assert not schedule.packs or size <= max(target.l2_cache // 2, least)


@pytest.mark.parametrize("extents", SHAPES, ids=str)
def test_the_estimate_of_the_choice_is_the_least(extents: Extents):
    least = min(cycles(s, extents, X86) for s in candidates(extents, X86))
    assert cycles(schedule_of(extents, X86), extents, X86) == least
    assert 0 < peak_share(schedule_of(extents, X86), extents, X86) <= 1


def test_a_product_fills_the_registers_of_each_target():
    square = Extents(512, 1, 512, 512, 1, 32, False)
    sums = {
        n: (s := schedule_of(square, NAMED[n])).m * s.vectors
        for n, t in NAMED.items()
        if not t.is_cuda
    }
    assert sums["x86-64-v3"] == 12
    assert sums["x86-64-v4"] >= 20
    assert sums["aarch64"] >= 20


def test_few_columns_of_packed_rows_are_vectors_of_rows():
    few = Extents(512, 7, 7, 512, 9, 32, True, ContractionOperand.LHS)
    assert schedule_of(few, X86).by_rows
    many = replace(few, rows=56, columns=56)
    assert not schedule_of(many, X86).by_rows


@pytest.mark.parametrize("name", ["x86-64-v3", "x86-64-v4"])
def test_vectors_are_of_channels_where_the_result_has_blocks_of_them(name: str):
    # 8 channels to 32 in a strip of 6 x 96: its rows fill vectors of columns, whose lanes would be
    # stored one by one.
    lanes = NAMED[name].lanes(32)
    strip = Extents(32, 6, 96, 8, 1, 32, False, ContractionOperand.LHS, rows_together=lanes)
    assert schedule_of(strip, NAMED[name]).by_rows
    assert not schedule_of(replace(strip, rows_together=1), NAMED[name]).by_rows


def test_many_terms_are_summed_up_in_blocks():
    wide = Extents(512, 28, 28, 512, 9, 32, True, ContractionOperand.LHS)
    assert schedule_of(wide, X86).inputs < 512
    large = replace(X86, l1_cache=64 << 20, l2_cache=512 << 20)
    assert schedule_of(wide, large).inputs == 512


def test_an_unknown_number_of_rows_has_few_blocks_of_terms():
    long = Extents(128, 1, 1024, 12544, 1, 32, False, ContractionOperand.RHS, m_known=False)
    assert schedule_of(long, X86).inputs == 1568
    assert schedule_of(replace(long, inputs=1024), X86).inputs == 1024


def test_one_row_reads_few_rows_of_a_large_matrix_at_a_time():
    product = Extents(1, 1, 4096, 4096, 1, 32, False)
    assert not schedule_of(product, X86).packs
    assert schedule_of(product, X86).inputs < 64


# Machine code

BRANCH = re.compile(r"\s+(?:j\w+|b\.\w+|cbn?z\s+\w+,)\s+(\.L\w+)")
MULTIPLY = re.compile(r"\s+(vfn?madd|fmla|fmadd|mulp[sd])")
REGISTER = {"x86-64": "%xmm", "x86-64-v2": "%xmm", "x86-64-v3": "%ymm", "x86-64-v4": "%zmm"}


def kernel_assembly(op: Operation, target: Target) -> str:
    """Return the assembly of the kernel of `op` for `target`."""
    from support.operations.legalized import module_of

    from passline.compiler.native.jit import machine_of, optimize
    from passline.compiler.native.llvm_printer import llvm_ir
    from passline.compiler.native.preparation.preparation import prepare
    from passline.passes.relax.legalize_ops import LegalizeOps
    from passline.passmanager import PassContext, Sequential
    from passline.passmanager.pipeline import parse_pipeline

    module = module_of([op])
    passes = parse_pipeline("plan-memory,lower-to-mlir").passes
    with PassContext(verify_each=False):
        lowered = Sequential([LegalizeOps(target=str(target)), *passes])(module)
    prepared = prepare(lowered, "f0")
    ir = llvm_ir(prepared.module, exported=(prepared.entry,))
    machine = machine_of(target)
    return machine.emit_assembly(optimize(ir, prepared.entry, machine))


def inner_loops(assembly: str) -> Iterator[list[str]]:
    """Yield the lines of each innermost loop."""
    lines = assembly.splitlines()
    starts = {line.partition(":")[0]: i for i, line in enumerate(lines) if line.startswith(".L")}
    for end, line in enumerate(lines):
        branch = BRANCH.match(line)
        if branch and (start := starts.get(branch[1], end)) < end:
            body = lines[start : end + 1]
            if sum(bool(BRANCH.match(inner)) for inner in body) == 1:
                yield body


def tensor(*shape: int, element: object = f32):
    return Block(arg_types=[TensorType(element, shape)]).args[0]  # pyright: ignore


@needs_native
@pytest.mark.parametrize("name", PROCESSORS)
@pytest.mark.parametrize("kind", ["matmul", "convolution", "matmul f64"])
def test_inner_loops_keep_their_sums_in_registers(kind: str, name: str):
    target = NAMED[name]
    element = f64 if kind.endswith("f64") else f32
    if kind == "convolution":
        op = Conv2dOp(tensor(1, 64, 28, 28), tensor(96, 64, 3, 3), padding=(1, 1))
        extents = Extents(96, 28, 28, 64, 9, 32, True)
    else:
        op = MatmulOp(tensor(240, 256, element=element), tensor(256, 240, element=element))
        extents = Extents(240, 1, 240, 256, 1, 32 if element == f32 else 64, False)
    schedule = schedule_of(extents, target)
    bodies = [
        body
        for body in inner_loops(kernel_assembly(op, target))
        if sum(bool(MULTIPLY.match(line)) for line in body) >= schedule.m * schedule.vectors
    ]
    assert bodies, "no inner loop has the products of a tile"
    for body in bodies:
        spills = [line for line in body if "sp)" in line or "[sp" in line]
        assert not spills, "\n".join(body)
        if name in REGISTER:
            assert REGISTER[name] in "".join(line for line in body if MULTIPLY.match(line))


@pytest.mark.parametrize("name", ["aarch64", "x86-64-v4"])
def test_windows_of_a_large_image_are_read_in_place(name: str):
    windows = Extents(256, 14, 14, 256, 9, 32, True, ContractionOperand.LHS, 3)
    schedule = schedule_of(windows, NAMED[name])
    weights = schedule.rows_of_tile * schedule.inputs * windows.taps * 4
    assert schedule.in_place and weights <= NAMED[name].l1_cache // 2
    assert not schedule_of(replace(windows, constant=None), NAMED[name]).in_place


def test_taps_are_unrolled_if_registers_hold_the_columns_that_they_share():
    windows = Extents(256, 14, 14, 256, 9, 32, True, ContractionOperand.LHS, 3)
    x86 = NAMED["x86-64-v4"]
    narrow = Schedule(14, 1, 16, 1, 14, 256, False, True, True)
    assert shares_columns(narrow, windows, x86)  # 14 sums, 16 columns and a vector of rows
    assert not shares_columns(replace(narrow, vectors=2), windows, x86)
    assert not shares_columns(narrow, replace(windows, taps_across=1), x86)
