"""The semantics of func, cf and scf; parallel loops run sequentially."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from xdsl.dialects import cf, func, scf
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    Successor,
    TerminatorValue,
    impl,
    impl_terminator,
    register_impls,
)
from xdsl.utils.exceptions import InterpretationError

from ..tir.table import converter
from ..xdsl_interpreter import AssertionFailed


def steps(lower: int, upper: int, step: int) -> range:
    """Return the values of an induction variable; InterpretationError if `step` is not positive."""
    if step <= 0:
        raise InterpretationError(f"the step of a loop is positive, not {step}")
    return range(lower, upper, step)


@register_impls
class ControlFlowFunctions(InterpreterFunctions):
    """The functions of func, cf and scf."""

    @impl(func.CallOp)
    def run_func_call(
        self, interpreter: Interpreter, op: func.CallOp, args: PythonValues
    ) -> PythonValues:
        return interpreter.call_op(op.callee, args)

    @impl_terminator(cf.BranchOp)
    def run_branch(
        self, _: Interpreter, op: cf.BranchOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        return Successor(op.successor, args), ()

    @impl_terminator(cf.ConditionalBranchOp)
    def run_conditional_branch(
        self, _: Interpreter, op: cf.ConditionalBranchOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        middle = 1 + len(op.then_arguments)
        if args[0]:
            return Successor(op.then_block, args[1:middle]), ()
        return Successor(op.else_block, args[middle:]), ()

    @impl_terminator(cf.SwitchOp)
    def run_switch(
        self, _: Interpreter, op: cf.SwitchOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        start = 1 + len(op.default_operands)
        convert = converter(op.flag.type)
        values = () if op.case_values is None else op.case_values.get_values()
        sizes = op.case_operand_segments.get_values()
        for value, block, size in zip(values, op.case_blocks, sizes, strict=True):
            if convert(value) == args[0]:
                return Successor(block, args[start : start + size]), ()
            start += size
        return Successor(op.default_block, args[1 : 1 + len(op.default_operands)]), ()

    @impl(cf.AssertOp)
    def run_assert(self, _: Interpreter, op: cf.AssertOp, args: PythonValues) -> PythonValues:
        if not args[0]:
            raise AssertionFailed(op.msg.data)
        return ()

    @impl(scf.IfOp)
    def run_if(self, interpreter: Interpreter, op: scf.IfOp, args: PythonValues) -> PythonValues:
        region = op.true_region if args[0] else op.false_region
        return interpreter.run_ssacfg_region(region, (), "if")

    @impl(scf.ExecuteRegionOp)
    def run_execute_region(
        self, interpreter: Interpreter, op: scf.ExecuteRegionOp, args: PythonValues
    ) -> PythonValues:
        return interpreter.run_ssacfg_region(op.region, (), "execute_region")

    @impl(scf.IndexSwitchOp)
    def run_index_switch(
        self, interpreter: Interpreter, op: scf.IndexSwitchOp, args: PythonValues
    ) -> PythonValues:
        regions = dict(zip(op.cases.get_values(), op.case_regions, strict=True))
        return interpreter.run_ssacfg_region(regions.get(args[0], op.default_region), (), "switch")

    @impl(scf.ForOp)
    def run_scf_for(
        self, interpreter: Interpreter, op: scf.ForOp, args: PythonValues
    ) -> PythonValues:
        lower, upper, step, *carried = args
        body, convert = op.body, converter(op.lb.type)
        values = tuple(carried)
        for i in steps(lower, upper, step):
            values = interpreter.run_ssacfg_region(body, (convert(i), *values), "for")
        return values

    @impl(scf.WhileOp)
    def run_while(
        self, interpreter: Interpreter, op: scf.WhileOp, args: PythonValues
    ) -> PythonValues:
        while True:
            condition, *forwarded = interpreter.run_ssacfg_region(op.before_region, args, "before")
            if not condition:
                return tuple(forwarded)
            args = interpreter.run_ssacfg_region(op.after_region, tuple(forwarded), "after")

    @impl(scf.ParallelOp)
    def run_parallel(
        self, interpreter: Interpreter, op: scf.ParallelOp, args: PythonValues
    ) -> PythonValues:
        reduce = op.body.block.last_op
        regions = reduce.reductions if isinstance(reduce, scf.ReduceOp) else ()
        results = args[3 * len(op.lowerBound) :]
        for indices in _indices(args, len(op.lowerBound)):
            values = interpreter.run_ssacfg_region(op.body, indices, "parallel")
            results = tuple(
                interpreter.run_ssacfg_region(region, pair, "reduce")[0]
                for region, pair in zip(regions, zip(results, values), strict=True)
            )
        return results


def _indices(args: PythonValues, rank: int) -> Iterator[tuple[int, ...]]:
    """Yield the indices of a parallel loop whose bounds and steps are the first operands."""
    bounds = zip(args[:rank], args[rank : 2 * rank], args[2 * rank : 3 * rank], strict=True)
    return product(*(steps(*bound) for bound in bounds))
