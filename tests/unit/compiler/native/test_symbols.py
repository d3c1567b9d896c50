"""Object code for any processor needs only functions of libm that are in C99, and a few
functions on memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import cast

import pytest
from support.budget import some
from support.native.needs_llvmlite import needs_native
from support.operations.instances import ELEMENTS, instances
from support.operations.legalized import function_of
from support.parsing import parsed
from xdsl.builder import ImplicitBuilder
from xdsl.dialects import arith, func, math, memref, vector
from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    VectorType,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.utils.exceptions import VerifyException

from passline.compiler.kernels.choices import NoKernel
from passline.compiler.kernels.kernel import kernel_of
from passline.compiler.kernels.legalizations import RELAX
from passline.compiler.native import codegen, compile_module, function
from passline.compiler.native.codegen import Processor, initialize
from passline.compiler.native.jit import load_llvm, optimize, target_machine
from passline.compiler.native.llvm_printer import llvm_ir
from passline.compiler.native.objects import undefined_symbols
from passline.compiler.native.preparation.preparation import prepare
from passline.dialects.arith_types import element_of, with_element
from passline.dialects.relax.dynamic.computation import DynamicOp
from passline.dialects.relax.types import Element
from passline.dialects.tir.ops import CallOp, PrimFuncOp, YieldOp
from passline.passmanager import PassContext
from passline.passmanager.errors import PasslineError
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context

pytestmark = needs_native

LIBM = """acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf exp exp2 expm1 fabs
    floor fma fmax fmin fmod ldexp log log10 log1p log2 pow rint round sin sinh sqrt tan tanh
    trunc""".split()
MEMORY = ("aligned_alloc", "free", "memcpy", "memmove", "memset")
ALLOWED = {*LIBM, *(name + "f" for name in LIBM), *MEMORY}

PROCESSORS = [
    *(("x86_64-unknown-linux-gnu", f"x86-64{level}", 0) for level in ("", "-v2", "-v3", "-v4")),
    ("aarch64-unknown-linux-gnu", "generic", 1),
]
"""Triple, processor and level of code generation. Level 0 is fast and needs nearly the same symbols
as level 3, except for aarch64, where LLVM then uses another instruction selector (GlobalISel)."""


def symbols_not_allowed(module: ModuleOp, level: int = 0) -> dict[str, str]:
    """Return the undefined symbols of a compiled module that are not in `ALLOWED`, each with a
    processor whose code needs it.

    LLVM introduces nearly all calls during instruction selection, at every optimization level; with
    `level` of at least 1 a few more, in place of loops and of other calls.
    """
    prepared = prepare(module, "main")
    ir = llvm_ir(prepared.module, exported=(prepared.entry,))
    binding = load_llvm()
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    machines = {cpu: target_machine(triple, cpu, opt=opt) for triple, cpu, opt in PROCESSORS}
    code = optimize(ir, [prepared.entry], machines["x86-64"], level)
    found: dict[str, str] = {}
    for cpu, machine in machines.items():
        code.triple, code.data_layout = machine.triple, str(machine.target_data)
        found |= dict.fromkeys(undefined_symbols(machine.emit_object(code)), cpu)
    allowed = ALLOWED | prepared.constants.keys()
    return {name: cpu for name, cpu in found.items() if name not in allowed}


# Kernels


def kernel_or_none(op: Operation, name: str) -> PrimFuncOp | None:
    """Return the kernel of `op`, or None if its element types are not supported."""
    try:
        return kernel_of(function_of(op, name)).func
    except NoKernel:
        return None


def calling(kernels: Sequence[PrimFuncOp]) -> ModuleOp:
    """Return a module with the kernels and a function `@main` that calls each on its own
    buffers."""
    main = PrimFuncOp("main", [type for k in kernels for type in k.function_type.inputs])
    buffers = iter(main.args)
    calls = [CallOp(k.sym_name.data, [next(buffers) for _ in k.args]) for k in kernels]
    main.body.block.add_ops([*calls, YieldOp()])
    return ModuleOp([main, *kernels])


def test_each_operation_has_an_instance():
    """An operation without an instance would not be tested by `test_kernels`."""
    missing = {cls for cls in RELAX if not issubclass(cls, DynamicOp)}  # of unknown sizes only
    for element in ELEMENTS:
        for op in instances(element):
            if type(op) in missing and kernel_or_none(op, "f") is not None:
                missing.remove(type(op))
    names = [cls.name for cls in missing]
    assert not names, f"no example in tests/filecheck/dialects/relax becomes a kernel: {names}"


@pytest.mark.parametrize("element", some(ELEMENTS, 3), ids=str)
def test_kernels(element: Element):
    kernels = [kernel_or_none(op, f"f{i}") for i, op in enumerate(instances(element))]
    module = calling([kernel for kernel in kernels if kernel is not None])
    with PassContext(verify_each=False):
        parse_pipeline("tir-vectorize-loop,tir-simplify").apply(make_ir_context(), module)
        assert not symbols_not_allowed(module, level=1 if element == f32 else 0)


# Processors for which code is only compiled

OTHERS = {
    "riscv64": Processor("riscv64-unknown-linux-gnu", "generic-rv64", "+m,+a,+f,+d,+c", 1),
    "riscv64 with vectors": Processor(
        "riscv64-unknown-linux-gnu", "generic-rv64", "+m,+a,+f,+d,+c,+v", 1
    ),
    "wasm32": Processor("wasm32-unknown-unknown", "generic", "+simd128", 1),
    "nvptx64": Processor("nvptx64-nvidia-cuda", "sm_80", "", 1),
}
EACH = 8
"""Every so many operations are compiled: there are 2 to 9 of a family."""


@cache
def family_kernels(element: Element) -> tuple[str, str]:
    """Return the LLVM IR of a kernel of each family, and the name of its entry."""
    kernels = [kernel_or_none(op, f"f{i}") for i, op in enumerate(instances(element))]
    module = calling([kernel for kernel in kernels if kernel is not None][::EACH])
    with PassContext(verify_each=False):
        parse_pipeline("tir-vectorize-loop,tir-simplify").apply(make_ir_context(), module)
    prepared = prepare(module, "main")
    return llvm_ir(prepared.module, exported=(prepared.entry,)), prepared.entry


@pytest.mark.parametrize("processor", OTHERS)
@pytest.mark.parametrize("element", [f32, i32], ids=str)
def test_a_kernel_of_each_family_compiles_for_other_processors(processor: str, element: Element):
    initialize()
    machine = codegen.target_machine(OTHERS[processor])
    ir, entry = family_kernels(element)
    code = optimize(ir, [entry], machine, 1)
    if processor == "nvptx64":  # there are no object files, but text in PTX
        assert re.search(r"\.visible \.func \S*main", machine.emit_assembly(code))
    else:
        assert len(machine.emit_object(code)) > 10_000


# Operations of MLIR's own dialects

NOT_TESTED = {arith.ConstantOp, arith.IndexCastOp}
"""Operations that compute nothing."""
ARITHMETIC = [
    cls
    for cls in cast("list[type[IRDLOperation]]", [*arith.Arith.operations, *math.Math.operations])
    if cls not in NOT_TESTED
]
CONVERSIONS: dict[type[Operation], Callable[[Element, Element], bool]] = {
    arith.ExtFOp: lambda old, new: old.bitwidth < new.bitwidth,
    arith.TruncFOp: lambda old, new: old.bitwidth > new.bitwidth,
}
"""The types between which floats are converted, which xDSL does not verify."""
LANES = 4


def arithmetic(types: Sequence[Attribute]) -> Iterator[Operation]:
    """Yield the operations of arith and math, with all valid combinations of these types as
    operands and results."""
    bits, integers = (with_element(types[0], element) for element in (i1, i32))
    for cls in ARITHMETIC:
        definition = cls.get_irdl_definition()
        count, results = len(definition.operands), len(definition.results)
        predicate = {"predicate": IntegerAttr(2, i64)}
        properties = predicate if "predicate" in definition.properties else {}
        operands = [[type] * count for type in types]
        if cls is math.FPowIOp:
            operands = [[type, integers] for type in types]
        elif cls is arith.SelectOp:
            operands = [[bits, type, type] for type in types]
        for given in operands:
            for result in types if count == 1 else dict.fromkeys((given[0], given[-1], bits)):
                for rest in dict.fromkeys((result, bits)) if results > 1 else [result]:
                    values, result_types = Block(arg_types=given).args, [result, rest][:results]
                    op = cls.create(
                        operands=values, result_types=result_types, properties={**properties}
                    )
                    if is_valid(op):
                        yield op


def is_valid(op: Operation) -> bool:
    elements = [cast("Element", element_of(value.type)) for value in (*op.operands, *op.results)]
    if (rule := CONVERSIONS.get(type(op))) is not None:
        return not any(isinstance(e, IntegerType) for e in elements) and rule(*elements)
    try:
        op.verify()
    except VerifyException:
        return False
    return True


def computing(ops: Sequence[Operation]) -> ModuleOp:
    """Return a module with one function for each operation, which loads the operands from
    buffers and stores the results, and a function `@main` that calls all of them."""
    functions = [function_on_buffers(op, f"f{i}") for i, op in enumerate(ops)]
    main = func.FuncOp("main", ([t for f in functions for t in f.function_type.inputs], []))
    buffers = iter(main.args)
    for callee in functions:
        arguments = [next(buffers) for _ in callee.args]
        main.body.block.add_op(func.CallOp(callee.sym_name.data, arguments, []))
    main.body.block.add_op(func.ReturnOp())
    return ModuleOp([main, *functions])


def function_on_buffers(op: Operation, name: str) -> func.FuncOp:
    types = [MemRefType(element_of(v.type), [LANES]) for v in (*op.operands, *op.results)]
    new = func.FuncOp(name, (types, []), visibility="private")
    with ImplicitBuilder(new.body) as buffers:
        zero = arith.ConstantOp(IntegerAttr(0, IndexType())).result
        operands: list[SSAValue] = []
        for operand, buffer in zip(op.operands, buffers, strict=False):
            if isinstance(type := operand.type, VectorType):
                load = vector.LoadOp(buffer, [zero], cast("VectorType[Attribute]", type))
            else:
                load = memref.LoadOp.get(buffer, [zero])
            operands.append(load.results[0])
        results = op.clone(dict(zip(op.operands, operands, strict=True))).results
        for result, buffer in zip(results, buffers[len(operands) :], strict=True):
            if isinstance(result.type, VectorType):
                vector.StoreOp(result, buffer, [zero])
            else:
                memref.StoreOp.get(result, buffer, [zero])
        func.ReturnOp()
    return new


def test_arithmetic_of_numbers():
    ops = [*arithmetic(ELEMENTS)]
    missing = {cls.name for cls in ARITHMETIC} - {op.name for op in ops}
    assert not missing, f"no types are found that are valid for {missing}"
    assert not symbols_not_allowed(computing(ops))


def test_arithmetic_of_vectors():
    ops = [*arithmetic([VectorType(t, [LANES]) for t in ELEMENTS])]
    assert not symbols_not_allowed(computing(ops))


# The error


SINE = """tir.prim_func @main(%x: memref<16xf64>, %y: memref<16xf64>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  tir.for %i = %c0 extent %c16 {
    %v = memref.load %x[%i] : memref<16xf64>
    %s = math.sin %v : f64
    %t = math.tan %s : f64
    memref.store %t, %y[%i] : memref<16xf64>
  }
}"""


def test_an_error_names_the_operation_that_needs_a_symbol(monkeypatch: pytest.MonkeyPatch):
    missing = ("sin", "tan")
    monkeypatch.setattr(function, "is_in_process", lambda name: name not in missing)  # pyright: ignore
    with pytest.raises(PasslineError) as error:
        compile_module(parsed(SINE))
    message = "function @{} is called, but has no body, neither in the module nor in this process"
    assert str(error.value) == (
        f"{message.format('sin')}: the call at x.mlir:6:10 needs it; "
        f"{message.format('tan')}: the call at x.mlir:7:10 needs it"
    )
