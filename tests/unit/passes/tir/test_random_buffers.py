"""The laws of passes on random functions that allocate, fill, combine and read buffers."""

from __future__ import annotations

from random import Random

import pytest
from support.budget import some
from support.loops import Buffers
from support.passes.results import compare

from passline.passmanager import PassContext
from passline.passmanager.ir.changes import Snapshot
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.verifier import verify
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context

PASSES = (
    "tir-storage-rewrite",
    "tir-storage-rewrite{merge-static-smem}",
    "tir-flatten-buffer",
    "tir-flatten-buffer,tir-storage-rewrite",
    "tir-inject-double-buffer",
    "tir-inject-double-buffer{split-loop=0}",
    "tir-inject-double-buffer{split-loop=4},tir-flatten-buffer,tir-storage-rewrite",
)


@pytest.mark.parametrize("seed", some(range(40), 2))
def test_passes_keep_what_is_computed(seed: int) -> None:
    text = Buffers(Random(seed), "f").text
    pipeline = PASSES[seed % len(PASSES)]
    ctx = make_ir_context()
    module = parse_module(ctx, text, "f.mlir")
    before = module.clone()
    sequential = parse_pipeline(pipeline)
    with PassContext(opt_level=4):
        sequential.apply(ctx, module)
        verify(module)
        assert compare(before, module)
        snapshot = Snapshot(module)
        sequential.apply(ctx, module)
    assert not snapshot.update(), f"a second run of {pipeline} changes the result"
