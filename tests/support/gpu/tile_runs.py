"""Checks of tile programs against the semantics of the operations that they compute."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import floordiv
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

import passline
from passline.compiler.interpreters.arrays import dtype_of
from passline.compiler.interpreters.cuda_tile.grid import run_entry
from passline.compiler.kernels.gpu.tile_builder import TileKernel
from passline.compiler.kernels.gpu.tile_kernels import tile_kernel_of
from passline.dialects.target import Target
from passline.dialects.tir.launch import LaunchOp

__all__ = ["check_tiles", "kernel_of_text", "run_kernel"]

Array = NDArray[Any]


def kernel_of_text(text: str, target: str = "sm_90") -> tuple[ModuleOp, TileKernel]:
    """Return a module with one function, and its tile program; AssertionError if it has none."""
    module = passline.load(text)
    (func,) = module.body.block.ops
    assert isinstance(func, FuncOp)
    kernel = tile_kernel_of(func, Target(target), elementwise)
    assert kernel is not None, f"there is no tile program for\n{text}"
    for entry in kernel.entries:
        entry.verify()
    return module, kernel
