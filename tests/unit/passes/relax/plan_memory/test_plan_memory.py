"""Memory planned: bytes are shared, and what is said of it."""

from __future__ import annotations

from support.parsing import parsed
from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType, ModuleOp

from passline.compiler.analysis.memory.storage_plan import ALIGNMENT
from passline.dialects.relax.constant import ConstantOp
from passline.dialects.tir.ops import PrimFuncOp
from passline.passes.relax.plan_memory.plan_memory import PlanMemory
from passline.passmanager import PassContext
from passline.passmanager.instruments.statistics import StatisticsInstrument
from passline.passmanager.ir.walk import walk
from passline.passmanager.registry import make_ir_context

KERNELS = """
!b = memref<1200xf32>
tir.prim_func private @combine(%x : !b, %y : !b, %z : !b) {
  "memref.copy"(%x, %z) : (memref<1200xf32>, memref<1200xf32>) -> ()
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  tir.for %i = %c0 extent %c5 {
    %a = memref.load %x[%i] : memref<1200xf32>
    %j = arith.addi %i, %i : index
    %b = memref.load %y[%j] : memref<1200xf32>
    %s = arith.subf %a, %b : f32
    memref.store %s, %z[%i] : memref<1200xf32>
  }
}
"""
T = "tensor<1200xf32>"


def main_of(module: ModuleOp) -> PrimFuncOp:
    return next(f for f in module.ops if isinstance(f, PrimFuncOp) and f.sym_name.data == "main")


def test_a_constant_keeps_its_bytes():
    module = parsed(
        f"func.func @main() -> {T} {{\n%w = relax.constant dense<1.0> : {T}\nreturn %w : {T}\n}}"
    )
    constant = next(op for op in walk(module) if isinstance(op, ConstantOp))
    bytes_before = constant.value.data.data
    PlanMemory().apply(make_ir_context(), module)
    made = next(op for op in walk(module) if isinstance(op, memref.GlobalOp))
    assert made.initial_value is constant.value
    assert constant.value.data.data is bytes_before


def chain(length: int) -> ModuleOp:
    """A value that each of `length` calls makes of the two before."""
    names = ["%x", "%x", *(f"%{i}" for i in range(length))]
    calls = [
        f"%{i} = relax.call_tir @combine({names[i + 1]}, {names[i]}) : ({T}, {T}) -> {T}"
        for i in range(length)
    ]
    lines = [f"func.func @main(%x : {T}) -> {T} {{", *calls, f"return {names[-1]} : {T}\n}}"]
    return parsed("\n".join([KERNELS, *lines]))


def test_views_are_aligned_within_the_arena():
    module = PlanMemory()(chain(10))
    views = [op for op in walk(main_of(module)) if isinstance(op, memref.ViewOp)]
    (arena,) = [op for op in walk(main_of(module)) if isinstance(op, memref.AllocOp)]
    assert isinstance(arena.memref.type, MemRefType)
    assert arena.memref.type.get_shape() == (3 * 4800,)
    for view in views:
        shift = view.byte_shift.owner
        assert shift.value.value.data % ALIGNMENT == 0  # pyright: ignore


def test_what_it_says_of_memory():
    statistics = StatisticsInstrument()
    with PassContext(instruments=[statistics]):
        PlanMemory()(chain(1000))
    text = statistics.report()
    assert f"{999 * 4800} bytes-before" in text
    assert f"{3 * 4800} bytes-after" in text
