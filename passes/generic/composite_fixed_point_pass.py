"""CompositeFixedPointPass: MLIR's spelling of `fixpoint(...)`."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp

from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.sequential import Fixpoint


@dataclass(frozen=True)
class CompositeFixedPointPass(ModulePass):
    """Run passes until they change nothing, as `fixpoint(...)` in a pipeline does.

    Source: MLIR's pass of this name. Its option `name` is ignored: here a pass has one name.
    """

    name = "composite-fixed-point-pass"

    pipeline: tuple[str, ...] = ()
    """The passes, as `canonicalize,cse`."""
    max_iterations: int = field(default=10, metadata={"minimum": 1})
    """How often to run them at most; a warning says if they still change the module then."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        from ...passmanager.pipeline import parse_pipeline

        if self.pipeline:
            passes = parse_pipeline(",".join(self.pipeline))
            Fixpoint(passes, self.max_iterations).apply(ctx.ir_context, module)
