"""The pipelines of the levels of optimization, in stages."""

from __future__ import annotations

from ..passmanager.stages import Stages

__all__ = ["LOWER_TO_LLVM", "LOWER_TO_MLIR", "LOWER_TO_TIR", "OPTIMIZE", "PIPELINES"]


# The pipelines: their stages in order, the passes of each, and why they stand there. A stage is an
# extension point: passes of other projects name it by `stage`, `after` or `before`.


OPTIMIZE = Stages(
    {
        "import": (
            # First: most other passes look at one function at a time.
            'inline{default-pipeline=""}',
            "infer-type",
            "fake-quantization-to-integer",  # before fold-constant, which dequantizes constants
            # With canonicalize-ops: fewer kinds of operations for later passes.
            "simplify-inference",
            "canonicalize-ops",
        ),
        "fold": (
            # Folding makes shapes constant, so that operations become static and the length of
            # loops is known; this in turn makes further shapes constant, which can be folded.
            # Shapes that stay unknown are compared by their names.
            "fixpoint(sequential{opt-level=2}("
            "fold-constant,dynamic-to-static,unroll-loops,fold-symbolic-shapes))",
        ),
        "simplify": (
            "cancel-transposes",  # before the passes that look for operations next to each other
            "fold-explicit-padding",  # after dynamic-to-static, which makes widths known
            # Before simplify-expr and fold-scale-axis, which change the forms; after folding, which
            # finds the scales of attention.
            "recognize-ops",
            "simplify-expr",  # after fold-constant, as it merges constants
            "fold-scale-axis",  # after simplify-expr, which merges adjacent scales
            "combine-parallel-conv2d",  # after fold-scale-axis, which makes the branches alike
            "flatten-concatenate",
            # After the passes that know `matmul`, and fold-scale-axis, which scales its weights.
            "fuse-transpose-matmul",
        ),
        "cleanup": (
            "eliminate-common-subexpr",  # after the passes that make operations equal
            "remove-unused-parameters",
            "dead-code-elimination",  # earlier passes leave unused operations behind
        ),
        "layout": (
            "alter-op-layout",  # after the passes that know the layout NCHW alone
        ),
        "fuse": (
            "preallocate-collections",  # after unroll-loops, which leaves the loops that are long
            "fuse-ops",  # last: no other pass looks into a primitive function
        ),
    }
)
"""The pipeline `optimize`, which `-O0` to `-O3` run too; the level selects the passes that run."""

LOWER_TO_TIR = Stages(
    {
        "legalize": (
            "to-a-normal-form",  # legalize-ops leaves dataflow graphs alone
            "preallocate-collections",
            "legalize-ops",
        ),
        "memory": ("plan-memory",),
    }
)
"""The pipeline `lower-to-tir`."""

LOWER_TO_MLIR = Stages(
    {
        "loops": (
            "tir-use-assume-to-reduce-branches",
            "tir-remove-assume",  # after the pass that needs them: they are operations in loops
            "tir-parallelize",  # before partition: it needs the conditions of the loops
            # Before vectorization: only the tail of a loop keeps its guards, and needs masks.
            "tir-loop-partition{partition-const-loop=true}",
            "tir-vectorize-loop{enable-buffer-level-predication=true}",
            "tir-simplify",
            "tir-remove-no-op",
            # After the passes that look at each operation, so that they do so once and not for each
            # copy. What the copies have in common is left to the next pass.
            "tir-unroll-loop",
            "tir-common-subexpr-elim",
            "tir-outline-parallel",  # after vectorization, which needs constant bounds
        ),
        "storage": (
            # After vectorization: it rejects loops still marked `vectorized`.
            "tir-storage-rewrite",
        ),
        "lower": ("lower-tir",),
    }
)
"""The pipeline `lower-to-mlir`: transforms loops as their kinds say, then lowers."""

LOWER_TO_LLVM = Stages(
    {
        "control-flow": (
            "lower-scf",  # first: blocks have one value for each part of a buffer, regions have not
        ),
        "operations": (
            "lower-memref",
            "lower-vector",
            "lower-math",
            "lower-arith",  # after the passes that need to see constants
        ),
        "functions": ("lower-func",),
    }
)
"""The pipeline `lower-to-llvm`: from MLIR's dialects to the dialect llvm."""

PIPELINES = {
    "lower-to-llvm": LOWER_TO_LLVM,
    "lower-to-mlir": LOWER_TO_MLIR,
    "lower-to-tir": LOWER_TO_TIR,
    "optimize": OPTIMIZE,
}
"""The named pipelines."""
