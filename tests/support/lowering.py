"""Random pipelines from tensors to machine code, with comparisons of the results on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from support.laws import run
from support.networks import Network

from passline.passes import LOWER_TO_MLIR
from passline.passmanager import PassContext
from passline.passmanager.ir.verifier import verify
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context
from passline.tools.native import compile_module
from passline.tools.roundtrip import verify_roundtrip

__all__ = ["Lowering", "Mismatch", "check_lowering", "random_lowering"]


class Mismatch(Exception):
    """A result that differs from the network's by more than rounding errors explain."""


@dataclass(frozen=True)
class Lowering:
    """A pipeline of passes and named pipelines, from tensors towards MLIR's dialects."""

    on_tensors: tuple[str, ...]
    on_buffers: tuple[str, ...]
    roundtrip_after: int
    """The index of the pass after which the module is printed and parsed."""

    def __str__(self) -> str:
        return ",".join((*self.on_tensors, *self.on_buffers))


def random_lowering(random: Random) -> Lowering:
    """Draw a variation of the default lowering: other options, passes of no named pipeline, and an
    end at any pass, from where `compile_module` completes it."""
    relax = random.choice([["optimize"]] * 4 + [[], ["fuse-ops{fuse-opt-level=0}"]])
    tir = [*LOWER_TO_MLIR]
    partition = random.choice([tir[0], tir[0], "tir-loop-partition", "tir-simplify"])
    tir[0] = partition
    for name, place in (
        ("tir-inject-double-buffer", 3),
        ("tir-flatten-buffer", random.choice([0, 1, 3, 6])),
        ("tir-hoist-if-then-else", random.choice([0, 1, 2])),
        ("tir-simplify", 0),
    ):
        if random.random() < 0.3:
            tir.insert(place, name)
    target = random.choice(["x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"])
    on_tensors = (*relax, f"legalize-ops{{target={target}}}")
    on_buffers = ("plan-memory", *tir)
    roundtrip_after = random.randint(0, len(on_tensors) + len(tir))
    end = random.randint(0, len(tir)) if random.random() < 0.3 else len(on_buffers)
    return Lowering(on_tensors, on_buffers[:end], roundtrip_after)


def check_lowering(network: Network, lowering: Lowering, each: bool = False) -> None:
    """Lower the network, and compare its results on the way and by machine code at the end.

    The interpreter computes them after each pass on tensors except `legalize-ops`; with `each`
    after all passes except `lower-tir`. Errors: Mismatch if a result differs; errors of passes,
    verification and parsing.
    """
    ctx = make_ir_context()
    module = network.module.clone()

    def interpreted() -> Sequence[object]:
        return run(module, "main", network.arguments)

    for i, stage in enumerate([*lowering.on_tensors, *lowering.on_buffers]):
        with PassContext(opt_level=3):
            parse_pipeline(stage).apply(ctx, module)
        verify(module)
        if i == lowering.roundtrip_after:
            verify_roundtrip(module, ctx)
        if (each and stage != "lower-tir") or i < len(lowering.on_tensors) - 1:
            compare(network, interpreted, f"after {stage}")
    compare(network, lambda: compile_module(module)(*network.arguments), "as machine code")


def compare(network: Network, function: Callable[[], Sequence[object]], when: str) -> None:
    with np.errstate(all="ignore"):
        actual = function()
    for i, (expected, tolerance) in enumerate(
        zip(network.results, network.tolerances, strict=True)
    ):
        try:
            np.testing.assert_allclose(np.asarray(actual[i]), expected, 0, tolerance, strict=True)
        except AssertionError as error:
            raise Mismatch(f"result {i} {when}: {error}") from error
