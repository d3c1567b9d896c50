"""Snapshots of a module, which find all changes made since, whoever made them."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

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

    def update(self) -> Changes:
        """Return the changes since the snapshot was taken or last updated, and take a new one."""
        old, new = self._record, Record(self._module)
        self._record = new
        return Changes() if new.same_as(old) else compare(self._module, old, new)
