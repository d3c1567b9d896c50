"""The pipelines of the levels of optimization, and passes that run a named pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import ClassVar

from ..passmanager.pipeline import parse_pipeline
from ..passmanager.sequential import Sequential

__all__ = [
    "LOWER_TO_LLVM",
    "LOWER_TO_MLIR",
    "LOWER_TO_TIR",
    "OPTIMIZE",
    "PIPELINES",
    "NamedPipeline",
    "named_pipeline",
]


# The pipelines: their passes in order, and why they stand there.


OPTIMIZE = (
    "inline",  # first: most other passes look at one function at a time
    "infer-type",
    "fake-quantization-to-integer",  # before fold-constant, which dequantizes constants
    "simplify-inference",  # with canonicalize-ops: fewer kinds of operations for later passes
    "canonicalize-ops",
    # Folding makes shapes constant, so that operations become static and the length of loops is
    # known; this in turn makes further shapes constant, which can be folded. Shapes that stay
    # unknown are compared by their names.
    "fixpoint(sequential{opt-level=2}("
    "fold-constant,dynamic-to-static,unroll-loops,fold-symbolic-shapes))",
    "cancel-transposes",  # before the passes that look for operations next to each other
    "fold-explicit-padding",  # after dynamic-to-static, which makes widths known
    # Before simplify-expr and fold-scale-axis, which change the forms; after folding, which finds
    # the scales of attention.
    "recognize-ops",
    "simplify-expr",  # after fold-constant, as it merges constants
    "fold-scale-axis",  # after simplify-expr, which merges adjacent scales
    "combine-parallel-conv2d",  # after fold-scale-axis, which makes the branches alike
    "flatten-concatenate",
    "eliminate-common-subexpr",  # after the passes that make operations equal
    "remove-unused-parameters",
    "dead-code-elimination",  # earlier passes leave unused operations behind
    "alter-op-layout",  # after the passes that know the layout NCHW alone
    "preallocate-collections",  # after unroll-loops, which leaves the loops that are long
    "fuse-ops",  # last: no other pass looks into a primitive function
)
"""The pipeline `optimize`, which `-O0` to `-O3` run too; the level selects the passes that run."""

LOWER_TO_TIR = (
    "preallocate-collections",
    "legalize-ops",
    "plan-memory",
)
"""The pipeline `lower-to-tir`."""

LOWER_TO_MLIR = (
    "tir-parallelize",  # before partition: it needs the conditions of the loops
    # Before vectorization: only the tail of a loop keeps its guards, and needs masks.
    "tir-loop-partition{partition-const-loop=true}",
    "tir-vectorize-loop{enable-buffer-level-predication=true}",
    "tir-simplify",
    "tir-remove-no-op",
    # After the passes that look at each operation, so that they do so once and not for each copy.
    # What the copies have in common is left to the next pass.
    "tir-unroll-loop",
    "tir-common-subexpr-elim",
    "tir-outline-parallel",  # after vectorization, which needs constant bounds
    "tir-storage-rewrite",  # after vectorization: it rejects loops still marked `vectorized`
    "lower-tir",
)
"""The pipeline `lower-to-mlir`: transforms loops as their kinds say, then lowers."""

LOWER_TO_LLVM = (
    "lower-scf",  # first: blocks have one value for each part of a buffer, regions have not
    "lower-memref",
    "lower-vector",
    "lower-math",
    "lower-arith",  # after the passes that need to see constants
    "lower-func",
)
"""The pipeline `lower-to-llvm`: from MLIR's dialects to the dialect llvm."""

PIPELINES = {
    "lower-to-llvm": LOWER_TO_LLVM,
    "lower-to-mlir": LOWER_TO_MLIR,
    "lower-to-tir": LOWER_TO_TIR,
    "optimize": OPTIMIZE,
}
"""The named pipelines."""


# Named pipelines: passes that are made of other passes.


class NamedPipeline(Sequential):
    """A Sequential whose passes are given as text when the class is made."""

    passes_text: ClassVar[str]

    def __init__(self) -> None:
        super().__init__(parse_pipeline(self.passes_text).passes, name=self.name)


@cache
def named_pipeline(name: str, passes: Sequence[str]) -> type[NamedPipeline]:
    """Make the class of the pipeline `name` that runs `passes`, each given as text."""
    text = ",".join(passes)
    doc = f"Run {', '.join(passes)}."
    body = {
        "name": name,
        "passes_text": text,
        "__doc__": doc,
        "__module__": f"{__package__}.pipelines",
    }
    return type(name, (NamedPipeline,), body)
