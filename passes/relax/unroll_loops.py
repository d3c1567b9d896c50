"""UnrollLoops: loops on tensors whose number of iterations is known become copies of their body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.dialects.tensor import CastOp, ExtractOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ...compiler.analysis.constant_evaluator import ConstantEvaluator
from ...compiler.interpreters import has_semantics
from ...dialects.relax.interfaces import InfersType
from ...dialects.relax.types import is_tensor, static_shape
from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.errors import NotInstalledError
from ...passmanager.fast.edit import erase, insert_before
from ...passmanager.ir.effects import own_effects
from ...passmanager.ir.per_class import OpClasses
from ...passmanager.ir.walk import walk
from ..evaluation_code import load_semantics
from .infer_type import infer_types

if TYPE_CHECKING:
    from ...compiler.interpreters.arrays import Array


MAX_ELEMENTS = 1 << 10
"""The most elements of a value that is computed to know whether a loop goes on."""


def unroll_loops(func: FuncOp, max_operations: int, actions: Actions = SILENT) -> bool:
    """Replace each `scf.while` in `func` whose number of iterations follows from constants by that
    many copies of its body, inner loops first; return whether there was one.

    A loop whose copies would have more than `max_operations` operations stays, and so does one that
    carries no tensor.
    """
    # Within the copies of a loop, and after it, more may be known.
    changed = False
    while _unroll_known(func, max_operations, actions):
        changed = True
    return changed


def _unroll_known(func: FuncOp, max_operations: int, actions: Actions) -> bool:
    """Unroll each loop once; return whether there was one."""
    changed = False
    loops = [op for op in walk(func) if isinstance(op, scf.WhileOp) and carries_tensors(op)]
    for loop in reversed(loops):
        size = sum(1 for _ in walk(loop)) - 3  # without the loop and its two terminators
        count = iterations_of(loop, max_operations // max(size, 1))
        if count is None:
            actions.missed(loop, "NotUnrolled", "stays a loop", Limit=max_operations)
        elif actions.allowed(loop):
            actions.passed(loop, "Unrolled", "unrolled", Iterations=count)
            actions.count("unrolled")
            expand(loop, count)
            changed = True
    return changed


def carries_tensors(loop: scf.WhileOp) -> bool:
    return any(is_tensor(value.type) for value in loop.arguments)


# The number of iterations


class Unknown(Exception):
    """The error for a value that does not follow from constants."""


def iterations_of(loop: scf.WhileOp, most: int) -> int | None:
    """Return how often the body of a loop runs, or None if that does not follow from constants, or
    is more than `most`. Only what the condition depends on is computed."""
    condition = loop.before_region.block.last_op
    assert isinstance(condition, scf.ConditionOp)
    values = CarriedValues(loop)
    try:
        for count in range(most + 1):
            if not values.at(condition.condition, count):
                return count
    except (Unknown, RecursionError):
        pass
    return None


class CarriedValues:
    """The values in a loop that follow from constants, by iteration."""

    def __init__(self, loop: scf.WhileOp) -> None:
        self.loop = loop
        self.before, self.after = loop.before_region.block, loop.after_region.block
        self.evaluator = ConstantEvaluator(MAX_ELEMENTS)
        self.known: dict[tuple[SSAValue, int], Array] = {}

    def at(self, value: SSAValue, iteration: int) -> Array:
        """Return the elements of `value` in an iteration; Unknown if they are not constant."""
        key = value, iteration
        if key not in self.known:
            self.known[key] = self.compute(value, iteration)
        return self.known[key]

    def compute(self, value: SSAValue, iteration: int) -> Array:
        owner = value.owner
        if isinstance(value, BlockArgument) and owner is self.before:
            if not iteration:
                return self.at(without_cast(self.loop.arguments[value.index]), 0)
            return self.at(yielded(self.after)[value.index], iteration - 1)
        if isinstance(value, BlockArgument) and owner is self.after:
            return self.at(yielded(self.before)[value.index], iteration)
        if isinstance(owner, ExtractOp) and not owner.indices:
            return self.at(owner.tensor, iteration)
        if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
            from numpy import asarray

            return asarray(owner.value.value.data)
        if not isinstance(owner, Operation) or owner.regions or not has_semantics(type(owner)):
            raise Unknown
        if own_effects(owner):
            raise Unknown
        check_size(owner)
        arrays = [self.at(operand, iteration) for operand in owner.operands]
        try:
            return self.evaluator.run(owner, arrays)[owner.results.index(value)]
        except NotInstalledError:
            raise
        except Exception:  # the semantics of another project may raise anything
            raise Unknown from None


def check_size(op: Operation) -> None:
    """Unknown if a result has many elements, or an unknown number of them."""
    for result in op.results:
        if is_tensor(result.type):
            shape = static_shape(result.type)
            if shape is None or prod(shape) > MAX_ELEMENTS:
                raise Unknown


def without_cast(value: SSAValue) -> SSAValue:
    """Return the tensor before a cast that forgets its shape."""
    return value.owner.source if isinstance(value.owner, CastOp) else value


def yielded(block: Block) -> Sequence[SSAValue]:
    """Return what the terminator of a region of a loop passes to the other region."""
    end = block.last_op
    assert isinstance(end, scf.ConditionOp | scf.YieldOp)
    return end.args if isinstance(end, scf.ConditionOp) else end.operands


# The copies


def expand(loop: scf.WhileOp, count: int) -> None:
    """Replace `loop` by `count` copies of its body, with the operations of its condition before and
    after each."""
    carried = loop.arguments
    for number in range(count + 1):
        carried = copy_body(loop, loop.before_region.block, carried)
        if number < count:
            carried = copy_body(loop, loop.after_region.block, carried)
    for result, value in zip(loop.results, carried, strict=True):
        result.replace_all_uses_with(value)
    erase(loop)


def copy_body(loop: scf.WhileOp, block: Block, arguments: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Copy the operations of a block of `loop` before it, for `arguments`; return what they yield.

    Operations that infer their type take a tensor that starts with a known shape as it is, without
    the cast that the loop needs: from there on `infer-type` makes shapes known.
    """
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, arguments, strict=True))
    for op in block.ops:
        if op is block.last_op:
            break
        insert_before(loop, copy := op.clone(values))
        if isinstance(copy, InfersType):
            copy.operands = [without_cast(operand) for operand in copy.operands]
    return [values.get(value, value) for value in yielded(block)]


