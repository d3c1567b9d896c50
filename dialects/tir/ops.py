"""All operations of the dialect; each family is defined in a file of its own."""

from __future__ import annotations

from .functions import OUTPUTS, CallOp, PrimFuncOp, output_count
from .lanewise import Dp4aOp, LanewiseOp, PrefetchOp
from .launch import LaunchOp
from .loops import AssumeOp, ForKind, ForKindAttr, ForOp, LikelyOp, YieldOp

__all__ = [
    "OUTPUTS",
    "AssumeOp",
    "CallOp",
    "Dp4aOp",
    "ForKind",
    "ForKindAttr",
    "ForOp",
    "LanewiseOp",
    "LaunchOp",
    "LikelyOp",
    "PrefetchOp",
    "PrimFuncOp",
    "YieldOp",
    "output_count",
]
