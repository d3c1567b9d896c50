"""Records of runs on toy IR, as lines and as they are read."""

from __future__ import annotations

from contextlib import suppress

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from passline.passmanager import PassContext, Sequential
from passline.passmanager.instruments import RecordInstrument
from passline.passmanager.report.record_reader import Record, read_record

from .toy import module

__all__ = ["lines_of", "record_of"]


def lines_of(*passes: ModulePass, ir: ModuleOp | None = None) -> list[str]:
    """Return the lines that record a run of `passes`, up to the failure of one with ValueError."""
    writer = RecordInstrument(title="toy.mlir")
    with suppress(ValueError), PassContext(instruments=[writer], remark_filter={"all": ""}):
        Sequential(passes)(ir or module("f", "g"))
    return writer.lines


def record_of(*passes: ModulePass, ir: ModuleOp | None = None) -> Record:
    """Return the record of a run of `passes`."""
    return read_record(lines_of(*passes, ir=ir))
