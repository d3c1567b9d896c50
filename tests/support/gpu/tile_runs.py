"""Checks of tile programs against the semantics of the operations that they compute."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.arith import CmpiOp
from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

import passline
from passline.compiler.interpreters.arrays import dense_of, dtype_of
from passline.compiler.interpreters.cuda_tile.grid import run_entry
from passline.compiler.kernels.gpu.elementwise_tiles import elementwise_on_tiles
from passline.compiler.kernels.gpu.tile_builder import TileKernel
from passline.compiler.kernels.gpu.tile_kernels import tile_kernel_of
from passline.dialects.relax.constant import ConstantOp
from passline.dialects.relax.types import is_element
from passline.dialects.target import Target
from passline.dialects.tir.launch import LaunchOp

__all__ = [
    "check_operation",
    "check_tiles",
    "constant_of",
    "kernel_of_text",
    "random_array",
    "run_kernel",
]

Array = NDArray[Any]

TOLERANCES = {"f16": 4e-3, "bf16": 2e-2, "f32": 2e-5, "f64": 1e-9}
"""The relative and absolute differences that the order of sums may make."""


def kernel_of_text(
    text: str, target: str = "sm_90", constants: Mapping[int, Array] = MappingProxyType({})
) -> tuple[ModuleOp, TileKernel]:
    """Return a module with one function, and its tile program for parameters that are `constants`;
    AssertionError if it has none."""
    module = passline.load(text)
    (func,) = module.body.block.ops
    assert isinstance(func, FuncOp)
    known = {i: [constant_of(array, func.args[i].type)] for i, array in constants.items()}
    kernel = tile_kernel_of(func, Target(target), elementwise_on_tiles, None, known)
    assert kernel is not None, f"there is no tile program for\n{text}"
    for entry in kernel.entries:
        entry.verify()
    return module, kernel


def constant_of(array: Array, type: Attribute) -> ConstantOp:
    """Return a constant of a tensor type."""
    assert isa(type, TensorType)
    return ConstantOp(dense_of(array, type))


def size_of(array: Array, axis: int) -> int:
    """Return the size of a dimension."""
    return array.shape[axis]


def selected(condition: bool, then: Any, otherwise: Any) -> Any:
    """Return one of two values."""
    return then if condition else otherwise


COMPARISONS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
"""The comparisons of integers, by their numbers."""
HOST: dict[str, Callable[..., Any]] = {
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
    "arith.divui": int.__floordiv__,
    "arith.divsi": int.__floordiv__,
    "arith.minui": min,
    "arith.maxui": max,
    "arith.minsi": min,
    "arith.maxsi": max,
    "arith.ori": bool.__or__,
    "arith.select": selected,
    "memref.dim": size_of,
}
"""The operations of the functions on the host."""


def run_kernel(kernel: TileKernel, buffers: Sequence[Array], *, check: bool = True) -> None:
    """Run the function of a kernel on the host, with shuffled blocks."""
    entries = {entry.sym_name.data: entry for entry in kernel.entries}
    values: dict[SSAValue, Any] = dict(zip(kernel.func.args, buffers, strict=True))
    for op in kernel.func.body.block.ops:
        operands = [values[operand] for operand in op.operands]
        if isinstance(op, LaunchOp):
            x, y, z, *arguments = operands
            entry = entries[op.callee.nested_references.data[0].data]
            warnings = run_entry(entry, (x, y, z), arguments, order=Random(1), check=check)
            assert not warnings
        elif op.name == "arith.constant":
            number = op.properties["value"]
            assert isinstance(number, IntegerAttr)
            values[op.results[0]] = number.value.data
        elif isinstance(op, CmpiOp):
            values[op.results[0]] = COMPARISONS[op.predicate.value.data](*operands)
        elif op.name == "memref.alloc":
            values[op.results[0]] = allocated(op.results[0].type, operands)
        elif op.name == "cf.assert":
            assert operands[0], op
        elif op.results:
            values[op.results[0]] = HOST[op.name](*operands)


def allocated(type: Attribute, sizes: Sequence[int]) -> Array:
    """Return a buffer, with any elements."""
    assert isa(type, MemRefType) and is_element(type.element_type)
    left = iter(sizes)
    shape = [next(left) if n < 0 else n for n in type.get_shape()]
    return np.full(shape, 7, dtype_of(type.element_type))


def check_tiles(
    text: str,
    arrays: Sequence[Array],
    rtol: float = 0,
    atol: float = 0,
    target: str = "sm_90",
    constants: Sequence[int] = (),
) -> TileKernel:
    """Check that the tile program of a function computes what the function does; return it. Callers
    are known to pass the arrays with the numbers `constants`."""
    module, kernel = kernel_of_text(text, target, {i: arrays[i] for i in constants})
    expected = passline.run(module, *arrays)
    for check in (True, False):  # blocks one by one, and in batches
        results = [np.full(array.shape, 7, array.dtype) for array in expected]
        run_kernel(kernel, [*arrays, *results], check=check)
        for mine, other in zip(results, expected, strict=True):
            exact = other.dtype.kind != "f"
            near = {"rtol": 0.0 if exact else rtol, "atol": 0.0 if exact else atol}
            np.testing.assert_allclose(mine, other, near["rtol"], near["atol"], strict=True)
    return kernel


def random_array(shape: Sequence[int], element: str) -> Array:
    """Return normally distributed floats, or integers below 100, or booleans."""
    random = np.random.default_rng(0)
    if element == "i1":
        return random.random(shape) < 0.5
    if "i" in element:
        kind = np.uint8 if element == "ui8" else np.dtype(f"int{element[1:]}")
        return random.integers(0, 100, shape).astype(kind)
    if element != "bf16":
        return random.standard_normal(shape).astype(f"float{element[1:]}")
    bits = random.standard_normal(shape).astype(np.float32).view(np.uint32)
    return (bits & 0xFFFF0000).view(np.float32)


def tensor(shape: Sequence[int], element: str, unknown: Sequence[int] = ()) -> str:
    """Return a type as text; the dimensions in `unknown` have no size."""
    sizes = ["?" if axis in unknown else str(n) for axis, n in enumerate(shape)]
    return f"tensor<{'x'.join([*sizes, element])}>"


def check_operation(
    name: str,
    properties: str,
    arrays: Sequence[Array],
    elements: Sequence[str],
    shape: Sequence[int],
    *,
    element: str = "",
    unknown: Sequence[int] = (),
) -> TileKernel:
    """Check the tile program of an operation on `arrays`, whose types have `elements`. The result
    has `shape`, and the type of the first operand unless `element` is another. The dimensions in
    `unknown` of the first operand, of others of its rank, and of the result have no size."""
    rank = arrays[0].ndim
    types = [
        tensor(a.shape, e, unknown if a.ndim == rank else ())
        for a, e in zip(arrays, elements, strict=True)
    ]
    result = tensor(shape, element or elements[0], unknown if len(shape) == rank else ())
    names = [f"%{i}" for i in range(len(arrays))]
    parameters = ", ".join(f"{n}: {t}" for n, t in zip(names, types, strict=True))
    text = f"""
        func.func @main({parameters}) -> {result} {{
          %r = relax.{name} {", ".join(names)} {{{properties}}} : ({", ".join(types)}) -> {result}
          return %r : {result}
        }}"""
    tolerance = TOLERANCES.get(elements[0], 0)
    return check_tiles(text, arrays, tolerance, tolerance)
