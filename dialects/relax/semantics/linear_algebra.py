"""What operations of linear algebra compute."""

from __future__ import annotations

import numpy as np

from .. import linear_algebra as ops
from .table import Semantics, on_arrays

__all__ = ["LINEAR_ALGEBRA"]

LINEAR_ALGEBRA: Semantics = {ops.MatmulOp: on_arrays(np.matmul)}