@dataclass(frozen=True)
class UnrollLoops(ModulePass):
    """Replace loops on tensors whose number of iterations is known by copies of their body.

    A recurrent layer or `Loop` of ONNX is a loop until the length of its input is known; its copies
    have static shapes, and are optimized together. Source: full unrolling, as of
    `affine-loop-unroll` of MLIR.

    Before:

        func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
          %true = relax.constant dense<true> : tensor<i1>
          %false = relax.constant dense<false> : tensor<i1>
          %0:2 = scf.while (%p = %true, %y = %x) : (tensor<i1>, tensor<2xf32>)
              -> (tensor<i1>, tensor<2xf32>) {
            %d = tensor.extract %p[] : tensor<i1>
            scf.condition(%d) %p, %y : tensor<i1>, tensor<2xf32>
          } do {
          ^bb0(%p: tensor<i1>, %y: tensor<2xf32>):
            %z = relax.exp %y : (tensor<2xf32>) -> tensor<2xf32>
            scf.yield %false, %z : tensor<i1>, tensor<2xf32>
          }
          func.return %0#1 : tensor<2xf32>
        }

    After:

        func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
          %true = relax.constant dense<true> : tensor<i1>
          %false = relax.constant dense<false> : tensor<i1>
          %0 = tensor.extract %true[] : tensor<i1>
          %1 = relax.exp %x : (tensor<2xf32>) -> tensor<2xf32>
          %2 = tensor.extract %false[] : tensor<i1>
          func.return %1 : tensor<2xf32>
        }
    """

    name = "unroll-loops"
    opt_level = 2
    required = ("infer-type",)
    acts_on = (scf.WhileOp,)

    max_operations: int = field(default=2048, metadata={"minimum": 0})
    """The maximum number of operations that the copies of a loop may have."""

    def load_code(self, module: ModuleOp, ops: OpClasses) -> None:
        load_semantics(ops)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        functions = [op for op in module.ops if isinstance(op, FuncOp) and op.body.blocks]
        unrolled = [unroll_loops(f, self.max_operations, ctx.actions) for f in functions]
        if any(unrolled):  # the copies have the types of the loop
            infer_types(module, actions=ctx.actions)
