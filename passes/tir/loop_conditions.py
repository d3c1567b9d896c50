"""Conditions on the loops of functions on buffers."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation

from ...compiler.analysis.constant_evaluator import constant_extent
from ...dialects.tir.ops import ForKind, ForOp, PrimFuncOp
from ...passmanager.conditions import condition
from ...passmanager.ir.walk import walk

PRAGMAS = {
    "pragma_auto_unroll_max_step": "auto_max_step",
    "pragma_unroll_explicit": "explicit_unroll",
}
"""The annotations that override an option of tir-unroll-loop within an operation."""


@condition("no-vectorized-loops", "no loop is left to be vectorized")
def no_vectorized_loops(func: Operation) -> Iterator[tuple[Operation, str]]:
    """Yield the loops that are marked `vectorized`."""
    return ((loop, "is vectorized") for loop in _loops(func, ForKind.VECTORIZED))


@condition("vectorizable-loops", "vectorized loops have constant extents, and no scf.while in them")
def vectorizable_loops(func: Operation) -> Iterator[tuple[Operation, str]]:
    """Yield the vectorized loops that have no vector form, and what is in them that has none. Of
    nested loops, only the outermost is vectorized."""
    inner: set[Operation] = set()
    for loop in _loops(func, ForKind.VECTORIZED):
        if loop in inner:
            continue
        inner.update(nested := [*walk(loop)])
        found = [(op, "is in a vectorized loop") for op in nested if isinstance(op, scf.WhileOp)]
        yield from found
        if not found and constant_extent(loop) is None:
            yield loop, f"cannot be vectorized: the extent{_extent_name(loop)} is not a constant"


@condition("unrollable-loops", "loops to be unrolled have constant extents, and pragmas integers")
def unrollable_loops(func: Operation) -> Iterator[tuple[Operation, str]]:
    """Yield the loops marked `unrolled` of an extent that is not known, and the operations with a
    pragma that is no integer."""
    for op in walk(func):
        for name in PRAGMAS:
            if (reason := invalid_pragma(op, name)) is not None:
                yield op, reason
        if isinstance(op, ForOp) and op.for_kind is ForKind.UNROLLED:
            if constant_extent(op) is None:
                yield op, unknown_extent(op)


def invalid_pragma(op: Operation, name: str) -> str | None:
    """Return why the value of a pragma is invalid; None if it is valid, or there is none."""
    value = op.attributes.get(name)
    if value is None or isinstance(value, IntegerAttr):
        return None
    return f"has {name} = {value}: expected an integer"


def unknown_extent(loop: ForOp) -> str:
    """Return why a loop whose extent is not known cannot be unrolled."""
    name = _extent_name(loop)
    return f"cannot be unrolled: the extent{name} is not a constant from 0 to 2^31 - 1"


@condition("on-a-processor", "no loop is bound to a thread of a GPU, and no buffer is freed")
def on_a_processor(func: Operation) -> Iterator[tuple[Operation, str]]:
    """Yield the operations of a function on buffers that lower-tir refuses."""
    for op in walk(func) if isinstance(func, PrimFuncOp) else ():
        match op:
            case ForOp() if op.for_kind is ForKind.THREAD_BINDING:
                assert op.thread_tag is not None
                yield op, f'is bound to "{op.thread_tag.data}", but a CPU has no such threads'
            case memref.DeallocOp():
                yield op, "frees a buffer, which lives until the end of its block"
            case _:
                pass


def _loops(func: Operation, kind: ForKind) -> Iterator[ForOp]:
    return (op for op in walk(func) if isinstance(op, ForOp) and op.for_kind is kind)


def _extent_name(loop: ForOp) -> str:
    return f" %{hint}" if (hint := loop.extent.name_hint) else ""
