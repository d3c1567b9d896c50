"""BindTarget: a module carries the processor that its kernels are made for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from xdsl.dialects.builtin import ModuleOp

from ...dialects.target import DEFAULT, Target, has_target, set_target, target_of
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext


@dataclass(frozen=True)
class BindTarget(ModulePass):
    """Attach a target to the module, for which later passes schedule kernels; source:
    `tir.BindTarget`.

    Before:

        tir.prim_func @f(%x: memref<8xf32>) {
        }

    After:

        builtin.module attributes {tir.target = "x86-64-v3"} {
          tir.prim_func @f(%x: memref<8xf32>) {
          }
        }
    """

    name = "tir-bind-target"
    before = ("legalize-ops",)

    target: str = ""
    """The processor: x86-64, x86-64-v2, -v3, -v4, aarch64 or host, with changes in braces, as in
    x86-64-v3{cores=4}; by default that of `with Target(...)`, or x86-64-v3."""
    keep: bool = False
    """Keep the target that the module carries, or else take that of `with Target(...)`, before
    `target`."""
    cores: int = field(default=0, metadata={"minimum": 0})
    """The cores to use, in place of those of the target; 0 leaves them."""

    def __post_init__(self) -> None:
        # An invalid target is an error when the pass is made, not when it has run half of a
        # pipeline.
        if self.target:
            Target(self.target)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        if not (self.keep and has_target(module)):
            set_target(module, self.bound())
        if self.cores:
            set_target(module, replace(target_of(module), cores=self.cores))

    def bound(self) -> Target:
        """Return the target for a module whose own one is not kept."""
        entered = Target.current() if self.keep or not self.target else None
        return entered or (Target(self.target) if self.target else DEFAULT)
