"""The commands that an editor asks the language server to run: pipelines and tests."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from ...passmanager.errors import PasslineError
from ...passmanager.report.record_reader import Record, read_record
from . import code_actions
from .inlays import remark_hints, result_of
from .language_server import PasslineLanguageServer
from .open_file import OpenFile
from .pass_runs import Finished, RunTarget, diff, edited, edits_of, run_process, target_at
from .run_lines import RunLine, run_lines, shell_command

__all__ = ["add_commands"]


@dataclass(frozen=True)
class Asked:
    """The argument of a command: a file, and what to run on which part of it."""

    uri: str
    pipeline: str = ""
    line: int = 0
    symbol: str = ""

    @classmethod
    def of(cls, arguments: Sequence[object]) -> Asked:
        """Return the argument that a client sent; PasslineError if it is none."""
        given = arguments[0] if arguments else None
        values = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
        line = values.get("line") or 0
        if not isinstance(values.get("uri"), str) or not isinstance(line, int | float):
            raise PasslineError("the argument of the command is an object with 'uri'")
        symbol = str(values.get("symbol") or "").removeprefix("@")
        return cls(values["uri"], str(values.get("pipeline") or ""), int(line), symbol)


class Commands:
    """The commands of a server; each takes the argument that a code action sends."""

    def __init__(self, server: PasslineLanguageServer) -> None:
        self.server = server

    def telling(self, answer: Callable[[Asked], Awaitable[object]]) -> Callable[..., object]:
        """Return a command that shows the message of a PasslineError in the editor."""

        async def run(_: LanguageServer, *arguments: object) -> object:
            try:
                return await answer(Asked.of(arguments))
            except PasslineError as error:
                self.server.tell(str(error), lsp.MessageType.Error)
            return None

        return run

    async def run_pipeline(self, asked: Asked) -> bool:
        """Replace what a pipeline changes."""
        file, _, edits = await self.edits(asked)
        if not edits:
            self.server.tell(f"{asked.pipeline} changes nothing here")
            return False
        label = f"Run {asked.pipeline}"
        edit = lsp.WorkspaceEdit({file.uri: edits})
        if self.server.confirms_edits:
            noted = [lsp.AnnotatedTextEdit("passes", e.range, e.new_text) for e in edits]
            document = lsp.OptionalVersionedTextDocumentIdentifier(file.uri)
            note = lsp.ChangeAnnotation(label, True, "what the passes change")
            edit = lsp.WorkspaceEdit(
                document_changes=[lsp.TextDocumentEdit(document, [*noted])],
                change_annotations={"passes": note},
            )
        done = await self.server.workspace_apply_edit_async(
            lsp.ApplyWorkspaceEditParams(edit, label)
        )
        return done.applied

    async def preview(self, asked: Asked) -> str:
        """Return, and show, what a pipeline would change as a diff."""
        file, text, edits = await self.edits(asked)
        name = Path(to_fs_path(file.uri) or "file.mlir").name
        found = diff(name, text, edited(file.source, edits), asked.pipeline)
        if not found:
            self.server.tell(f"{asked.pipeline} changes nothing here")
        else:
            await self.server.show(f"{name}.diff", found)
        return found

    async def show_result(self, asked: Asked) -> str:
        """Return, and show, the result of a pipeline, with the passes that made operations."""
        file, record = await self.record(asked)
        result = result_of(record)
        name = Path(to_fs_path(file.uri) or "file.mlir").name
        shown = f"{name.removesuffix('.mlir')}.result.mlir"
        uri = await self.server.show(shown, result.text)
        self.server.results[uri] = result
        self.server.refresh_hints()
        return result.text

    async def show_remarks(self, asked: Asked) -> int:
        """Show the remarks of the passes of a pipeline; return how many there are."""
        file, record = await self.record(asked)
        self.server.remarks[file.uri] = hints = remark_hints(file, record)
        self.server.refresh_hints()
        self.server.tell(f"{asked.pipeline}: {len(hints)} remarks")
        return len(hints)

    async def run_test(self, asked: Asked) -> bool:
        """Run a RUN line, and say whether it passes; what it prints is shown if it fails."""
        run, done = await self.ran(asked, filtered=False)
        if done.status == 0:
            self.server.tell(f"passed: {run.command}")
            return True
        self.server.tell(f"failed: {run.command}: {done.says}", lsp.MessageType.Error)
        await self.server.show("failure.txt", f"{done.output}{done.errors}")
        return False

    async def show_output(self, asked: Asked) -> str:
        """Return, and show, the output of a RUN line without FileCheck."""
        run, done = await self.ran(asked, filtered=True)
        if done.status:
            self.server.tell(f"{run.filtered}: {done.says}", lsp.MessageType.Error)
        await self.server.show("output.mlir", done.output or done.errors)
        return done.output

    async def update_checks(self, asked: Asked) -> bool:
        """Write the CHECK lines of a file on disk anew; an editor reads it again."""
        file, path = self.server.file(asked.uri), to_fs_path(asked.uri)
        if path is None or not is_saved(path, file.text):
            raise PasslineError("save the file first: its CHECK lines are written on disk")
        options = ["-q", "--no-header", "--lit", "--update-checks"]
        command = [sys.executable, "-m", "pytest", *options, path]
        done = await run_process(command, "", folder_of(asked.uri))
        if done.status:
            self.server.tell("the CHECK lines are not updated", lsp.MessageType.Error)
            await self.server.show("failure.txt", f"{done.output}{done.errors}")
        return done.status == 0

    # What they share

    async def run_tool(
        self, asked: Asked, target: RunTarget, options: Sequence[str] = ()
    ) -> Finished:
        """Run a pipeline on the text of a target; PasslineError with what the tool says if that
        fails."""
        allows = target.file.allows_unregistered
        flags = ["--allow-unregistered-dialect"] if allows else []
        command = [*self.server.known.command, "-p", asked.pipeline, *flags, *options]
        done = await run_process(command, target.text(), folder_of(asked.uri))
        if done.status:
            raise PasslineError(f"{asked.pipeline}: {done.says}")
        return done

    async def edits(self, asked: Asked) -> tuple[OpenFile, str, list[lsp.TextEdit]]:
        """Return a file, its text, and the edits that running a pipeline on it makes."""
        file = self.server.file(asked.uri)
        text = file.text
        target = target_at(file, asked.line, asked.symbol)
        done = await self.run_tool(asked, target)
        if self.server.file(asked.uri).text != text:
            raise PasslineError("the file was changed while the passes ran: nothing is replaced")
        return file, text, edits_of(target, done.output)

    async def record(self, asked: Asked) -> tuple[OpenFile, Record]:
        """Return a file and the record of a run of a pipeline on it."""
        if not self.server.known.is_passline:
            raise PasslineError("this needs passline-opt, or a tool that derives from it")
        file = self.server.file(asked.uri)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "record.jsonl")
            target = target_at(file, asked.line, asked.symbol)
            await self.run_tool(asked, target, [f"--record={path}", "--no-print"])
            with path.open(encoding="utf-8") as lines:
                return file, read_record(lines)

    async def ran(self, asked: Asked, filtered: bool) -> tuple[RunLine, Finished]:
        """Run the RUN line at a line of a file, without its FileCheck if `filtered`."""
        file = self.server.file(asked.uri)
        found = [run for run in run_lines(file.text) if run.line <= asked.line <= run.last]
        if not found:
            raise PasslineError("there is no RUN line here")
        path = to_fs_path(asked.uri)
        with tempfile.TemporaryDirectory() as folder:
            if path is None or not is_saved(path, file.text):
                copy = Path(folder, Path(path or "file.mlir").name)
                copy.write_text(file.text, encoding="utf-8")
                path = str(copy)
            command = found[0].filtered if filtered else found[0].command
            words = shell_command(command, path, str(Path(folder, "temporary")))
            return found[0], await run_process(words, "", folder_of(asked.uri))


def add_commands(server: PasslineLanguageServer) -> None:
    """Make a server answer the commands of code actions."""
    commands = Commands(server)
    answers: dict[str, Callable[[Asked], Awaitable[object]]] = {
        code_actions.RUN: commands.run_pipeline,
        code_actions.PREVIEW: commands.preview,
        code_actions.RESULT: commands.show_result,
        code_actions.REMARKS: commands.show_remarks,
        code_actions.TEST: commands.run_test,
        code_actions.OUTPUT: commands.show_output,
        code_actions.UPDATE: commands.update_checks,
    }
    for name, answer in answers.items():
        server.command(name)(commands.telling(answer))


def folder_of(uri: str) -> str | None:
    """Return the folder of a file in which commands run, if there is one."""
    path = to_fs_path(uri)
    folder = os.path.dirname(path) if path else ""
    return folder if os.path.isdir(folder) else None


def is_saved(path: str, text: str) -> bool:
    try:
        return Path(path).read_text(encoding="utf-8") == text
    except (OSError, UnicodeDecodeError):
        return False
