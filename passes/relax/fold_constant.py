"""FoldConstant: operations on constants are replaced by their value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.dialects.scf import IfOp
from xdsl.interpreter import Interpreter, InterpreterFunctions
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import ConstantLike, HasFolder, IsTerminator, MemoryEffect, NoMemoryEffect
from xdsl.utils.exceptions import InterpretationError

from ...analysis.traversal import in_order
from ...dialects.relax.constant import ConstantOp, FullOp, is_dense, is_number
from ...dialects.relax.device import OnDeviceOp
from ...dialects.relax.interfaces import Elementwise, NonComputational, View
from ...dialects.relax.tuples import TupleGetItemOp, TupleOp
from ...dialects.relax.types import is_ranked, static_shape
from ...interpreters import has_semantics, semantics_of
from ...passmanager.base import FunctionPass
from ...passmanager.context import PassContext
from ...passmanager.ir.access import read_step
from ...passmanager.ir.walk import walk
from ...passmanager.remarks import Remarks

if TYPE_CHECKING:
    from ...interpreters.arrays import Array

__all__ = ["FoldConstant", "fold_constants"]


def fold_constants(
    func: Operation,
    max_elements: int = 1 << 24,
    gate: Callable[[], bool] | None = None,
    remarks: Remarks | None = None,
) -> int:
    """Replace each operation in `func` whose operands are constants by its value; returns how many.

    Folded are pure operations that evaluate and have an operand, and `scf.if` on a constant, whose
    chosen branch takes its place, and the element of a tuple that is made there. Those whose folder
    gives their value need no constant operands, as `relax.shape_of` a static shape. Element-wise
    operations on fills alone, and views of a fill, give a fill; others on fills alone stay, because
    nothing is expanded, and so does what has or gives more than `max_elements`. Operations that
    fail to evaluate stay, and those that are more than their value; a constant on a device is one.
    Nothing is reassociated. Constants, and tuples, left without a use by this are erased, and
    functions marked `relax.primitive` left as they are.
    `gate`, if given, is asked before each, and may keep it from being folded.
    """
    return Folding(max_elements, gate, remarks).run(func)


class Stays(NamedTuple):
    """Why an operation on constants is not folded; without a name if nobody needs to be told."""

    name: str = ""
    reason: str = ""
    failed: bool = False
    arguments: dict[str, str | int] = {}


Values: TypeAlias = "Sequence[Attribute] | Stays"


class Folding:
    """The state of one folding."""

    def __init__(
        self, max_elements: int, gate: Callable[[], bool] | None, remarks: Remarks | None
    ) -> None:
        self.remarks = remarks or None
        self.max_elements = max_elements
        self.gate = gate
        self.folded = 0
        self.foldable = _Foldable()
        self.folder = _Folder()
        self.constant = _Constant()
        self.values: dict[tuple[object, ...], tuple[object, Values]] = {}
        """What operations gave, with what they were given: an equal one is not evaluated again."""
        self.arrays: dict[Operation, Sequence[Array]] = {}
        self.touched: dict[Operation, None] = {}
        """Constants, tuples and annotations of constants that lost a use."""
        self.interpreter = Interpreter(ModuleOp([]))
        self.registered: set[type[InterpreterFunctions]] = set()

    def run(self, root: Operation) -> int:
        """Visit the ops nested in `root` in order, an op before those in its regions."""
        pending = _bodies(root)
        while pending:
            ops = pending.pop()
            for op in ops:
                operands, _, regions, _ = read_step(op)
                if regions:
                    pending.append(ops)
                    chosen = _chosen_region(op) if isinstance(op, IfOp) else None
                    if isinstance(op, IfOp) and chosen is not None and self.may_fold():
                        pending.append(iter(self.fold_if(op, chosen)))
                    else:
                        pending += _bodies(op)
                    break
                if isinstance(op, TupleGetItemOp):
                    self.fold_tuple_get_item(op)
                elif operands and self.foldable[type(op)]:
                    folder = self.folder[type(op)]
                    if folder is None or not self.fold_by(folder, op, operands):
                        self.fold(op, operands)
        self.erase_touched()
        return self.folded

    # Operations

    def fold_by(self, folder: HasFolder, op: Operation, operands: Sequence[SSAValue]) -> bool:
        """Replace an operation by the tensors that its folder gives; False if it gives none."""
        values = [value for value in folder.fold(op) or () if isinstance(value, Attribute)]
        types = [result.type for result in op.results]
        if len(values) < len(types) or not all(map(_is_value, values, types)):
            return False
        if self.may_fold():
            if self.remarks is not None:
                report(self.remarks, op, values)
            self.replace(op, values)
            self.touch(operands)
            self.folded += 1
        return True

    def fold(self, op: Operation, operands: Sequence[SSAValue]) -> None:
        """Replace an operation by constants, if its operands are constants."""
        constants: list[SSAValue] = []
        for value in operands:
            while isinstance(owner := value.owner, OnDeviceOp):
                value = owner.input
            if isinstance(owner, Block) or not self.constant[type(owner)]:
                return
            if not has_semantics(type(owner)):
                return
            constants.append(value)
        values = self.value_of(op, constants)
        if not isinstance(values, Stays) and not self.may_fold():
            return
        if self.remarks is not None:
            report(self.remarks, op, values)
        if not isinstance(values, Stays):
            self.replace(op, values)
            self.touch(operands)
            self.folded += 1

    def may_fold(self) -> bool:
        """Whether the next fold is let through."""
        return self.gate is None or self.gate()

    def fold_tuple_get_item(self, op: TupleGetItemOp) -> None:
        """Replace an element of a tuple by what was put there."""
        if (value := op.element()) is not None and self.may_fold():
            op.result.replace_all_uses_with(value)
            operands = tuple(op.operands)
            _erase(op)
            self.touch(operands)
            self.folded += 1

    def touch(self, lost: Iterable[SSAValue]) -> None:
        """Note that values lost a use."""
        for value in lost:
            if self.constant[type(owner := value.owner)] or isinstance(owner, TupleOp | OnDeviceOp):
                assert isinstance(owner, Operation)
                self.touched[owner] = None

    def value_of(self, op: Operation, constants: Sequence[SSAValue]) -> Values:
        """The values of the results, or why the operation is to stay."""
        known = [ConstantLike.get_constant_value(constant) for constant in constants]
        if None in known:
            return Stays()
        key = (type(op), *map(id, known))
        inputs = (known, op.operand_types, op.result_types, op.properties, op.attributes)
        if key in self.values and self.values[key][0] == inputs:
            return self.values[key][1]
        values = self.evaluate(op, constants)
        self.values[key] = inputs, values
        return values

    def evaluate(self, op: Operation, constants: Sequence[SSAValue]) -> Values:
        """Compute the results; what is too big stays, and what fails, as in TVM."""
        fills = [owner for c in constants if isinstance(owner := c.owner, FullOp)]
        only_fills = len(fills) == len(constants)
        sizes = [] if only_fills else [_size(v.type) for v in (*op.operands, *op.results)]
        if None in sizes:
            return Stays("UnknownShape", "of a shape that is not known")
        if (elements := max(filter(None, sizes), default=0)) > self.max_elements:
            arguments: dict[str, str | int] = {"Elements": elements, "Limit": self.max_elements}
            return Stays("TooManyElements", "too large to be computed", arguments=arguments)
        if only_fills and isinstance(op, View) and static_shape(op.results[0].type) is not None:
            return [fills[0].value]
        if only_fills and not isinstance(op, Elementwise):
            return Stays("OnlyFills", "not element-wise, and its operands are not to be expanded")
        try:
            return self.fill_values(op, fills) if only_fills else self.dense_values(op, constants)
        except Exception as error:  # whatever another project's semantics may raise
            first, _, _ = f"{type(error).__name__}: {error}".partition("\n")
            return Stays("EvaluationFailed", "failed to evaluate", True, {"Error": first})

    def fill_values(self, op: Operation, fills: Sequence[FullOp]) -> Values:
        """The numbers that an element-wise operation makes of the numbers in fills."""
        from ...interpreters.arrays import element_of, number_of, scalar_of

        types = [result.type for result in op.results]
        ranked = [type for type in types if is_ranked(type) and static_shape(type) is not None]
        if len(ranked) < len(types):
            return Stays("UnknownShape", "of a shape that is not known")
        scalars = [scalar_of(fill.value, element_of(fill.result.type)) for fill in fills]
        arrays = self.call(op, scalars)
        return [
            number_of(array, element_of(type)) for array, type in zip(arrays, ranked, strict=True)
        ]

    def dense_values(self, op: Operation, constants: Sequence[SSAValue]) -> Sequence[Attribute]:
        """The arrays that an operation makes of constants."""
        from ...interpreters.arrays import dense_of

        arrays = self.call(op, [self.array_of(constant) for constant in constants])
        return [
            dense_of(array, result.type)
            for array, result in zip(arrays, op.results, strict=True)
            if is_ranked(result.type)
        ]

    def array_of(self, constant: SSAValue) -> Array:
        """The elements of a constant, which is evaluated once."""
        owner = constant.owner
        assert isinstance(owner, Operation)
        if owner not in self.arrays:
            self.arrays[owner] = self.call(owner)
        return self.arrays[owner][owner.results.index(constant)]

    def call(self, op: Operation, arguments: Sequence[Array] = ()) -> Sequence[Array]:
        """Compute the results of an operation."""
        functions = semantics_of(type(op))
        if functions is None:
            raise InterpretationError(f"{op.name} has no semantics")
        if functions not in self.registered:
            self.registered.add(functions)
            self.interpreter.register_implementations(functions())
        # A detached copy: xDSL puts the whole module that an op is in into the error, if it fails.
        copy = op.create(
            operands=tuple(op.operands),
            result_types=op.result_types,
            properties=op.properties,
            attributes=op.attributes,
        )
        try:
            return self.interpreter.run_op(copy, tuple(arguments))
        finally:
            copy.drop_all_references()

    def replace(self, op: Operation, values: Sequence[Attribute]) -> None:
        """Put constants where `op` is; they have its location and the names of its results."""
        assert op.parent is not None
        for result, value in zip(op.results, values, strict=True):
            constant = (FullOp if is_number(value) else ConstantOp).create(
                properties={"value": value}, result_types=[result.type], location=op.location
            )
            op.parent.insert_op_before(constant, op)
            result.replace_all_uses_with(constant.result)
        _erase(op)

    # Control flow

    def fold_if(self, op: IfOp, chosen: Region) -> Sequence[Operation]:
        """Put the operations of one branch where the `scf.if` is; gives these."""
        if self.remarks is not None:
            self.remarks.passed(op, "BranchChosen", "replaced by the branch that is taken")
        parent = op.parent
        assert parent is not None
        inlined: list[Operation] = []
        if chosen.blocks:
            *inlined, end = chosen.block.ops
            values = tuple(end.operands)
            for inner in inlined:
                inner.detach()
            parent.insert_ops_before(inlined, op)
            for result, value in zip(op.results, values, strict=True):
                result.replace_all_uses_with(value)
        operands = [operand for inner in walk(op) for operand in inner.operands]
        self.folded += 1
        _erase(op)
        self.touch(operands)
        return inlined

    def erase_touched(self) -> None:
        """Erase what lost its last use, and then what that used."""
        while self.touched:
            op, _ = self.touched.popitem()
            if op.parent is not None and all(result.first_use is None for result in op.results):
                operands = tuple(op.operands)
                _erase(op)
                self.touch(operands)


def report(remarks: Remarks, op: Operation, values: Values) -> None:
    """Say what becomes of an operation on constants."""
    if not isinstance(values, Stays):
        remarks.passed(op, "Folded", "replaced by its value")
    elif values.failed:
        remarks.failed(op, values.name, values.reason, **values.arguments)
    elif values.name:
        remarks.missed(op, values.name, values.reason, **values.arguments)


class _Foldable(dict[type[Operation], bool]):
    """Whether operations of a class are folded if their operands are constants."""

    def __missing__(self, cls: type[Operation]) -> bool:
        effects = cls.get_traits_of_type(MemoryEffect)
        self[cls] = answer = (
            has_semantics(cls)
            and cls.get_trait(IsTerminator) is None
            and not issubclass(cls, NonComputational)
            and bool(effects)
            and all(isinstance(effect, NoMemoryEffect) for effect in effects)
        )
        return answer


class _Folder(dict[type[Operation], HasFolder | None]):
    """What xDSL folds operations of a class with."""

    def __missing__(self, cls: type[Operation]) -> HasFolder | None:
        self[cls] = folder = cls.get_trait(HasFolder)
        return folder


class _Constant(dict[type[Operation | Block], bool]):
    """Whether what owns a value, if of a class, is a constant."""

    def __missing__(self, cls: type[Operation | Block]) -> bool:
        self[cls] = answer = issubclass(cls, Operation) and cls.get_trait(ConstantLike) is not None
        return answer


def _chosen_region(op: IfOp) -> Region | None:
    """The branch that is taken; None if that is not known, or it has control flow of its own."""
    condition = ConstantLike.get_constant_value(op.cond)
    if not isinstance(condition, IntegerAttr):
        return None
    chosen = op.true_region if condition.value.data else op.false_region
    return chosen if len(chosen.blocks) <= 1 else None


def _is_value(value: Attribute, type: Attribute) -> bool:
    """Whether there is a constant of that value and that type."""
    if is_dense(value):
        return value.type == type
    return is_number(value) and is_ranked(type) and static_shape(type) is not None


def _size(type: Attribute) -> int | None:
    shape = static_shape(type)
    return None if shape is None else prod(shape)


def _bodies(op: Operation) -> list[Iterator[Operation]]:
    """The ops of each block directly in `op`, last block first; none if it is primitive."""
    if "relax.primitive" in op.attributes:
        return []
    return [in_order(block) for region in reversed(op.regions) for block in reversed(region.blocks)]


def _erase(op: Operation) -> None:
    op.detach()
    op.drop_all_references()


@dataclass(frozen=True)
class FoldConstant(FunctionPass):
    """Replace operations on constants by their value; source: `relay` and `relax.FoldConstant`."""

    name = "fold-constant"
    opt_level = 2
    required = ("infer-type",)  # and not preserved: types may follow from the values of operands

    max_elements: int = 1 << 24
    """The most elements of a tensor that is computed with, or made, by folding."""

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        folded = fold_constants(func, self.max_elements, ctx.gate(self.name), ctx.remarks)
        ctx.count("folded", folded)
