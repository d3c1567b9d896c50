"""Patterns of `scf.forall`, for `canonicalize`: bounds, iterations and shared outputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from xdsl.dialects import tensor
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IndexType, i32
from xdsl.ir import Attribute, Block, Operation, SSAValue, Use
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.rewriter import InsertPoint

from .cast_patterns import cast_to
from .constants import truncated_integer
from .loop_patterns import distance
from .shapes import DYNAMIC, Size, folded, known, mixed, split, static_list
from .slice_patterns import uncast

_STATIC: Final = ("staticLowerBound", "staticUpperBound", "staticStep")
_INSERTION: Final = "tensor.parallel_insert_slice"


class Bounds(NamedTuple):
    """The range of one dimension of a loop."""

    low: Size
    high: Size
    step: Size


def _parts(op: Operation) -> tuple[list[Bounds], Sequence[SSAValue]]:
    """Return the bounds of the dimensions of a loop, and its outputs."""
    operands = iter(op.operands)
    counts = static_list(op.properties["operandSegmentSizes"])
    columns = [
        mixed(op.properties[name], [next(operands) for _ in range(count)])
        for name, count in zip(_STATIC, counts, strict=False)
    ]
    return [Bounds(*row) for row in zip(*columns, strict=True)], [*operands]


def _operands(
    bounds: Iterable[Bounds], outputs: Sequence[SSAValue]
) -> tuple[list[SSAValue], dict[str, Attribute]]:
    """Return the operands of a loop, and the properties that say what they are."""
    rows = [*bounds]
    columns = [split([row[i] for row in rows]) for i in range(len(_STATIC))]
    properties: dict[str, Attribute] = {
        name: static for name, (static, _) in zip(_STATIC, columns, strict=True)
    }
    counts = [*(len(values) for _, values in columns), len(outputs)]
    properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, counts)
    return [*(value for _, values in columns for value in values), *outputs], properties


def _change_bounds(
    op: Operation, bounds: Iterable[Bounds], outputs: Sequence[SSAValue], rewriter: PatternRewriter
) -> None:
    op.operands, properties = _operands(bounds, outputs)
    op.properties |= properties
    rewriter.handle_operation_modification(op)


def _with_outputs(
    op: Operation, outputs: Sequence[SSAValue], rewriter: PatternRewriter
) -> Operation:
    """Insert a loop with the bounds and the body of `op` and other outputs before it."""
    operands, properties = _operands(_parts(op)[0], outputs)
    new = type(op).create(
        operands=operands,
        result_types=[value.type for value in outputs],
        properties={**op.properties, **properties},
        attributes=op.attributes,
        regions=[op.detach_region(op.regions[0])],
    )
    rewriter.insert(new)
    return new


def _is_insertion(use: Use, end: Operation) -> bool:
    """Return whether a value is used as what `end` inserts into."""
    op = use.operation
    return op.name == _INSERTION and use.index == 1 and op.parent_op() is end


def _end_of(body: Block) -> Operation:
    end = body.last_op
    assert end is not None
    return end


class ConstantBounds(RewritePattern):
    """Write the bounds and steps that are constants into the properties of a loop."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Match each `scf.forall`."""
        old, outputs = _parts(op)
        new = [Bounds(*folded(row, DYNAMIC + 1)) for row in old]
        if any(
            a is not b for x, y in zip(old, new, strict=True) for a, b in zip(x, y, strict=True)
        ):
            _change_bounds(op, new, outputs, rewriter)


