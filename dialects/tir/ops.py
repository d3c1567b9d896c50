"""All operations of the dialect; each family is defined in a file of its own."""

from __future__ import annotations

from .body import YieldOp
from .dot_products import Dp4aOp
from .functions import OUTPUTS, CallOp, PrimFuncOp, output_count
from .lanewise import LanewiseOp
from .loops import ForKind, ForKindAttr, ForOp, LikelyOp
from .prefetch import PrefetchOp

__all__ = [
    "OUTPUTS",
    "CallOp",
    "Dp4aOp",
    "ForKind",
    "ForKindAttr",
    "ForOp",
    "LanewiseOp",
    "LikelyOp",
    "PrefetchOp",
    "PrimFuncOp",
    "YieldOp",
    "output_count",
]
