"""Operations on decision trees: tree_leaves."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, i32
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def
from xdsl.utils.exceptions import VerifyException

from ..attributes import int_prop
from ..base import OneResultOp
from ..shapes import Shape, merge, shape_text
from ..types import TENSOR, Tensor, check_float, make_tensor_type, shape_of, tensor_type

__all__ = ["TreeLeavesOp"]


@irdl_op_definition
class TreeLeavesOp(OneResultOp):
    """The node (i32) of each tree that each row of the data reaches from the root in `depth` steps.

    A row of `nodes` has the feature that a node compares, a column of the data, and its two
    children: a step goes to the first if the feature is at most the node's element of `splits`, and
    to the second otherwise, also for NaN. A leaf is its own child. `roots` are the nodes where the
    trees begin. An index out of range is the nearest valid index.
    """

    name = "relax.tree_leaves"

    data = operand_def(TENSOR)
    nodes = operand_def(TENSOR)
    splits = operand_def(TENSOR)
    roots = operand_def(TENSOR)
    depth = int_prop()

    def infer_types(self) -> Sequence[Attribute]:
        data, splits = tensor_type(self.data), tensor_type(self.splits)
        check_float(data)
        if splits.element_type != data.element_type:
            raise VerifyException(
                f"data are {data.element_type}, but splits are {splits.element_type}"
            )
        nodes, roots = tensor_type(self.nodes), tensor_type(self.roots)
        for name, type in (("nodes", nodes), ("roots", roots)):
            if type.element_type != i32:
                raise VerifyException(f"{name} are {type.element_type}, expected i32")
        if self.depth < 0:
            raise VerifyException(f"depth is {self.depth}")
        rows, features = known_shape("data", data, (DYNAMIC_INDEX, DYNAMIC_INDEX))
        count, _ = known_shape("nodes", nodes, (DYNAMIC_INDEX, 3))
        known_shape("splits", splits, (count,))
        (trees,) = known_shape("roots", roots, (DYNAMIC_INDEX,))
        if 0 in (features, count) and 0 not in (rows, trees):
            raise VerifyException(f"there is no {'node' if count == 0 else 'feature'} to read")
        return (make_tensor_type(i32, (rows, trees)),)


def known_shape(what: str, type: Tensor, expected: Shape) -> Shape:
    """Return the shape of `type` with what is expected of it; VerifyException if both differ."""
    if (shape := shape_of(type)) is None:
        return expected
    if (merged := merge(shape, expected)) is None:
        raise VerifyException(
            f"{what} have shape {shape_text(shape)}, expected {shape_text(expected)}"
        )
    return merged
