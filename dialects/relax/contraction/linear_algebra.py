"""Linear algebra: matmul, einsum, dense, batch_matmul."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Self

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from ..attributes import bool_prop, opt_type_prop, string_prop
from ..base import OneResultOp
from ..interfaces import Along, Anchor, Axes, ScaleAxisRule, Scaling
from ..shapes import Shape, broadcast, broadcast_dimension, matmul, merge, shape_text
from ..types import (
    TENSOR,
    Tensor,
    check_number,
    check_same_element,
    combine,
    make_tensor_type,
    product_element,
    shape_of,
    shape_of_rank,
    tensor_type,
    with_shape,
)

__all__ = ["BatchMatmulOp", "DenseOp", "EinsumOp", "MatmulOp", "Subscripts"]


# The subscripts of an Einstein summation such as `bij,bjk->bik`, and its result shape.


_TERM = r"[A-Za-z]*(?:\.\.\.)?[A-Za-z]*"
_TEXT = re.compile(rf"({_TERM}(?:,{_TERM})*)(?:->({_TERM}))?")
_ELLIPSIS = "."


@dataclass(frozen=True)
class Subscripts:
    """The terms of an einsum: one letter for each dimension, a dot for an ellipsis."""

    terms: tuple[str, ...]
    output: str

    @classmethod
    @cache
    def parse(cls, text: str) -> Self:
        """Parse subscripts.

        Without `->` the output is the ellipsis, then the letters that occur once, in alphabetical
        order. VerifyException if the text is malformed.
        """
        if (match := _TEXT.fullmatch(text.replace(" ", ""))) is None:
            raise VerifyException(f'subscripts "{text}" are not of the form "ij,jk->ik"')
        inputs, output = (part and part.replace("...", _ELLIPSIS) for part in match.groups())
        if output is None:
            once = [letter for letter in sorted(set(inputs)) if inputs.count(letter) == 1]
            output = "".join(letter for letter in once if letter.isalpha())
            output = _ELLIPSIS * (_ELLIPSIS in inputs) + output
        for letter in output:
            if output.count(letter) > 1 or letter not in inputs:
                what = "occurs twice" if letter in inputs else "occurs in no operand"
                raise VerifyException(f'subscripts "{text}": {_name(letter)} of the output {what}')
        if _ELLIPSIS in inputs and _ELLIPSIS not in output:
            raise VerifyException(f'subscripts "{text}": the output lacks the ellipsis')
        return cls(tuple(inputs.split(",")), output)

    def infer(self, shapes: Sequence[Shape | None]) -> Shape | None:
        """Return the shape of the result; None if its rank is unknown.

        `shapes` are those of the operands, None for an unknown rank. VerifyException if they do not
        match the terms or each other. Dimensions with the same letter broadcast between operands,
        as in numpy, but must be equal within one operand.
        """
        if len(shapes) != len(self.terms):
            raise VerifyException(
                f"subscripts of {len(self.terms)} operands, but there are {len(shapes)}"
            )
        sizes: dict[str, int] = {}
        rest: Shape | None = ()  # the dimensions of the ellipsis, None if their number is unknown
        for term, shape in zip(self.terms, shapes, strict=True):
            if shape is None:
                rest = None if _ELLIPSIS in term else rest
                term = term.replace(_ELLIPSIS, "")
                shape = (DYNAMIC_INDEX,) * len(term)
            own: dict[str, int] = {}
            for letter, part in _parts(term, shape):
                if letter != _ELLIPSIS:
                    _note(own, letter, part[0], _same)
                elif rest is not None:
                    rest = broadcast(rest, part)
            for letter, size in own.items():
                _note(sizes, letter, size, broadcast_dimension)
        if rest is None and _ELLIPSIS in self.output:
            return None
        known = {letter: (size,) for letter, size in sizes.items()} | {_ELLIPSIS: rest or ()}
        return tuple(size for letter in self.output for size in known[letter])

    @staticmethod
    def dimensions(term: str, rank: int) -> list[str]:
        """Return a name for each dimension of a tensor of that rank with that term.

        A dimension of an ellipsis is named by its position counted from the last one, so that
        names match between operands of different rank: `.1`, `.0`. The names are fewer or more than
        `rank` if the term does not fit.
        """
        names: list[str] = []
        for letter in term:
            if letter == _ELLIPSIS:
                names += [f".{i}" for i in reversed(range(_ellipsis_rank(term, rank)))]
            else:
                names.append(letter)
        return names


def _parts(term: str, shape: Shape) -> Iterator[tuple[str, Shape]]:
    """Yield each letter of a term with the dimensions that it stands for; VerifyException if the
    term does not fit the shape."""
    ellipsis = _ellipsis_rank(term, len(shape))
    if ellipsis < 0 or (ellipsis != 1 and _ELLIPSIS not in term):
        text = term.replace(_ELLIPSIS, "...")
        raise VerifyException(f'subscripts "{text}" do not fit shape {shape_text(shape)}')
    start = 0
    for letter in term:
        end = start + (ellipsis if letter == _ELLIPSIS else 1)
        yield letter, shape[start:end]
        start = end


def _ellipsis_rank(term: str, rank: int) -> int:
    """Return how many dimensions of a tensor of that rank the ellipsis of a term stands for."""
    return rank - (len(term) - 1)


def _note(
    sizes: dict[str, int], letter: str, size: int, rule: Callable[[int, int], int | None]
) -> None:
    """Record the size of an index; `rule` combines it with the size recorded before.

    VerifyException if the rule returns None: the sizes are incompatible.
    """
    if (combined := rule(sizes.get(letter, size), size)) is None:
        raise VerifyException(f"index {letter} has size {sizes[letter]} and {size}")
    sizes[letter] = combined


def _same(a: int, b: int) -> int | None:
    """Return the size of two dimensions that must be equal; None if they are not."""
    # DYNAMIC_INDEX is below 0: the greater one is the known one.
    return max(a, b) if a == b or DYNAMIC_INDEX in (a, b) else None


def _name(letter: str) -> str:
    return "the ellipsis" if letter == _ELLIPSIS else letter


@irdl_op_definition
class MatmulOp(ScaleAxisRule, Anchor, OneResultOp):
    """The product of matrices, vectors, or batches of matrices (`numpy.matmul`, ONNX MatMul).

    Sums have the element type `out_dtype`, by default that of the operands.
    """

    name = "relax.matmul"

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)
    out_dtype = opt_type_prop()

    def infer_types(self) -> Sequence[Attribute]:
        lhs, rhs = tensor_type(self.lhs), tensor_type(self.rhs)
        if self.out_dtype is None:
            return (combine(matmul, lhs, rhs),)
        element = product_element(lhs, rhs, self.out_dtype)
        shapes = shape_of(lhs), shape_of(rhs)
        known = None if shapes[0] is None or shapes[1] is None else matmul(shapes[0], shapes[1])
        return (make_tensor_type(element, known),)

    def scale_result(self, axes: Axes) -> Scaling | None:
        return Scaling({1: axes}) if self._scales(axes) else None

    def scale_operand(self, index: int, axes: Axes) -> Scaling | None:
        if index or not self._scales(axes):
            return None
        return Scaling({1: (-2,) if axes else ()})

    def _scales(self, axes: Axes) -> bool:
        """Return whether a scale along `axes` is one number, or runs along columns of matrices."""
        shapes = [shape_of(tensor_type(operand)) for operand in self.operands]
        return not axes or (axes == (-1,) and all(shape and len(shape) > 1 for shape in shapes))


@irdl_op_definition
class EinsumOp(Anchor, OneResultOp):
    """The Einstein summation `subscripts`, such as `ij,jk->ik` (`numpy.einsum`, ONNX Einsum).

    An ellipsis in an operand must also be in the output.
    """

    name = "relax.einsum"

    args = var_operand_def(TENSOR)
    subscripts = string_prop()

    def infer_types(self) -> Sequence[Attribute]:
        types = [tensor_type(operand) for operand in self.args]
        if not types:
            raise VerifyException("expected at least one operand")
        for type in types:
            check_number(type)
            check_same_element(types[0].element_type, type.element_type)
        shape = Subscripts.parse(self.subscripts).infer([shape_of(type) for type in types])
        return (with_shape(types[0], shape),)


@irdl_op_definition
class DenseOp(ScaleAxisRule, Anchor, OneResultOp):
    """The product of `data` with the transpose of the matrix `weight` (Relay nn.dense).

    The last dimension of `data` is contracted. Sums have the element type `out_dtype`, by default
    that of the operands.
    """

    name = "relax.nn.dense"

    data = operand_def(TENSOR)
    weight = operand_def(TENSOR)
    out_dtype = opt_type_prop()

    def infer_types(self) -> Sequence[Attribute]:
        data, weight = tensor_type(self.data), tensor_type(self.weight)
        element = product_element(data, weight, self.out_dtype)
        matrix = shape_of_rank("weight has", weight, 2)
        if (shape := shape_of(data)) is not None:
            if not shape:
                raise VerifyException("data is a scalar, expected at least one dimension")
            if merge(shape[-1:], matrix[1:]) is None:
                raise VerifyException(
                    f"data has {shape[-1]} elements along its last dimension, "
                    f"but weight has {matrix[1]}"
                )
            shape = (*shape[:-1], matrix[0])
        return (make_tensor_type(element, shape),)

    def scale_result(self, axes: Axes) -> Scaling | None:
        return Scaling(weights={1: Along((-2,) if axes else ())}) if axes in ((), (-1,)) else None

    def scale_operand(self, index: int, axes: Axes) -> Scaling | None:
        return None if index or axes not in ((), (-1,)) else Scaling(weights={1: Along(axes)})


@irdl_op_definition
class BatchMatmulOp(Anchor, OneResultOp):
    """The products of matrices, or of batches of them, which may be transposed.

    `transpose_a` and `transpose_b` transpose the matrices of an operand; batch dimensions
    broadcast. Source: Relay nn.batch_matmul, which has one batch dimension.
    """

    name = "relax.nn.batch_matmul"

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)
    transpose_a = bool_prop(False)
    transpose_b = bool_prop(True)
    out_dtype = opt_type_prop()

    def infer_types(self) -> Sequence[Attribute]:
        lhs, rhs = tensor_type(self.lhs), tensor_type(self.rhs)
        element = product_element(lhs, rhs, self.out_dtype)
        a = _as_multiplied("lhs", lhs, self.transpose_a)
        b = _as_multiplied("rhs", rhs, self.transpose_b)
        known = None if a is None or b is None else matmul(a, b)
        return (make_tensor_type(element, known),)


def _as_multiplied(name: str, type: Tensor, transposed: bool) -> Shape | None:
    """Return the shape of a batch of matrices, or of their transposes; None if it is unranked.

    VerifyException if operand `name` is no matrix.
    """
    if (shape := shape_of(type)) is None:
        return None
    if len(shape) < 2:
        raise VerifyException(
            f"{name} has shape {shape_text(shape)}, expected at least 2 dimensions"
        )
    *batch, rows, columns = shape
    return (*batch, columns, rows) if transposed else shape
