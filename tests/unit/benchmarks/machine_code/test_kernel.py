"""The work of a kernel, by which its rate is computed."""

from __future__ import annotations

import numpy as np
from machine_code.kernel import Kernel, KernelModel, Node, Weight, kernel
from support.tables import table_test


@table_test(
    ("timed", "shape", "flops"),
    [
        (kernel("", "MatMul", (2, 3), (3, 5)), (2, 5), 2 * 2 * 3 * 5),
        (kernel("", "MatMul", Weight((2, 3)), (3, 5)), (2, 5), 2 * 2 * 3 * 5),
        (kernel("", "Gemm", (3, 2), (3, 5), transA=1), (2, 5), 2 * 2 * 3 * 5),
        (
            kernel(
                "",
                "Conv",
                (1, 4, 7, 7),
                Weight((8, 4, 3, 3)),
                then=(Node("Add", ((1, 8, 5, 5),)),),
            ),
            (1, 8, 5, 5),
            2 * (8 * 5 * 5) * (4 * 3 * 3),
        ),
        (kernel("", "ConvTranspose", (1, 4, 5, 5), Weight((4, 8, 2, 2))), (1, 8, 6, 6), 6400),
        (kernel("", "Add", (2, 3), (3,)), (2, 3), None),
    ],
)
def test_flops_are_those_of_the_first_node(
    timed: Kernel, shape: tuple[int, ...], flops: int | None
):
    assert KernelModel(timed).flops(np.zeros(shape, np.float32)) == flops


def test_traffic_is_what_is_read_and_written():
    result = np.zeros((2, 3), np.float32)
    assert KernelModel(kernel("", "Add", (2, 3), (3,))).traffic(result) == 4 * (6 + 3 + 6)
    part = kernel("", "Slice", (100, 3), [0], [2], [0])
    assert KernelModel(part).traffic(result) == 2 * 4 * 6
