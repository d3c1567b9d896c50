"""The laws of passes, checked on each case of their FileCheck files: the result is valid, a
second run changes nothing, functions whose ops have semantics compute the same as before, and those
that a line `// UNCHANGED: @name` names are as they were. A line `// COMPARED: @name` names one that
must have been compared."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import ParseError

from passline.passes import REPLACEMENTS
from passline.passmanager import PassContext, PasslineError
from passline.passmanager.ir.changes import Snapshot
from passline.passmanager.ir.text.parser import parse_module, split_chunks
from passline.passmanager.ir.verifier import verify
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import installed, make_ir_context

from ..needs_numpy import HAS_NUMPY
from ..suites.inprocess import passline_opt

if TYPE_CHECKING:
    from passline.instruments import SemanticsInstrument

__all__ = ["check_laws", "check_printed", "pipeline_of"]


def pipeline_of(line: str) -> str | None:
    """Return the pipeline that a RUN line gives to passline-opt; None if it gives none or
    expects a failure."""
    words = shlex.split(line.split("|")[0])
    if "passline-opt" not in words or words[0] == "not" or "-p" not in words:
        return None
    return words[words.index("-p") + 1]


MAX_STEPS = 1 << 12
"""The budget of a function for the comparison of results."""


def comparison() -> list[SemanticsInstrument]:
    """Return the instrument that compares results with those before each pass. Without numpy there
    is none: in the environment of the infrastructure alone, the other laws are checked."""
    if not HAS_NUMPY:
        return []
    from passline.instruments import SemanticsInstrument

    return [SemanticsInstrument(max_steps=MAX_STEPS)]


def check_laws(path: Path, pipeline: str) -> None:
    """Check the laws on each chunk of the file."""
    for chunk, line in split_chunks(path.read_bytes()):
        ctx = make_ir_context(allow_unregistered=True)
        try:
            module = parse_module(ctx, chunk.decode(), str(path), line_offset=line)
        except ParseError as error:
            raise AssertionError(str(error)) from error
        before = module.clone()
        instruments = comparison()
        with PassContext(opt_level=4, instruments=instruments):
            # As passline-opt does: `canonicalize` is Passline's own.
            sequential = parse_pipeline(pipeline, installed().passes | REPLACEMENTS)
            try:
                sequential.apply(ctx, module)
            except PasslineError as error:
                if hasattr(error, "difference"):  # a SemanticsError
                    raise
                continue  # a case that shows an error; its CHECK lines say which
        verify(module)
        for instrument in instruments:
            for name in re.findall(r"^ *// COMPARED: @(\S+)$", chunk.decode(), re.MULTILINE):
                reason = instrument.unchecked.get(name, "no pass changed it")
                assert name in instrument.checked, f"@{name} was not compared: {reason}"
        for name in re.findall(r"^ *// UNCHANGED: @(\S+)$", chunk.decode(), re.MULTILINE):
            shown = str(SymbolTable.lookup_symbol(module, name))
            assert shown == str(SymbolTable.lookup_symbol(before, name)) != "None", (
                f"{pipeline} changes @{name} to\n{shown}"
            )
        snapshot = Snapshot(module)
        with PassContext(opt_level=4):
            sequential.apply(ctx, module)
        assert not snapshot.update(), f"a second run of {pipeline} changes the result of\n{before}"


def check_printed(path: Path, pipelines: Iterable[str]) -> None:
    """Check that the paragraphs of a file without CHECK lines are printed as they stand there, also
    after each of the pipelines."""
    paragraphs = path.read_text().split("\n\n")
    for arguments in ((), *(("-p", pipeline) for pipeline in pipelines)):
        shown = passline_opt(str(path), *arguments).stdout
        printed = re.sub("^  ", "", shown, flags=re.MULTILINE)
        for paragraph in paragraphs:
            lines = [line for line in paragraph.splitlines() if not line.startswith("//")]
            text = "\n".join(lines)
            assert "// CHECK" in paragraph or text in printed, f"{text}\nis printed in\n{printed}"
