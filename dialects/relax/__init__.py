"""relax: operations on whole tensors, on builtin tensor types."""

from __future__ import annotations

from xdsl.ir import Dialect

from .constant import ConstantOp, FullOp, MaterializeConstant
from .elementwise import (
    AbsOp,
    AddOp,
    DivideOp,
    ExpOp,
    LogOp,
    MaximumOp,
    MinimumOp,
    MultiplyOp,
    NegativeOp,
    PowerOp,
    ReluOp,
    SigmoidOp,
    SqrtOp,
    SubtractOp,
    TanhOp,
)
from .linear_algebra import MatmulOp
from .manipulation import LayoutTransformOp

__all__ = ["Relax"]

Relax = Dialect(
    "relax",
    [
        ConstantOp,
        FullOp,
        AbsOp,
        NegativeOp,
        ExpOp,
        LogOp,
        SqrtOp,
        TanhOp,
        SigmoidOp,
        ReluOp,
        AddOp,
        SubtractOp,
        MultiplyOp,
        DivideOp,
        MaximumOp,
        MinimumOp,
        PowerOp,
        MatmulOp,
        LayoutTransformOp,
    ],
    [],
    [MaterializeConstant()],
)
