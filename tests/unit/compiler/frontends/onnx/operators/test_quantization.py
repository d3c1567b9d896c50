"""Blocked quantization of tensors of unknown sizes, beside onnxruntime."""

import numpy as np
from support.models.single_node import check
from support.pairs import pairs


@pairs(block=[2, 3], unknown=[{0: (2,)}, dict.fromkeys(range(3), (0, 1, 2))], axis=[0, 1, -1])
def test_blocks(block: int, unknown: dict[int, tuple[int, ...]], axis: int):
    random = np.random.default_rng(block)
    shape = [6, 6, 6]
    shape[axis] //= block
    scale = random.uniform(0.5, 2, shape).astype(np.float32)
    zero = random.integers(0, 9, shape).astype(np.uint8)
    data = (30 * random.random((6, 6, 6))).astype(np.float32)
    kinds = {"QuantizeLinear": data, "DequantizeLinear": data.astype(np.uint8)}
    for op, x in kinds.items():
        check(op, x, scale, zero, domain="", opset=21, unknown=unknown, axis=axis, block_size=block)
