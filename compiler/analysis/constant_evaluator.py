"""Evaluation of operations and calls on constants, with the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IndexType, IntegerAttr, IntegerType, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.interpreter import Interpreter, InterpreterFunctions
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import ConstantLike
from xdsl.utils.exceptions import InterpretationError

from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.interfaces import Elementwise, View
from ...dialects.relax.kernels import CallTIROp
from ...dialects.relax.types import is_ranked, is_tensor, static_shape
from ...dialects.tir.ops import ForOp
from ...passes.generic.purity import Purity
from ...passmanager.errors import NotInstalledError
from ...passmanager.fast.clone import clone
from ...passmanager.ir.symbols import References
from ..interpreters import semantics_of

if TYPE_CHECKING:
    from ..interpreters.arrays import Array
    from ..interpreters.signature import Value


# Evaluation of operations on constant operands, with xDSL's interpreter.


class NotEvaluated(NamedTuple):
    """The reason why an operation was not evaluated, as a remark; no remark if `name` is empty."""

    name: str = ""
    reason: str = ""
    failed: bool = False
    """True if the evaluation was tried, and failed."""
    arguments: dict[str, str | int] = {}  # noqa: RUF012  a NamedTuple, whose default is not changed


Values: TypeAlias = "Sequence[Attribute] | NotEvaluated"
"""The values of the results of an operation, as attributes of constants."""


class ConstantEvaluator:
    """Evaluates operations on constants; equal operations on the same constants only once.

    Fills are not expanded: an element-wise operation on fills is computed for one element, and a
    view of a fill is a fill; any other operation on fills alone is not evaluated. An operation with
    an operand or result of more than `max_elements`, or of unknown shape, is not evaluated either.
    """

    def __init__(self, max_elements: int) -> None:
        self.max_elements = max_elements
        self._values: dict[tuple[object, ...], tuple[object, Values]] = {}
        """The results, by the class of the operation and the identity of the attributes of its
        operands. The inputs are stored with them: they are compared, and as long as they are kept,
        no other object has their identity."""
        self._arrays: dict[Operation, Sequence[Array]] = {}
        self._interpreter = Interpreter(ModuleOp([]))
        self._registered: set[type[InterpreterFunctions]] = set()

    def values_of(self, op: Operation, constants: Sequence[SSAValue]) -> Values:
        """Evaluate `op`, whose operands have the values of `constants`."""
        known = [_value_of(constant) for constant in constants]
        if None in known:
            return NotEvaluated()
        if isinstance(op, View) and all(isinstance(c.owner, FullOp) for c in constants):
            if static_shape(op.results[0].type) is not None:
                return cast("list[Attribute]", known[:1])
        return self._once(op, known, lambda: self._evaluate(op, constants))

    def values_of_call(
        self,
        run: Callable[[Operation, Sequence[Array]], Values],
        call: Operation,
        constants: Sequence[SSAValue],
    ) -> Values:
        """Evaluate a call, whose operands have the values of `constants`, with `run`."""

        def evaluate() -> Values:
            if (refused := self._refused(call, constants)) is not None:
                return refused
            try:
                return run(call, [self._argument(c) for c in constants])
            except Exception as error:  # the semantics of another project may raise anything
                return _failed(error)

        return self._once(call, [_value_of(constant) for constant in constants], evaluate)

    def _once(
        self, op: Operation, known: Sequence[Attribute | None], evaluate: Callable[[], Values]
    ) -> Values:
        """Return the values of `op` on these constants, which equal operations share."""
        # By identity, as hashing a constant reads all of its bytes: megabytes for a weight.
        key = (type(op), *map(id, known))
        inputs = (known, op.operand_types, op.result_types, op.properties, op.attributes)
        if key not in self._values or self._values[key][0] != inputs:
            self._values[key] = inputs, evaluate()
        return self._values[key][1]

    def _refused(self, call: Operation, constants: Sequence[SSAValue]) -> NotEvaluated | None:
        """Return why a call is not evaluated: too many elements, or only fills."""
        tensors = [constant for constant in constants if is_tensor(constant.type)]
        sizes = [_size(v.type) for v in (*tensors, *call.results) if is_tensor(v.type)]
        if None in sizes:
            return NotEvaluated("UnknownShape", "of unknown shape")
        if (elements := max(filter(None, sizes), default=0)) > self.max_elements:
            return self._too_many(elements)
        if tensors and all(isinstance(tensor.owner, FullOp) for tensor in tensors):
            return NotEvaluated("OnlyFills", "not element-wise, and fills are not expanded")
        return None

    def _too_many(self, elements: int) -> NotEvaluated:
        arguments: dict[str, str | int] = {"Elements": elements, "Limit": self.max_elements}
        return NotEvaluated("TooManyElements", "too large to evaluate", arguments=arguments)

    def _argument(self, constant: SSAValue) -> Array:
        """Return the value of a constant, also of a scalar."""
        if is_tensor(constant.type):
            return self.array_of(constant)
        import numpy as np

        value = _value_of(constant)
        assert isinstance(value, IntegerAttr | FloatAttr)
        return np.asarray(value.value.data)

    def _evaluate(self, op: Operation, constants: Sequence[SSAValue]) -> Values:
        # `add(full 1, full 2)` of a million elements is `full 3`, without a million additions.
        fills = [owner for c in constants if isinstance(owner := c.owner, FullOp)]
        only_fills = len(fills) == len(constants)
        sizes = [] if only_fills else [_size(v.type) for v in (*op.operands, *op.results)]
        if None in sizes:
            return NotEvaluated("UnknownShape", "of unknown shape")
        if (elements := max(filter(None, sizes), default=0)) > self.max_elements:
            return self._too_many(elements)
        if only_fills and not isinstance(op, Elementwise):
            return NotEvaluated("OnlyFills", "not element-wise, and fills are not expanded")
        try:
            if only_fills:
                return self._evaluate_on_fills(op, fills)
            return self._evaluate_on_arrays(op, constants)
        except Exception as error:  # the semantics of another project may raise anything
            return _failed(error)

    def _evaluate_on_fills(self, op: Operation, fills: Sequence[FullOp]) -> Values:
        """Evaluate an element-wise operation on one element; return the fill of each result."""
        from ..interpreters.arrays import element_of, number_of, scalar_of

        types = [result.type for result in op.results]
        ranked = [type for type in types if is_ranked(type) and static_shape(type) is not None]
        if len(ranked) < len(types):
            return NotEvaluated("UnknownShape", "of unknown shape")
        scalars = [scalar_of(fill.value, element_of(fill.result.type)) for fill in fills]
        arrays = self.run(op, scalars)
        return [
            number_of(array, element_of(type)) for array, type in zip(arrays, ranked, strict=True)
        ]

    def _evaluate_on_arrays(
        self, op: Operation, constants: Sequence[SSAValue]
    ) -> Sequence[Attribute]:
        from ..interpreters.arrays import dense_of

        arrays = self.run(op, [self.array_of(constant) for constant in constants])
        return [
            dense_of(array, result.type)
            for array, result in zip(arrays, op.results, strict=True)
            if is_ranked(result.type)
        ]

    def array_of(self, constant: SSAValue) -> Array:
        """Return the elements of `constant`, whose operation is evaluated once."""
        owner = constant.owner
        assert isinstance(owner, Operation)
        # Many operations read one constant; its bytes become an array once.
        if owner not in self._arrays:
            self._arrays[owner] = self.run(owner)
        return self._arrays[owner][owner.results.index(constant)]

    def run(self, op: Operation, arguments: Sequence[Array] = ()) -> Sequence[Array]:
        """Run the semantics of `op` on `arguments`."""
        functions = semantics_of(type(op))
        if functions is None:
            raise InterpretationError(f"{op.name} has no semantics")
        if functions not in self._registered:
            self._registered.add(functions)
            self._interpreter.register_implementations(functions())
        # A detached copy: on failure xDSL prints the whole module around the op into the error.
        copy = op.create(
            operands=tuple(op.operands),
            result_types=op.result_types,
            properties=op.properties,
            attributes=op.attributes,
        )
        try:
            return self._interpreter.run_op(copy, tuple(arguments))
        finally:
            copy.drop_all_references()


def _failed(error: Exception) -> NotEvaluated:
    if isinstance(error, NotInstalledError):
        raise error
    first, _, _ = f"{type(error).__name__}: {error}".partition("\n")
    return NotEvaluated("EvaluationFailed", "failed to evaluate", True, {"Error": first})


def _value_of(constant: SSAValue) -> Attribute | None:
    """Return the value of a constant, or None if it has none."""
    owner = constant.owner
    if isinstance(
        owner, FullOp | ConstantOp
    ):  # the look-up of the trait takes several times as long
        return owner.value
    return ConstantLike.get_constant_value(constant)


def _size(type: Attribute) -> int | None:
    """Return the number of elements of a tensor of `type`, or None if it is unknown."""
    shape = static_shape(type)
    return None if shape is None else prod(shape)


# Evaluation of calls on constant arguments, with the interpreter, within a budget.


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
        from ..interpreters.equivalence.evaluation import Evaluated, TooLarge, evaluate

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

    from ..interpreters.arrays import dense_of

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


# Integer constants among SSA values, and loop extents.


def integer_constant(value: SSAValue) -> int | None:
    """Return the integer that `value` is, or None if it is not a constant."""
    attribute = integer_attribute(value)
    return None if attribute is None else attribute.value.data


def integer_attribute(value: SSAValue) -> IntegerAttr | None:
    """Return the attribute of the integer constant that `value` is, or None."""
    # `Analyzer.constant_of` also finds values that fold to a constant, but costs more.
    op = value.owner
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
        return op.value
    return None


def constant_extent(loop: ForOp) -> int | None:
    """Return the number of iterations of `loop` if it is a constant below 2^31, else None."""
    extent = integer_constant(loop.extent)
    return None if extent is None or extent >= 1 << 31 else max(extent, 0)
