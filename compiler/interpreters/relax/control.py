"""Semantics of constants, tuples, closures, graphs, kernel calls and annotations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    impl,
    impl_terminator,
    register_impls,
)
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from ....dialects.relax import constant as ops
from ....dialects.relax import device, kernels
from ....dialects.relax import graph as annotation
from ....dialects.relax import graph as tuples
from ....dialects.relax.closures import InvokeOp, LambdaOp, MakeClosureOp, YieldOp
from ....dialects.relax.graph import GraphOp
from ....dialects.relax.layout import Layout
from ....dialects.relax.shapes import shape_text
from ....dialects.relax.types import is_ranked
from ....passmanager.ir.ordering import dependence_order
from ..arrays import Array, array_of, check_size, dtype_of, element_of, scalar_of
from ..tir.table import return_operands

# Semantics of tuples, closures, graphs, kernel calls and annotations.
#
# A tuple is a Python tuple; a function value is a Python function that returns a tuple of results;
# the buffers of a kernel are arrays that it modifies.


Closure: TypeAlias = Callable[..., PythonValues]


def returned(
    self: InterpreterFunctions, _: Interpreter, op: Operation, args: PythonValues
) -> PythonValues:
    return args


@register_impls
class ControlFunctions(InterpreterFunctions):
    """The semantics of tuples, closures, graphs and kernel calls.

    Casts and annotations return their operand.
    """

    @impl(tuples.TupleOp)
    def run_tuple(self, _: Interpreter, op: tuples.TupleOp, args: PythonValues) -> PythonValues:
        return (args,)

    @impl(tuples.TupleGetItemOp)
    def run_tuple_get_item(
        self, _: Interpreter, op: tuples.TupleGetItemOp, args: PythonValues
    ) -> PythonValues:
        return (args[0][op.index],)

    @impl(LambdaOp)
    def run_lambda(
        self, interpreter: Interpreter, op: LambdaOp, args: PythonValues
    ) -> PythonValues:
        captured = op.captured()
        return (closure(interpreter, op, dict(zip(captured, interpreter.get_values(captured)))),)

    @impl(InvokeOp)
    def run_invoke(self, _: Interpreter, op: InvokeOp, args: PythonValues) -> PythonValues:
        function: Closure = args[0]
        return function(*args[1:])

    @impl(MakeClosureOp)
    def run_make_closure(
        self, interpreter: Interpreter, op: MakeClosureOp, args: PythonValues
    ) -> PythonValues:
        def call(*arguments: object) -> PythonValues:
            return interpreter.call_op(op.callee, (*args, *arguments))

        return (call,)

    @impl(GraphOp)
    def run_graph(self, interpreter: Interpreter, op: GraphOp, args: PythonValues) -> PythonValues:
        *ops, end = dependence_order(op.body.block)
        interpreter.push_scope("graph")
        for inner in ops:
            results = interpreter.run_op(inner, interpreter.get_values(inner.operands))
            interpreter.set_values(zip(inner.results, results, strict=True))
        outputs = interpreter.get_values(end.operands)
        interpreter.pop_scope()
        return outputs

    @impl(kernels.CallTIROp)
    def run_call_tir(
        self, interpreter: Interpreter, op: kernels.CallTIROp, args: PythonValues
    ) -> PythonValues:
        return call_kernel(interpreter, op, args, [-1] * len(op.results))

    @impl(kernels.CallTIRInplaceOp)
    def run_call_tir_inplace(
        self, interpreter: Interpreter, op: kernels.CallTIRInplaceOp, args: PythonValues
    ) -> PythonValues:
        return call_kernel(interpreter, op, args, op.inplace_indices)

    run_yield = impl_terminator(YieldOp)(return_operands)
    run_match_cast = impl(tuples.MatchCastOp)(returned)
    run_stop_fusion = impl(annotation.StopFusionOp)(returned)
    run_on_device = impl(device.OnDeviceOp)(returned)
    run_device_copy = impl(device.DeviceCopyOp)(returned)


def closure(interpreter: Interpreter, op: LambdaOp, captured: dict[SSAValue, object]) -> Closure:
    """Return the Python function for a lambda, given the values that it captured."""

    def call(*arguments: object) -> PythonValues:
        interpreter.push_scope("closure")
        interpreter.set_values(captured.items())
        results = interpreter.run_ssacfg_region(op.body, arguments, "lambda")
        interpreter.pop_scope()
        return results

    return call


def as_buffer(argument: Array | float) -> Array | float:
    """Return the argument of a kernel: an array as a contiguous buffer (a copy of views and fills
    that are not contiguous), a scalar as it is."""
    return np.asarray(argument, order="C") if isinstance(argument, np.ndarray) else argument


def call_kernel(
    interpreter: Interpreter,
    op: kernels.KernelCallOp,
    args: PythonValues,
    inplace_indices: Sequence[int],
) -> PythonValues:
    """Return the results of a kernel; result i is in the buffer of operand `inplace_indices[i]`, or
    for -1 in a new buffer."""
    arguments, sizes = args[: len(op.arguments)], iter(args[len(op.arguments) :])
    # The operands are values: what the kernel overwrites is a copy.
    buffers = [
        np.array(arg, order="C") if i in inplace_indices else as_buffer(arg)
        for i, arg in enumerate(arguments)
    ]
    pairs = [*zip(op.results, inplace_indices, strict=True)]
    outputs = [allocate(r, sizes) if index < 0 else buffers[index] for r, index in pairs]
    new = [output for output, index in zip(outputs, inplace_indices) if index < 0]
    interpreter.call_op(op.callee, (*buffers, *new))
    return tuple(outputs)


def allocate(result: SSAValue, sizes: Iterator[int]) -> Array:
    """Return an array for a result of a kernel; the next `sizes` are those of its unknown
    dimensions.

    InterpretationError if its rank is unknown, or a size is negative or too large.
    """
    type = result.type
    if not is_ranked(type):
        raise InterpretationError(f"cannot allocate a result of type {type}: its shape is unknown")
    shape = tuple(next(sizes) if size == DYNAMIC_INDEX else size for size in type.get_shape())
    if min(shape, default=0) < 0:
        raise InterpretationError(f"cannot allocate a result of shape {shape_text(shape)}")
    check_size(shape)
    return np.zeros(shape, dtype_of(element_of(type)))


# Conversion of arrays between layouts.


def relayout(array: Array, src: Layout, dst: Layout) -> Array:
    """Return the array transformed from layout `src` to `dst`; a view unless axes split or join."""
    if src.text == dst.text:
        return array
    extents = src.extents(array.shape)
    # NCHW4c to NHWC8c: transpose to C c H N W, join to C H N W, split to C c H N W, transpose.
    parts = sorted(src.axes, key=_outer_part_first)
    joined = array.transpose([src.axes.index(c) for c in parts])
    joined = joined.reshape([extents[c] for c in src.primal])
    sizes = dict(zip(dst.axes, dst.shape(extents), strict=True))
    parts = sorted(dst.axes, key=_outer_part_first)
    return joined.reshape([sizes[c] for c in parts]).transpose([parts.index(c) for c in dst.axes])


def _outer_part_first(axis: str) -> tuple[str, bool]:
    return axis.upper(), axis.islower()


# Semantics of constants.


@register_impls
class ConstantFunctions(InterpreterFunctions):
    """The functions of constants.

    Constants are views of their bytes, fills are broadcast scalars: neither is copied.
    """

    @impl(ops.ConstantOp)
    def run_constant(self, _: Interpreter, op: ops.ConstantOp, args: PythonValues) -> PythonValues:
        return (array_of(op.value),)

    @impl(ops.FullOp)
    def run_full(self, _: Interpreter, op: ops.FullOp, args: PythonValues) -> PythonValues:
        number = scalar_of(op.value, element_of(op.result.type))
        shape = op.result.type.get_shape()
        try:
            return (np.broadcast_to(number, shape),)
        except ValueError:  # more bytes than an address counts
            check_size(shape)
            raise
