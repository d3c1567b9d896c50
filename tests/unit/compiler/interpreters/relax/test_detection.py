"""The semantics of non_max_suppression, with onnxruntime as the reference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto
from support.models.against_ort import agrees_with_onnxruntime
from support.models.from_text import Array, imported, model_of
from support.models.from_text import run as run_model
from support.operations.evaluation import constant, run
from xdsl.dialects.builtin import f32, i64
from xdsl.utils.exceptions import InterpretationError

from passline.dialects.relax.data.detection import NonMaxSuppressionOp

BOX = [[[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 2.0], [2.0, 2.0, 4.0, 4.0]]]


def model(centered: int, lowest: str = ", lowest") -> ModelProto:
    return model_of(
        f"""g (float[B, N, 4] boxes, float[B, C, N] scores, int64[1] most, float[1] iou
            {", float[1] lowest" if lowest else ""}) => (int64[M, 3] y) {{
            y = NonMaxSuppression <center_point_box = {centered}> (boxes, scores, most, iou{lowest})
        }}""".replace("\n", " ")
    )


def arrays(seed: int, ties: bool) -> dict[str, Array]:
    """Return random boxes; with `ties` many boxes, areas and scores are equal, and some boxes are
    flipped or empty."""
    random = np.random.default_rng(seed)
    batch, classes, count = random.integers(1, 4), random.integers(1, 4), random.integers(1, 40)
    boxes, scores = random.random((batch, count, 4)), random.random((batch, classes, count))
    if ties:
        boxes, scores = np.round(boxes * 4), np.round(scores * 4) / 4
    return {
        "boxes": boxes.astype(np.float32),
        "scores": scores.astype(np.float32),
        "most": np.array([random.integers(0, 12)]),
        "iou": np.array([random.choice([0, 0.25, 0.5, 1 / 3, 1])], np.float32),
        "lowest": np.array([random.choice([-1, 0, 0.25, 0.5])], np.float32),
    }


@pytest.mark.parametrize("centered", [0, 1])
def test_against_onnxruntime(centered: int, tmp_path: Path):
    sets = [arrays(seed, bool(seed % 2)) for seed in range(60)]
    agrees_with_onnxruntime(model(centered), tmp_path, *sets)
    assert sum(len(run_model(imported(model(centered)), *s.values())[0]) for s in sets) > 500


def test_without_a_threshold_of_scores_all_count(tmp_path: Path):
    given = arrays(1, True)
    given.pop("lowest")
    given["scores"][..., 0] = -np.inf
    agrees_with_onnxruntime(model(0, ""), tmp_path, given)


def test_the_first_of_equal_scores_is_selected_first():
    scores = constant([[[0.5, 0.5, 0.5]]], f32)
    limit, threshold = constant(3, i64), constant(0.5, f32)
    result = run(NonMaxSuppressionOp(constant(BOX, f32), scores, limit, threshold))
    assert result.tolist() == [[0, 0, 0], [0, 0, 2]]


def test_a_threshold_that_is_no_share():
    operands = constant(BOX, f32), constant([[[1, 2, 3]]], f32), constant(3, i64)
    with pytest.raises(InterpretationError, match=r"iou_threshold is 1.5, expected 0 to 1"):
        run(NonMaxSuppressionOp(*operands, constant(1.5, f32)))