def _iterations(bounds: Bounds) -> int | None:
    """Return the number of iterations of a dimension, or None; no step forward is none of them."""
    low, high, step = bounds
    if low is high or (known(low) is not None and known(low) == known(high)):
        return 0
    if (by := known(step)) is not None and by <= 0:
        return 0
    first, last = known(low), known(high)
    length = None if first is None or last is None else last - first
    if isinstance(low, SSAValue) and isinstance(high, SSAValue):
        length = distance(low, high)
    if length is not None and length <= 0:
        return 0
    return None if length is None or by is None else -(-length // by)


class DropSingleDimensions(RewritePattern):
    """Replace the variables of dimensions of one iteration by their lower bounds; if the loop is
    not mapped to processors, also drop these dimensions, a loop of one iteration, and one of none.
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Match each `scf.forall`."""
        bounds, outputs = _parts(op)
        body = op.regions[0].block
        counts = [_iterations(row) for row in bounds]
        is_mapped = op.properties.get("mapping", ArrayAttr[Attribute](())) != ArrayAttr(())
        if 0 in counts:
            if not is_mapped:
                rewriter.replace(op, (), outputs)
            return
        for variable, row, count in zip(body.args, bounds, counts, strict=False):
            if count == 1 and variable.first_use is not None:
                rewriter.replace_all_uses_with(variable, self.value(row.low, rewriter))
        kept = [row for row, count in zip(bounds, counts, strict=True) if count != 1]
        if is_mapped or (kept and len(kept) == len(bounds)):
            return
        if not kept and not self.is_plain(op, body):
            return
        for variable in [v for v, count in zip(body.args, counts, strict=False) if count == 1]:
            body.erase_arg(variable)
        if kept:
            _change_bounds(op, kept, outputs, rewriter)
        else:
            self.inline(op, body, outputs, rewriter)

    def value(self, size: Size, rewriter: PatternRewriter) -> SSAValue:
        """Return a size as a value."""
        if isinstance(size, SSAValue):
            return size
        return rewriter.insert(ConstantOp(truncated_integer(size, IndexType()))).result

    def is_plain(self, op: Operation, body: Block) -> bool:
        """Return whether a loop only combines its results by insertions into its outputs."""
        outputs = body.args[len(body.args) - len(op.results) :]
        return all(
            inner.name == _INSERTION and inner.operands[1] in outputs
            for inner in _end_of(body).regions[0].ops
        )

    def inline(
        self,
        op: Operation,
        body: Block,
        outputs: Sequence[SSAValue],
        rewriter: PatternRewriter,
    ) -> None:
        """Replace a loop of one iteration by its body, and by insertions one after the other."""
        end, results = _end_of(body), list(outputs)
        numbers = {arg: index for index, arg in enumerate(body.args)}
        insertions = [
            (inner, numbers[inner.operands[1]])  # pyright: ignore[reportArgumentType]
            for inner in end.regions[0].ops
        ]
        rewriter.inline_block(body, InsertPoint.before(op), outputs)
        for inner, index in insertions:
            source, _, *rest = inner.operands
            new = tensor.InsertSliceOp.create(
                operands=[source, results[index], *rest],
                result_types=[results[index].type],
                properties=inner.properties,
                attributes=inner.attributes,
            )
            results[index] = rewriter.insert(new).result
        rewriter.erase(end)
        rewriter.replace(op, (), results)


class DropOutputs(RewritePattern):
    """Drop the outputs of a loop that it does not change, and those whose result is not used."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Match each `scf.forall`."""
        body = op.regions[0].block
        outputs = _parts(op)[1]
        arguments = body.args[len(body.args) - len(outputs) :]
        end = _end_of(body)
        dropped: set[int] = set()
        for index, (argument, result) in enumerate(zip(arguments, op.results, strict=True)):
            combining = {u.operation: u for u in argument.uses if u.operation.parent_op() is end}
            if any(inner.name != _INSERTION for inner in combining):
                continue
            insertions = [u for u in argument.uses if _is_insertion(u, end)]
            if result.first_use is not None and insertions:
                continue
            dropped.add(index)
            for use in insertions:
                rewriter.erase(use.operation)
            rewriter.replace_all_uses_with(argument, outputs[index])
            rewriter.replace_all_uses_with(result, outputs[index])
            body.erase_arg(argument)
        if dropped:
            kept = [index for index in range(len(outputs)) if index not in dropped]
            results = [*outputs]
            new = _with_outputs(op, [outputs[index] for index in kept], rewriter)
            for index, result in zip(kept, new.results, strict=True):
                results[index] = result
            rewriter.replace(op, (), results)


class TakeUncastOutputs(RewritePattern):
    """Let a loop write to what was cast, of a more static type, and cast its results."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Match each `scf.forall`."""
        body = op.regions[0].block
        old = _parts(op)[1]
        new = [uncast(value) or value for value in old]
        changed = [i for i, (a, b) in enumerate(zip(old, new, strict=True)) if a.type != b.type]
        if not changed:
            return
        before = len(body.args) - len(old)
        end = _end_of(body)
        for index in changed:
            argument = body.args[before + index]
            typed = body.insert_arg(new[index].type, before + index)
            argument.replace_uses_with_if(typed, lambda use: _is_insertion(use, end))
            if argument.first_use is not None:
                cast = cast_to(tensor.CastOp, typed, argument.type)
                rewriter.insert(cast, InsertPoint.at_start(body))
                rewriter.replace_all_uses_with(argument, cast.results[0])
            body.erase_arg(argument)
        loop = _with_outputs(op, new, rewriter)
        results: list[SSAValue] = [*loop.results]
        for index in changed:
            if op.results[index].first_use is not None:
                cast = cast_to(tensor.CastOp, results[index], op.results[index].type)
                results[index] = rewriter.insert(cast).results[0]
        for result, value in zip(op.results, results, strict=True):
            if result.first_use is not None:
                rewriter.replace_all_uses_with(result, value)
        rewriter.erase(op)


PATTERNS: Final[Sequence[RewritePattern]] = (
    TakeUncastOutputs(),
    ConstantBounds(),
    DropOutputs(),
    DropSingleDimensions(),
)
