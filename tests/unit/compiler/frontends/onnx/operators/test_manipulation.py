"""Slices that begin before the first element."""

import numpy as np
from support.models.single_node import check
from support.pairs import pairs


def vector(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


LEAST = -(2**63)
DATA = np.arange(12, dtype=np.float32).reshape(3, 4)


@pairs(
    step=[-1, -3, 2], start=[-9, LEAST, -5, -4, -3, -1, 2, 9], constants=[(), (4,), (1, 2, 3, 4)]
)
def test_with_a_negative_step_a_slice_begins_at_the_first_element(
    start: int, step: int, constants: tuple[int, ...]
):
    end = LEAST if step < 0 else 9
    bounds = vector(start, -1), vector(end, LEAST), vector(-1, 0), vector(step, -2)
    unknown = {0: (0, 1)}
    check("Slice", DATA, *bounds, domain="", constants=constants, unknown=unknown)
