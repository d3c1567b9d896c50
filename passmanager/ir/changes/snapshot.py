"""Snapshots of a module, which find all changes made since, whoever made them."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from ..op_classes import OpClasses
from .changes import Changes, compare
from .record import Record

__all__ = ["Snapshot"]


class Snapshot:
    """The state of a module at one time, to be compared with a later one.

    It keeps references to everything recorded, so that the `id` of an erased object is not reused.
    """

    def __init__(self, module: ModuleOp) -> None:
        self._module = module
        self._record = Record(module)
        self._op_classes: OpClasses | None = None

    @property
    def op_classes(self) -> OpClasses:
        """The classes of the ops in the module at that time."""
        if self._op_classes is None:
            self._op_classes = self._record.op_classes()
        return self._op_classes

    def update(self) -> Changes:
        """Return the changes since the snapshot was taken or last updated, and take a new one."""
        old, new = self._record, Record(self._module)
        self._record = new
        # The common case, in C: most passes of a pipeline change nothing.
        if new.same_as(old):
            return Changes()
        self._op_classes = None
        return compare(self._module, old, new)
