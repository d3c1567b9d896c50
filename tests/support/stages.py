"""The way from tensors to machine code, pass by pass, and what is computed on it."""

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

__all__ = ["Mismatch", "Way", "check_way", "random_way"]


class Mismatch(Exception):
    """A result that is not what the network gives."""


@dataclass(frozen=True)
class Way:
    """Passes and named pipelines, one after the other."""

    on_tensors: tuple[str, ...]
    on_buffers: tuple[str, ...]
    written: int
    """After how many of them the module is written as text and read again."""

    def __str__(self) -> str:
        return ",".join((*self.on_tensors, *self.on_buffers))


def random_way(random: Random) -> Way:
    """Mostly the usual one; with other options, or with passes that are in no pipeline."""
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
    lanes = random.choice([4, 8, 16, 16])
    way = (*relax, f"legalize-ops{{lanes={lanes}}}")
    return Way(way, ("plan-memory", *tir), random.randint(0, len(way) + len(tir)))


def check_way(network: Network, way: Way, each: bool = False) -> None:
    """Check what is computed on the way: on numpy while it is of tensors, by the interpreter then
    after each pass if `each`, and by machine code in the end.

    Mismatch if a result is another; any error of a pass, of verification or of reading back.
    """
    ctx = make_ir_context()
    module = network.module.clone()

    def by_interpreter() -> Sequence[object]:
        return run(module, "main", network.arguments)

    for i, stage in enumerate([*way.on_tensors, *way.on_buffers]):
        with PassContext(opt_level=3):
            parse_pipeline(stage).apply(ctx, module)
        verify(module)
        if i == way.written:
            verify_roundtrip(module, ctx)
        if (each and stage != "lower-tir") or i < len(way.on_tensors) - 1:
            compare(network, by_interpreter, f"after {stage}")
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
