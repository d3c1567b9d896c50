"""The options of MLIR's passes that the passes of the same names here do not have."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["MLIR_OPTIONS"]

MLIR_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "canonicalize": (
        "disable-patterns",
        "enable-patterns",
        "max-iterations",
        "max-num-rewrites",
        "region-simplify",
        "test-convergence",
        "top-down",
    ),
    "convert-scf-to-cf": ("allow-pattern-rollback",),
    "convert-scf-to-openmp": ("num-threads",),
    "gpu-map-parallel-loops": ("mapping-policy",),
    "inline": ("default-pipeline", "inlining-threshold", "max-iterations", "op-pipelines"),
    "print-ir": ("label",),
    "scf-parallel-loop-tiling": ("no-min-max-bounds",),
    "transform-interpreter": (
        "debug-bind-trailing-args",
        "debug-payload-root-tag",
        "disable-expensive-checks",
    ),
}
"""Pass -> the options that `mlir-opt` (LLVM 22) lists for it. The reproducers of `mlir-opt` give
all options of a pass, and those that have no meaning here are ignored with a warning.
"""
