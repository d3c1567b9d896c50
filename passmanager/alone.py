"""A pass on one op of a module alone, in a module of its own."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.traits import IsolatedFromAbove

from .context import PassContext
from .errors import PassContractError
from .ir.per_class import PerClass
from .ir.walk import brief, name_of, symbol_of
from .run import Run
from .runner import is_own


def visit_alone(
    pass_: ModulePass, op: Operation, module: ModuleOp, ctx: PassContext, names: tuple[str, str]
) -> Operation:
    """Run a pass on an op of `module` alone, in a module of its own; return the op in its place.

    `names` are those of the pass and its anchor. Errors: as `Anchored`.
    """
    symbol = symbol_of(op)
    with alone(op, module) as single:
        run = Run.current()
        run.part = single
        try:
            transform(pass_, single, ctx)
        finally:
            run.part = None
        _check_contract(*names, op, symbol, single.body.block)
        (new,) = single.ops
    return new


def transform(pass_: ModulePass, module: ModuleOp, ctx: PassContext) -> None:
    """Run a pass on a module that is in another one, or holds one op of another."""
    if is_own(pass_):
        pass_.transform(module, ctx)
    else:
        pass_.apply(Run.current().ir_context, module)


@contextmanager
def alone(op: Operation, module: ModuleOp) -> Generator[ModuleOp]:
    """Move `op` into a module of its own, with the attributes of `module`; at the end, move the ops
    in that module to the place of `op`.
    """
    block = op.parent
    assert block is not None
    following = op.next_op
    op.detach()
    single = ModuleOp([op], module.attributes.copy())
    try:
        yield single
    finally:
        for new in (inner := single.body.block).ops:
            inner.detach_op(new)
            if following is None:
                block.add_op(new)
            else:
                block.insert_op_before(new, following)


def _check_contract(name: str, anchor: str, op: Operation, symbol: str, block: Block) -> None:
    """Raise PassContractError unless `op`, or an op like it, is all that a module holds, and has
    the symbol name `symbol`.
    """
    ops = [*block.ops]
    before = (name_of(op), symbol)
    if [(name_of(new), symbol_of(new)) for new in ops] == [before]:
        return
    added = [brief(new) for new in ops if new is not op]
    if op not in ops:
        added = [f"{', '.join(added) or 'nothing'} in place of {brief(op)}"]
    did = f"left {', '.join(added)}" if added else f"renamed @{symbol} to @{symbol_of(op)}"
    raise PassContractError(
        f"pass '{name}', nested under '{anchor}', {did}: there it may not add, delete or rename "
        f"ops of the module; write it outside of {anchor}(...)"
    )


def units_alone(module: ModuleOp) -> list[Operation] | None:
    """Return the ops with a body in a module, if a nestable pass does with the module what it does
    with each of its ops alone; else None."""
    if not all(map(_stands_alone, module.ops)):
        return None
    return [op for op in module.ops if any(region.blocks for region in op.regions)]


def _stands_alone(op: Operation) -> bool:
    """Return whether an op is one that no other refers to but by its symbol."""
    return _is_isolated[type(op)] and bool(symbol_of(op))


def _has_trait(cls: type[Operation]) -> bool:
    isolated = cls.has_trait(IsolatedFromAbove, value_if_unregistered=False)
    return isolated and not issubclass(cls, ModuleOp)


_is_isolated = PerClass[Operation, bool](_has_trait)
