"""The builder of networks: adds operation by operation, and computes all values on the way."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from random import Random

import numpy as np
from support.operations.evaluation import Array
from support.operations.special_values import special_numbers
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    IndexType,
    IntegerType,
    ModuleOp,
    TensorType,
    i1,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.test import TestOp
from xdsl.interpreter import Interpreter
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from passline.compiler.interpreters.arrays import dense_of, dtype_of, element_of, fit, number_of
from passline.compiler.interpreters.relax import RelaxFunctions
from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.constant import ConstantOp, FullOp
from passline.dialects.relax.types import Element, static_shape, tensor_type

from .choices import MAX_ELEMENTS, Choices
from .values import NotApplicable, TracedValue, perturb

__all__ = ["Network", "NetworkBuilder"]


@dataclass(frozen=True)
class Network:
    """A module with a function `@main`, arguments for it, and their results."""

    module: ModuleOp
    arguments: tuple[Array, ...]
    results: tuple[Array, ...]
    tolerances: tuple[float, ...]
    """For each result the absolute difference that rounding errors can explain."""


class NetworkBuilder:
    """A function under construction, and the values that the next operation may use.

    A rule picks operands (`pick_value`, `operand`), which are placeholders, and returns an
    operation on them; `add` computes it and puts a copy on the real values into the function.
    """

    def __init__(
        self, source: Random, *, dynamic: bool = False, max_elements: int = MAX_ELEMENTS
    ) -> None:
        self.random = Choices(source, max_elements)
        self.rng = np.random.default_rng(self.random.getrandbits(32))
        self.dynamic = dynamic
        """Whether types may leave dimensions, or the rank, unknown."""
        self.func = FuncOp("main", ([], []))
        self.functions: list[FuncOp] = []
        """The functions that are called."""
        self.block = self.func.body.block
        """The block that operations are added to."""
        self.in_callee = False
        """Whether that block belongs to a called function."""
        self.arguments: list[Array] = []
        self.values: list[TracedValue] = []
        """The values of the current part."""
        self.all_values: list[TracedValue] = []
        """The values of the finished parts."""
        self.results: list[TracedValue] = []
        self.interpreter = Interpreter(ModuleOp([]))
        self.interpreter.register_implementations(RelaxFunctions())
        self.placeholders: dict[SSAValue, TracedValue] = {}
        self.special = False
        """Whether parameters of the current part contain infinities, NaN and signed zeros."""

    def start_part(self, shape: Sequence[int], element: Element) -> None:
        """Start a part with a parameter, and now and then a value of an earlier part."""
        self.special = self.random.random() < 0.15
        self.values = [self.parameter(shape, element)]
        if self.all_values and self.random.random() < 0.3:
            self.values.append(self.random.choice(self.all_values))

    def finish_part(self) -> None:
        """Make the last value of the part a result, and a few of the others."""
        chosen = [known for known in self.values if self.random.random() < 0.15]
        self.results += [self.values[-1], *chosen]
        self.all_values += self.values

    def network(self) -> Network:
        """Return the function as a network."""
        outputs = [known.value for known in self.results]
        self.func.body.block.add_op(ReturnOp(*outputs))
        types = [v.type for v in self.func.args], [v.type for v in outputs]
        self.func.properties["function_type"] = FunctionType.from_lists(*types)
        arrays = tuple(known.array for known in self.results)
        tolerances = tuple(known.tolerance for known in self.results)
        module = ModuleOp([*self.functions, self.func])
        return Network(module, (*self.arguments,), arrays, tolerances)

    @contextmanager
    def region(
        self, parameters: Sequence[TracedValue] = (), *, callee: bool = False
    ) -> Generator[tuple[Block, list[TracedValue]]]:
        """Build the body of an operation with the values of `parameters` as arguments.

        Yield the block and its arguments. What is computed inside is not visible outside; the body
        of a called function (`callee`) sees its arguments only.
        """
        saved = self.block, self.values, self.all_values, self.in_callee
        block = Block(arg_types=[known.value.type for known in parameters])
        arguments = [
            TracedValue(value, known.array, known.perturbed)
            for value, known in zip(block.args, parameters, strict=True)
        ]
        self.block, self.in_callee = block, callee or self.in_callee
        self.values = arguments if callee else [*self.values, *arguments]
        self.all_values = [] if callee else [*self.all_values]
        yield block, arguments
        self.block, self.values, self.all_values, self.in_callee = saved

    # Operands

    def numbers(self, shape: Sequence[int], element: Element) -> Array:
        """Draw the elements of a parameter or constant."""
        if element == i1:
            return self.rng.integers(0, 2, shape).astype(bool)
        if self.special:
            return special_numbers(element, shape, self.rng)
        integers = isinstance(element, IntegerType) or self.random.random() < 0.4
        numbers = self.rng.integers(-3, 4, shape) if integers else self.rng.uniform(-2, 2, shape)
        return fit(np.asarray(numbers).astype(dtype_of(element)), element)

    def parameter(self, shape: Sequence[int], element: Element) -> TracedValue:
        """Add a parameter to `@main`; a constant where its parameters are not visible."""
        if self.in_callee:
            return self.constant(shape, element)
        array = self.numbers(shape, element)
        return TracedValue(self.argument(self.type_of(shape, element), array), array, array)

    def argument(self, type: Attribute, array: Array) -> SSAValue:
        """Add a parameter to `@main`, with the argument for it."""
        block = self.func.body.block
        self.arguments.append(array)
        return block.insert_arg(type, len(block.args))

    def type_of(self, shape: Sequence[int], element: Element) -> TensorType[Attribute]:
        """Return the type of a parameter; in a dynamic network dimensions may be unknown."""
        if self.dynamic:
            shape = [DYNAMIC_INDEX if self.random.random() < 0.3 else n for n in shape]
        return TensorType(element, shape)

    def condition(self) -> tuple[SSAValue, bool]:
        """Return an i1 and its value: a parameter, or a constant."""
        truth = self.random.coin()
        if self.in_callee or self.random.random() < 0.3:
            self.block.add_op(op := arith.ConstantOp.from_int_and_width(truth, i1))
            return op.result, truth
        return self.argument(i1, np.array(truth)), truth

    def index(self, number: int) -> SSAValue:
        """Return an index: a constant, or a parameter."""
        if self.in_callee or self.random.random() < 0.7:
            self.block.add_op(op := arith.ConstantOp.from_int_and_width(number, IndexType()))
            return op.result
        return self.argument(IndexType(), np.array(number))

    def constant(self, shape: Sequence[int], element: Element) -> TracedValue:
        """Add a constant to the function: a fill, or any numbers."""
        if self.random.random() < 0.3:
            (number,) = self.numbers((1,), element)
            op = FullOp(number_of(number, element), TensorType(element, shape))
            array = np.full(shape, number)
        else:
            array = self.numbers(shape, element)
            op = ConstantOp(dense_of(array, TensorType(element, shape)))
        self.block.add_op(op)
        return TracedValue(op.results[0], array, array)

    def placeholder(self, known: TracedValue) -> SSAValue:
        """Return a value of the same type for an operation that may be rejected.

        The real value then has no use that would have to be removed again.
        """
        (result,) = TestOp(result_types=[known.value.type]).results
        self.placeholders[result] = known
        return result

    def pick_value(
        self,
        fits: Callable[[TracedValue], bool] = lambda _: True,
        elements: Sequence[Element] | None = None,
        exact: bool = False,
    ) -> tuple[SSAValue, TracedValue]:
        """Pick one of the last values of the part that satisfy all conditions."""
        found = [
            known
            for known in self.values
            if (elements is None or known.element in elements)
            and (known.exact or not exact)
            and fits(known)
        ]
        if not found:
            raise NotApplicable
        known = self.random.choice(found[-4:])
        return self.placeholder(known), known

    def operand(self, shape: Sequence[int], element: Element) -> SSAValue:
        """Pick a value of the type, or add a parameter or constant."""
        shape = tuple(shape)
        if found := self.values_of(self.values, shape, element):
            if self.random.random() < 0.6:
                return self.placeholder(self.random.choice(found))
        if self.all_values and self.random.random() < 0.1:
            if found := self.values_of(self.all_values, shape, element):
                return self.placeholder(self.random.choice(found))
        known = self.random.choice([self.parameter, self.constant])(shape, element)
        if self.random.random() < 0.2:
            self.values.append(known)
        return self.placeholder(known)

    @staticmethod
    def values_of(
        values: Sequence[TracedValue], shape: tuple[int, ...], element: Element
    ) -> list[TracedValue]:
        return [known for known in values if known.shape == shape and known.element == element]

    def axis(self, known: TracedValue) -> int:
        """Draw an axis of the value."""
        if not known.shape:
            raise NotApplicable
        return self.random.randrange(len(known.shape))

    def axes(self, known: TracedValue) -> list[int]:
        """Draw at least one axis of the value."""
        rank = len(known.shape)
        if not rank:
            raise NotApplicable
        return sorted(self.random.sample(range(rank), self.random.randint(1, rank)))

    # Operations

    def add(self, made: TensorOp, *, rounds: bool) -> None:
        """Add an operation on placeholders to the function; NotApplicable if it is not comparable.

        `rounds` says that it may round even where its operands are integers.
        """
        made.verify_()
        if any(prod(static_shape(v.type) or ()) > self.random.max_elements for v in made.results):
            raise NotApplicable
        operands = [self.placeholders[operand] for operand in made.operands]
        arrays = self.compute(made, [known.array for known in operands])
        if any(array.size > self.random.max_elements for array in arrays):
            raise NotApplicable
        others = self.compute(made, [known.perturbed for known in operands])
        exact = all(known.exact for known in operands) and not rounds
        perturbed = [
            perturb(
                element_of(tensor_type(result)),
                array,
                other,
                exact=exact,
                allow_special=self.special,
                rng=self.rng,
            )
            for result, array, other in zip(made.results, arrays, others, strict=True)
        ]
        op = made.clone({value: known.value for value, known in self.placeholders.items()})
        self.block.add_op(op)
        self.values += map(TracedValue, op.results, arrays, perturbed)

    def compute(self, op: Operation, arrays: Sequence[Array]) -> tuple[Array, ...]:
        """Compute the operation by the numpy semantics, without warnings.

        NotApplicable if they refuse sizes that the types leave unknown.
        """
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                return tuple(map(np.asarray, self.interpreter.run_op(op, tuple(arrays))))
            except (InterpretationError, ValueError):
                if not self.dynamic:
                    raise
                raise NotApplicable from None
