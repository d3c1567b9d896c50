"""Gradients of products of matrices."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.relax.contraction.linear_algebra import BatchMatmulOp, DenseOp, EinsumOp, MatmulOp
from ....dialects.relax.contraction.subscripts import Subscripts
from ....dialects.relax.expression import by_operation
from ....dialects.relax.interfaces import NotDifferentiable
from .tensors import Tensors, Traced

__all__ = ["GRADIENTS"]


def matmul(op: MatmulOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    """Compute `g @ y^T` and `x^T @ g`; a vector is a matrix of one row or one column."""
    x, y = b.of(op.lhs), b.of(op.rhs)
    shape = g.shape
    if x.rank == 1:
        shape = (*shape[: len(shape) - (y.rank > 1)], 1, *shape[len(shape) - (y.rank > 1) :])
    if y.rank == 1:
        shape = (*shape, 1)
    rows = x.reshape(1, *x.shape) if x.rank == 1 else x
    columns = y.reshape(*y.shape, 1) if y.rank == 1 else y
    g = g.reshape(*shape)
    # Batch dimensions may have been broadcast: their adjoints are summed.
    d_rows = (g @ columns.swapped()).sum_to(rows.value)
    d_columns = (rows.swapped() @ g).sum_to(columns.value)
    return d_rows.reshape(*x.shape), d_columns.reshape(*y.shape)


def dense(op: DenseOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    x, w = b.of(op.data), b.of(op.weight)
    g = g.cast(x.element)
    outputs, inputs = w.shape
    # One product over all leading dimensions at once, in place of one for each and their sum.
    d_w = g.reshape(-1, outputs).swapped() @ x.reshape(-1, inputs)
    return g @ w, d_w


def batch_matmul(op: BatchMatmulOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    """Compute the adjoints of the matrices as they are multiplied, then transpose them back."""
    x, y = b.of(op.lhs), b.of(op.rhs)
    g = g.cast(x.element)
    rows = x.swapped() if op.transpose_a else x
    columns = y.swapped() if op.transpose_b else y
    d_rows = (g @ columns.swapped()).sum_to(rows.value)
    d_columns = (rows.swapped() @ g).sum_to(columns.value)
    return (
        d_rows.swapped() if op.transpose_a else d_rows,
        d_columns.swapped() if op.transpose_b else d_columns,
    )


def einsum(op: EinsumOp, b: Tensors, g: Traced) -> Sequence[Traced]:
    """Sum the products of the adjoint and the other operands over all indices that an operand does
    not have; an index that nothing else has is broadcast."""
    subscripts = Subscripts.parse(op.subscripts)
    operands = [b.of(operand) for operand in op.args]
    names = [
        Subscripts.dimensions(term, x.rank)
        for term, x in zip(subscripts.terms, operands, strict=True)
    ]
    output = Subscripts.dimensions(subscripts.output, g.rank)
    letters = {name: _letter(i) for i, name in enumerate(dict.fromkeys(sum(names, output)))}
    adjoints: list[Traced] = []
    for i, own in enumerate(names):
        if len({*own}) < len(own):
            raise NotDifferentiable(
                f"operand {i} has an index twice, which takes a diagonal: take it with "
                "relax.gather_nd"
            )
        others = [output, *names[:i], *names[i + 1 :]]
        # For "ij,jk->ik" the adjoint of the first operand is einsum("ik,jk->ij") of g and the
        # second. An index that only the operand has was summed over: each of its elements gets the
        # same adjoint.
        kept = [name for name in own if any(name in other for other in others)]
        terms = ["".join(letters[name] for name in term) for term in (*others, kept)]
        product = g.op(
            "einsum",
            *operands[:i],
            *operands[i + 1 :],
            subscripts=f"{','.join(terms[:-1])}->{terms[-1]}",
        )
        sizes = iter(product.shape)
        spread = product.reshape(*[next(sizes) if name in kept else 1 for name in own])
        shape = operands[i].shape
        pairs = zip(spread.shape, shape, strict=True)
        wide = spread.broadcast(*(n if size == 1 else size for size, n in pairs))
        adjoints.append(wide.sum_to(op.args[i]))
    return adjoints


def _letter(index: int) -> str:
    """Return the letter of an index; einsum has 52."""
    if index >= 52:
        raise NotDifferentiable(f"has more than {index} indices, but there are 52 letters")
    return chr(ord("a") + index) if index < 26 else chr(ord("A") + index - 26)


GRADIENTS = by_operation(
    {
        batch_matmul: "nn.batch_matmul",
        dense: "nn.dense",
        einsum: "einsum",
        matmul: "matmul",
    }
)
