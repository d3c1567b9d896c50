"""tir: functions on buffers, and loops; buffers are `memref`, scalars `arith` and `math`."""

from __future__ import annotations

from xdsl.ir import Dialect

from .ops import (
    AssumeOp,
    CallOp,
    Dp4aOp,
    ForKindAttr,
    ForOp,
    LanewiseOp,
    LaunchOp,
    LikelyOp,
    PrefetchOp,
    PrimFuncOp,
    YieldOp,
)

__all__ = ["Tir"]

Tir = Dialect(
    "tir",
    [
        AssumeOp,
        CallOp,
        Dp4aOp,
        ForOp,
        LanewiseOp,
        LaunchOp,
        LikelyOp,
        PrefetchOp,
        PrimFuncOp,
        YieldOp,
    ],
    [ForKindAttr],
)
