"""Evaluation of calls on constant arguments, with the interpreter, within a budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region

from ....dialects.relax.kernels import CallTIROp
from ....dialects.relax.types import is_ranked
from ....passes.generic.analysis.call_graph import References
from ....passes.generic.analysis.purity import Purity
from ....passmanager.fast.clone import clone
from .constant_evaluator import NotEvaluated, Values

if TYPE_CHECKING:
    from ...interpreters.arrays import Array
    from ...interpreters.signature import Value

__all__ = ["CallEvaluator"]

_ELSEWHERE = ("relax.composite", "relax.codegen")
"""The marks of functions that another compiler computes, with its own rounding."""


class CallEvaluator:
    """Evaluates `func.call` of pure functions, and `relax.call_tir`, in at most `max_steps` steps.

    A function is run in a module of its own, with copies of the functions that it reaches: its cost
    does not depend on the size of the module.
    """

    def __init__(self, purity: Purity, max_steps: int) -> None:
        self.purity = purity
        self.max_steps = max_steps
        self._references = References()

    def can_evaluate(self, call: Operation) -> bool:
        """Return whether the callee has a body, no effects, and no other compiler."""
        callee = self.purity.callee(call)
        return (
            callee is not None
            and any(region.blocks for region in callee.regions)
            and not any(name in callee.attributes for name in _ELSEWHERE)
            and (isinstance(call, CallTIROp) or self.purity.is_pure(call))
        )

    def values_of(self, call: Operation, arguments: Sequence[Array]) -> Values:
        """Run `call` on `arguments`; only scalars and tensors of known shape become constants."""
        from ...interpreters.equivalence.evaluation import Evaluated, TooLarge, evaluate

        module, entry = self._module_of(call)
        # A step is an operation, or more for large operands; endless loops need a budget.
        outcome = evaluate(module, entry, arguments, Context(), self.max_steps)
        match outcome:
            case Evaluated(results=results):
                # All results or none: a call is replaced as a whole.
                values: list[Attribute] = []
                for type, result in zip(call.result_types, results, strict=True):
                    if (value := _attribute_of(type, result)) is None:
                        return NotEvaluated("NoConstant", f"no constant has type {type}")
                    values.append(value)
                return values
            case TooLarge(reason=reason):
                arguments_: dict[str, str | int] = {"Limit": self.max_steps}
                return NotEvaluated("TooManySteps", f"takes {reason}", arguments=arguments_)
            case _:
                return NotEvaluated(
                    "EvaluationFailed",
                    "failed to evaluate",
                    True,
                    {"Error": outcome.reason.partition("\n")[0]},
                )

    def _module_of(self, call: Operation) -> tuple[ModuleOp, FuncOp]:
        """Return a module with a function that returns the results of `call` for its operands."""
        symbols = self.purity.symbols
        assert isinstance(call, CallOp | CallTIROp)
        names = dict.fromkeys([call.callee.string_value()])
        pending = [*names]
        # The callees of callees, too; the evaluation fails where it needs nested symbols.
        while pending:
            new = self._references.below(symbols[pending.pop()])
            found = [name for name in new if name in symbols and name not in names]
            names |= dict.fromkeys(found)
            pending += found
        # One of n + 1 names is free.
        entry = next(name for i in range(len(names) + 1) if (name := f"call{i}") not in names)
        block = Block(arg_types=call.operand_types)
        copy = type(call).create(
            operands=block.args,
            result_types=call.result_types,
            properties=call.properties,
            attributes=call.attributes,
        )
        block.add_ops([copy, ReturnOp(*copy.results)])
        func = FuncOp(entry, (call.operand_types, call.result_types), Region(block))
        return ModuleOp([func, *(clone(symbols[name]) for name in names)]), func


def _attribute_of(type: Attribute, result: Value) -> Attribute | None:
    """Return the value of a constant of `type`; None if there is none."""
    import numpy as np

    from ...interpreters.arrays import dense_of

    if isinstance(result, tuple) or callable(result):
        return None
    if is_ranked(type):
        # A program may compute another shape than its types say; no constant has that type then.
        return dense_of(result, type) if result.shape == type.get_shape() else None
    number = np.asarray(result).item()
    if isinstance(type, IntegerType):
        return (
            IntegerAttr(int(number), type.bitwidth) if type == IntegerType(type.bitwidth) else None
        )
    if isinstance(type, IndexType):
        return IntegerAttr.from_index_int_value(int(number))
    return FloatAttr(float(number), type) if isinstance(type, AnyFloat) else None
