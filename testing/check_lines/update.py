"""Rewriting of the CHECK lines of a test file, so that they match what its tools print now."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from lit.LitConfig import LitConfig
from lit.Test import Test

from .merged_blocks import ConflictingChecksError, RunBlocks, merge_blocks
from .printed_blocks import check_blocks
from .run_pipelines import (
    CheckedPipeline,
    LeftAloneError,
    UpdateFailedError,
    check_again,
    checked_pipelines,
)
from .source_lines import SourceLines

__all__ = ["LeftAloneError", "UpdateFailedError", "update_checks"]

_DIAGNOSTICS = re.compile(r"expected-(?:error|warning|note|remark)|-verify-diagnostics")
_COMMENT = re.compile(r"^[ \t]*(\S*?)[ \t]*RUN:", re.MULTILINE)


def update_checks(test: Test, lit_config: LitConfig, *, requested: bool) -> bool:
    """Write CHECK lines for what the RUN lines of a test print; return whether the file changed.

    CHECK lines that a person wrote are replaced only if `requested`. The file is replaced in one
    step, once FileCheck accepts the new lines. Errors: LeftAloneError for a test that cannot have
    generated CHECK lines; UpdateFailedError if a tool fails.
    """
    path = Path(test.getSourcePath())
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError:
        raise LeftAloneError("it is not in UTF-8") from None
    if _DIAGNOSTICS.search(text):
        raise LeftAloneError("it checks diagnostics (expected-error, --verify-diagnostics)")
    with TemporaryDirectory() as name:
        folder = Path(name)
        pipelines = checked_pipelines(test, lit_config, folder)
        comment = _COMMENT.search(text)
        prefixes = {prefix for pipeline in pipelines for prefix in pipeline.prefixes}
        source = SourceLines(text, prefixes, comment[1] if comment else "")
        if source.has_checks and not source.is_generated and not requested:
            raise LeftAloneError(
                "its CHECK lines were written by hand: name the file to rewrite it"
            )
        new = _rewritten(source, pipelines, [str(path.parent), name])
        if new == text:
            return False
        (folder / path.name).write_bytes(new.encode())
        check_again(test, lit_config, pipelines, folder / path.name, folder)
    from ...passmanager.output.files import replace_file

    replace_file(path, [new])
    return True


def _rewritten(source: SourceLines, pipelines: list[CheckedPipeline], folders: list[str]) -> str:
    """Return the text of the file with CHECK lines for the output of all pipelines."""
    runs: list[RunBlocks] = []
    for number, pipeline in enumerate(pipelines):
        blocks = {block.key: block for block in check_blocks(pipeline.text, folders)}
        if not blocks:
            raise UpdateFailedError(f"the RUN line of line {pipeline.line} prints nothing")
        runs.append(RunBlocks(number, pipeline.line, pipeline.prefixes, blocks))
    sharing = {
        prefix: {other for run in runs if prefix in run.prefixes for other in run.prefixes}
        for run in runs
        for prefix in run.prefixes
    }
    chunks = max(key[0] for run in runs for key in run.blocks) + 1
    try:
        return source.rewritten(merge_blocks(runs), chunks, sharing)
    except ConflictingChecksError as error:
        raise LeftAloneError(str(error)) from None
