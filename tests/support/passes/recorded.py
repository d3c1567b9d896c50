"""Records of runs on toy IR, as lines and as recordings."""

from __future__ import annotations

from contextlib import suppress

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from passline.passmanager import PassContext, Sequential
from passline.passmanager.instruments import RecordInstrument
from passline.passmanager.report.recording import Recording, read_recording

from .toy import module

__all__ = ["record_of", "recording_of"]


def record_of(*passes: ModulePass, ir: ModuleOp | None = None) -> RecordInstrument:
    """Return the record of a run of `passes`, up to the failure of one with ValueError."""
    record = RecordInstrument(title="toy.mlir")
    with suppress(ValueError), PassContext(instruments=[record], remark_filter={"all": ""}):
        Sequential(passes)(ir or module("f", "g"))
    return record


def recording_of(*passes: ModulePass, ir: ModuleOp | None = None) -> Recording:
    """Return what is read of the record of a run of `passes`."""
    return read_recording(record_of(*passes, ir=ir).lines)
