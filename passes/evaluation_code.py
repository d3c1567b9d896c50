"""Imports of the code that computes with constants, for `load_code` of passes: numpy, and the
semantics of operations."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Block, Operation
from xdsl.traits import ConstantLike

from ..compiler.interpreters import has_semantics, semantics_of
from ..dialects.relax.constant import ConstantOp, FullOp
from ..dialects.relax.kernels import CallTIROp
from ..passmanager.ir.per_class import OpClasses, PerClass, has_any
from ..passmanager.ir.walk import walk
from .generic.canonicalize.scalar_folds import is_foldable_scalar


def load_constants(ops: OpClasses) -> None:
    """Import what reads and makes constants on tensors, if there are any."""
    if has_any(ops, ConstantOp, FullOp):
        import_module(".arrays", __package__)
        import_module(".float_rounding", __package__)


def load_relayout(ops: OpClasses) -> None:
    """Import what computes constants in another layout, if there are any."""
    if has_any(ops, ConstantOp, FullOp):
        load_semantics([ConstantOp])


def load_semantics(ops: Iterable[type[Operation]]) -> None:
    """Import the semantics of operations of these classes."""
    import_module("..compiler.interpreters.arrays", __package__)

    for op in ops:
        if has_semantics(op):
            semantics_of(op)


def load_evaluation(module: ModuleOp, ops: OpClasses) -> None:
    """Import what evaluates the operations of `module` whose operands are all constants."""
    if not any(_may_be_constant[op] for op in ops):
        return
    # First by class, without a walk: importing numpy takes longer than a pass on a small module.
    wanted = {kind for op in ops if (kind := _kinds[op])} - _loaded
    if not wanted:
        return
    for op in walk(module):
        kind = _kinds[type(op)]
        if (
            kind in wanted
            and op.operands
            # Not exact: an operand that becomes a constant only later is loaded for in the pass
            # itself.
            and all(_may_be_constant[type(v.owner)] for v in op.operands)
        ):
            _load(kind, type(op))
            wanted.discard(kind)


_CALL = "call"

_loaded = set[str]()
"""The kinds whose code was imported, which is so for the rest of the process."""


def _load(kind: str, op: type[Operation]) -> None:
    """Import what evaluates `op`, an operation of `kind`."""
    if kind == _CALL:
        from ..compiler.interpreters.interpret import load_interpreter

        import_module("..compiler.interpreters.equivalence.evaluation", __package__)
        load_interpreter()
    else:
        load_semantics([op])
    _loaded.add(kind)


def _kind(op: type[Operation]) -> str:
    """Return the kind of code that evaluates an operation, for one with semantics the name of its
    dialect; empty if none does, or none has to be imported."""
    if is_foldable_scalar(op):
        return ""
    if issubclass(op, CallOp | CallTIROp):
        return _CALL
    evaluated = has_semantics(op) and not op.has_trait(ConstantLike, value_if_unregistered=False)
    return op.dialect_name() if evaluated else ""


_kinds = PerClass[Operation, str](_kind)


def _gives_constant(cls: type[Operation | Block]) -> bool:
    """Return whether the results of an operation may be constants before it is evaluated: those of
    a constant are, those of a tensor operation with a folder may become it, as a shape."""
    return issubclass(cls, Operation) and (
        cls.has_trait(ConstantLike, value_if_unregistered=False)
        or (issubclass(cls, HasFolderInterface) and has_semantics(cls))
    )


_may_be_constant = PerClass[Operation | Block, bool](_gives_constant)
