"""FoldConstant: replace operations on constants by their value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.dialects.scf import IfOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import ConstantLike, HasFolder, IsTerminator, MemoryEffect, NoMemoryEffect

from ...compiler.analysis.constant_evaluator import CallEvaluator, ConstantEvaluator, NotEvaluated
from ...compiler.interpreters import has_semantics
from ...dialects.relax.constant import ConstantOp, FullOp, is_dense, is_number
from ...dialects.relax.device import OnDeviceOp
from ...dialects.relax.graph import TupleGetItemOp, TupleOp
from ...dialects.relax.interfaces import NonComputational
from ...dialects.relax.kernels import CallTIROp
from ...dialects.relax.types import is_ranked, is_tensor, static_shape
from ...passmanager.actions import SILENT, Actions, RemarkKind
from ...passmanager.base import FunctionPass
from ...passmanager.context import PassContext
from ...passmanager.fast.creation import make_op
from ...passmanager.fast.edit import erase, insert_before, read_step
from ...passmanager.ir.effects import would_be_dead
from ...passmanager.ir.ordering import in_order
from ...passmanager.ir.per_class import OpClasses, PerClass
from ...passmanager.ir.walk import walk
from ...passmanager.releases.floats import key_of
from ..evaluation_code import load_evaluation
from ..generic.canonicalize.constants import scalar_constant
from ..generic.canonicalize.scalar_folds import fold_scalar, is_foldable_scalar
from ..generic.purity import Purity

MAX_STEPS = 1 << 16
"""The default budget of a call: a kernel of some thousand elements, in about 0.2 s."""


def fold_constants(
    func: Operation,
    max_elements: int = 1 << 24,
    actions: Actions = SILENT,
    calls: CallEvaluator | None = None,
) -> None:
    """Replace each operation in `func` whose operands are constants by its value.

    These operations are folded: pure operations with operands and semantics; operations of `arith`
    on scalars, also those like `x - x` that need no constant operand; operations whose
    folder gives their value (it may need no constant operand: `relax.shape_of` needs a static
    shape); an element taken from a tuple that is made in the IR; `scf.if` on a constant, which is
    replaced by the branch that is taken; results of `scf.if` that are the same scalar constant
    in both branches; and, with `calls`, calls of pure functions and kernels.

    An operation stays if it has an operand or result of more than `max_elements`, if it fails to
    evaluate, if it is an annotation (`NonComputational`), or if all its operands are fills and it
    is neither element-wise nor a view: fills are not expanded. A constant placed on a device
    (`relax.on_device`) is a constant. Operations are not reassociated. Constants and tuples whose
    last use is folded are erased. Primitive functions and their bodies are left as they are.
    """
    ConstantFolder(max_elements, actions, calls).run(func)


class ConstantFolder:
    """Folds operations in order, so that the users of a folded value see a constant."""

    def __init__(self, max_elements: int, actions: Actions, calls: CallEvaluator | None) -> None:
        self.actions = actions
        self.calls = calls
        self.evaluator = ConstantEvaluator(max_elements)
        self.foldable = PerClass(_is_foldable)
        self.folder = PerClass(_folder_of)
        self.is_constant = PerClass(_is_constant)
        self.is_evaluable = PerClass(_is_evaluable_constant)
        self.touched: dict[Operation, None] = {}
        """Constants, tuples and annotations of constants that lost a use."""

    def run(self, root: Operation) -> None:
        """Visit the operations nested in `root` in order, an operation before those in its
        regions; nothing recurses."""
        pending: list[Iterator[Operation] | IfOp] = [*_bodies(root)]
        while pending:
            ops = pending.pop()
            if isinstance(ops, IfOp):
                self.fold_results(ops)
                continue
            for op in ops:
                operands, _, regions, _ = read_step(op)
                if regions:
                    pending.append(ops)
                    # Before its regions are visited, so that operations in the branch that is not
                    # taken are never evaluated.
                    taken = _taken_branch(op) if isinstance(op, IfOp) else None
                    if isinstance(op, IfOp) and taken is not None and self.actions.allowed(op):
                        pending.append(iter(self.fold_if(op, taken)))
                    else:
                        if isinstance(op, IfOp):
                            # Below its bodies on the stack: its results are compared when these are
                            # folded.
                            pending.append(op)
                        pending += _bodies(op)
                    break
                if isinstance(op, TupleGetItemOp):
                    self.fold_tuple_get_item(op)
                elif is_foldable_scalar(type(op)):
                    self.fold_scalar(op)
                elif operands and self.foldable[type(op)]:
                    # The folder first: it may know the value from the types alone, as that of
                    # `relax.shape_of`.
                    folder = self.folder[type(op)]
                    if folder is None or not self.fold_by(folder, op, operands):
                        self.fold(op, operands)
                elif operands and isinstance(op, CallOp | CallTIROp):
                    self.fold_call(op, operands)
        self.erase_unused()

    # Operations

    def fold_scalar(self, op: Operation) -> None:
        """Replace an operation of `arith` on scalars by its value if that is known."""
        value = fold_scalar(op)
        if isinstance(value, SSAValue):
            value = scalar_constant(value)
        if value is None or not self.actions.allowed(op):
            return
        self.replace(op, tuple(op.operands), [value])

    def fold_by(self, folder: HasFolder, op: Operation, operands: Sequence[SSAValue]) -> bool:
        """Replace `op` by the constants that its folder returns; return False if there are none."""
        values = [value for value in folder.fold(op) or () if isinstance(value, Attribute)]
        types = [result.type for result in op.results]
        # A folder may return a value of the IR as well, which is for `canonicalize`.
        if len(values) < len(types) or not all(map(_fits, values, types)):
            return False
        if self.actions.allowed(op):
            self.replace(op, operands, values)
        return True

    def fold(self, op: Operation, operands: Sequence[SSAValue]) -> None:
        """Replace `op` by its value if its operands are constants."""
        if (constants := self.constants(operands)) is not None:
            self.replace_if_known(op, operands, self.evaluator.values_of(op, constants))

    def constants(
        self, operands: Sequence[SSAValue], *, scalars: bool = False
    ) -> list[SSAValue] | None:
        """Return operands without the annotations of constants; None unless all are constants, on
        tensors or, if `scalars`, of any type."""
        constants: list[SSAValue] = []
        for value in operands:
            # The usual case is one look-up; annotations are looked through only where it fails.
            if not self.is_evaluable[type(value.owner)]:
                while isinstance(owner := value.owner, OnDeviceOp):
                    value = owner.input
                if not self.is_evaluable[type(owner)]:
                    if not scalars or scalar_constant(value) is None:
                        return None
            constants.append(value)
        return constants

    def fold_call(self, op: CallOp | CallTIROp, operands: Sequence[SSAValue]) -> None:
        """Replace a call by its value if its operands are constants."""
        if self.calls is None or not op.results or not self.calls.can_evaluate(op):
            return
        if (constants := self.constants(operands, scalars=True)) is not None:
            values = self.evaluator.values_of_call(self.calls.values_of, op, constants)
            self.replace_if_known(op, operands, values)

    def replace_if_known(
        self, op: Operation, lost: Sequence[SSAValue], values: Sequence[Attribute] | NotEvaluated
    ) -> None:
        """Replace `op` by the values that it was evaluated to, or report why it was not."""
        if not isinstance(values, NotEvaluated):
            if self.actions.allowed(op):
                self.replace(op, lost, values)
        elif values.name:
            kind = RemarkKind.FAILED if values.failed else RemarkKind.MISSED
            self.actions.remark(kind, op, values.name, values.reason, values.arguments)

    def replace(self, op: Operation, lost: Sequence[SSAValue], values: Sequence[Attribute]) -> None:
        """Replace `op` by constants with its location and the names of its results; the operands
        `lost` lose a use."""
        self.actions.passed(op, "Folded", "replaced by its value")
        self.actions.count("folded")
        for result, value in zip(op.results, values, strict=True):
            on_tensors = FullOp if is_number(value) else ConstantOp
            constant = make_op(
                on_tensors if is_tensor(result.type) else arith.ConstantOp,
                (),
                (result.type,),
                {"value": value},
                op.location,
            )
            insert_before(op, constant)
            result.replace_all_uses_with(constant.results[0])
        erase(op)
        self.touch(lost)

    def fold_tuple_get_item(self, op: TupleGetItemOp) -> None:
        """Replace an element of a tuple by the operand of the `relax.tuple` that made it."""
        if (value := op.element()) is not None and self.actions.allowed(op):
            self.actions.count("folded")
            op.result.replace_all_uses_with(value)
            operands = tuple(op.operands)
            erase(op)
            self.touch(operands)

    # Control flow

    def fold_if(self, op: IfOp, taken: Region) -> Sequence[Operation]:
        """Replace `op` by the operations of the branch `taken`, and return them."""
        self.actions.passed(op, "BranchChosen", "replaced by the branch that is taken")
        self.actions.count("folded")
        inlined: list[Operation] = []
        if taken.blocks:
            *inlined, end = taken.block.ops
            values = tuple(end.operands)
            for inner in inlined:
                inner.detach()
            insert_before(op, *inlined)
            for result, value in zip(op.results, values, strict=True):
                result.replace_all_uses_with(value)
        operands = [operand for inner in walk(op) for operand in inner.operands]
        erase(op)
        self.touch(operands)
        return inlined

    def fold_results(self, op: IfOp) -> None:
        """Replace each result for which both branches yield the same scalar constant; erase `op`
        if nothing is left of it."""
        ends = [region.block.last_op for region in op.regions if region.blocks]
        if not op.results or len(ends) < 2:
            return
        folded = False
        for result, *values in zip(op.results, *(end.operands for end in ends if end), strict=True):
            # Scalars only: two equal tensors would have to be compared element by element.
            taken, other = map(scalar_constant, values)
            if result.first_use is None or taken is None or other is None:
                continue
            if key_of(taken) == key_of(other):
                if not self.actions.allowed(op):
                    return
                constant = arith.ConstantOp(taken)
                constant.location = op.location
                insert_before(op, constant)
                result.replace_all_uses_with(constant.result)
                folded = True
        if folded:
            self.actions.count("folded")
            if all(result.first_use is None for result in op.results) and would_be_dead(op):
                operands = [operand for inner in walk(op) for operand in inner.operands]
                erase(op)
                self.touch(operands)

    # Constants that are left

    def touch(self, lost: Iterable[SSAValue]) -> None:
        """Record that the values `lost` lost a use."""
        for value in lost:
            owner = value.owner
            if self.is_constant[type(owner)] or isinstance(owner, TupleOp | OnDeviceOp):
                assert isinstance(owner, Operation)
                # Erased in the end, not at once: the next operation may use the constant again.
                self.touched[owner] = None

    def erase_unused(self) -> None:
        """Erase the recorded operations without uses, and then the operations only they used."""
        while self.touched:
            op, _ = self.touched.popitem()
            if op.parent is not None and all(result.first_use is None for result in op.results):
                operands = tuple(op.operands)
                erase(op)
                self.touch(operands)


def _is_foldable(cls: type[Operation]) -> bool:
    """Return whether operations of class `cls` are replaced by their value if it is known."""
    effects = cls.get_traits_of_type(MemoryEffect)
    return (
        has_semantics(cls)
        and cls is not CallTIROp  # which needs the module
        and cls.get_trait(IsTerminator) is None
        and not issubclass(cls, NonComputational)
        and bool(effects)
        and all(isinstance(effect, NoMemoryEffect) for effect in effects)
    )


def _folder_of(cls: type[Operation]) -> HasFolder | None:
    return cls.get_trait(HasFolder)


def _is_constant(cls: type[Operation | Block]) -> bool:
    return issubclass(cls, Operation) and cls.get_trait(ConstantLike) is not None


def _is_evaluable_constant(cls: type[Operation | Block]) -> bool:
    return issubclass(cls, Operation) and _is_constant(cls) and has_semantics(cls)


def _taken_branch(op: IfOp) -> Region | None:
    """Return the branch that `op` takes, or None if that is unknown or has several blocks."""
    condition = ConstantLike.get_constant_value(op.cond)
    if not isinstance(condition, IntegerAttr):
        return None
    taken = op.true_region if condition.value.data else op.false_region
    return taken if len(taken.blocks) <= 1 else None


def _fits(value: Attribute, type: Attribute) -> bool:
    """Return whether a constant can have the value `value` and the type `type`."""
    if is_dense(value):
        return value.type == type
    return is_number(value) and is_ranked(type) and static_shape(type) is not None


def _bodies(op: Operation) -> list[Iterator[Operation]]:
    """Return the operations of each block directly in `op`, last block first.

    A primitive function is opaque: it has none.
    """
    if "relax.primitive" in op.attributes:
        return []
    return [in_order(block) for region in reversed(op.regions) for block in reversed(region.blocks)]


@dataclass(frozen=True)
class FoldConstant(FunctionPass):
    """Replace operations on constants by their value.

    Source: `relay.FoldConstant` and `relax.FoldConstant`.

    Before:

        func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
          %c = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
          %0 = relax.add %c, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
          %1 = relax.add %x, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
          func.return %1 : tensor<2xf32>
        }

    After:

        func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
          %0 = relax.constant dense<[2.0, 4.0]> : tensor<2xf32>
          %1 = relax.add %x, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
          func.return %1 : tensor<2xf32>
        }
    """

    name = "fold-constant"
    opt_level = 2
    parallel = False  # it evaluates calls of other functions
    # A constant has a static type, so that values of unknown shape stay. TVM infers types itself,
    # Relay after each function pass. Not preserved: types may depend on constant operands.
    required = ("infer-type",)

    max_elements: int = field(default=1 << 24, metadata={"minimum": 0})
    """The maximum number of elements of a folded operation's operands and results."""
    max_steps: int = field(default=MAX_STEPS, metadata={"minimum": 0})
    """The maximum number of operations that the evaluation of a call may take."""

    def load_code(self, module: ModuleOp, ops: OpClasses) -> None:
        load_evaluation(module, ops)

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        calls = CallEvaluator(ctx.analyses.get(Purity, module), self.max_steps)
        fold_constants(func, self.max_elements, ctx.actions, calls)
