"""Operations on detected boxes: non_max_suppression."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def
from xdsl.utils.exceptions import VerifyException

from ..attributes import bool_prop
from ..base import OneResultOp
from ..types import TENSOR, check_float, shape_of_rank, tensor_type
from .creation import check_scalar

__all__ = ["NonMaxSuppressionOp"]


@irdl_op_definition
class NonMaxSuppressionOp(OneResultOp):
    """The boxes of each batch and class that overlap no selected box of a higher score (ONNX
    NonMaxSuppression).

    `boxes` is `batch x boxes x 4`: two opposite corners y, x, y, x, or with `center_point_box`
    the center and the size x, y, width, height. `scores` is `batch x classes x boxes`. Boxes are
    selected in descending order of their scores, the first of equal ones first, at most
    `max_output_boxes` of a class, if their score is above `score_threshold` and the intersection
    over union with each selected box is at most `iou_threshold`. A row of the result has the
    indices of the batch, the class and the box.
    """

    name = "relax.vision.non_max_suppression"

    boxes = operand_def(TENSOR)
    scores = operand_def(TENSOR)
    max_output_boxes = operand_def(TENSOR)
    iou_threshold = operand_def(TENSOR)
    score_threshold = opt_operand_def(TENSOR)
    center_point_box = bool_prop(False)

    def infer_types(self) -> Sequence[Attribute]:
        boxes, scores = tensor_type(self.boxes), tensor_type(self.scores)
        check_float(boxes)
        if boxes.element_type != scores.element_type:
            raise VerifyException(
                f"boxes are {boxes.element_type}, but scores are {scores.element_type}"
            )
        corners = shape_of_rank("boxes have", boxes, 3)
        numbers = shape_of_rank("scores have", scores, 3)
        if corners[2] not in (4, DYNAMIC_INDEX):
            raise VerifyException(f"boxes have {corners[2]} coordinates, expected 4")
        for what, a, b in (("batches", 0, 0), ("boxes", 1, 2)):
            if DYNAMIC_INDEX not in (corners[a], numbers[b]) and corners[a] != numbers[b]:
                raise VerifyException(
                    f"{corners[a]} {what} of coordinates, but {numbers[b]} {what} of scores"
                )
        check_scalar(self.max_output_boxes, i64)
        check_scalar(self.iou_threshold, boxes.element_type)
        if self.score_threshold is not None:
            check_scalar(self.score_threshold, boxes.element_type)
        return (TensorType(i64, (DYNAMIC_INDEX, 3)),)
