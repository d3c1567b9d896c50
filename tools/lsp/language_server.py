"""The language server: the requests of the protocol, and the functions that answer them."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from ... import __version__
from ...passmanager.errors import PasslineError
from ...passmanager.report.record_reader import Record, read_record
from . import code_actions
from .code_completion import completions, signature
from .document import SourceText
from .hover import hover
from .inlays import PassResult, RemarkHint, origin_hints, remark_hints, result_of, shown_remarks
from .known_dialects import KnownDialects
from .navigation import definition, folding, highlights, outline, references, rename, rename_range
from .open_file import FileProblem, OpenFile
from .pass_runs import Finished, RunTarget, diff, edited, edits_of, run_process, target_at
from .run_lines import RunLine, run_lines, shell_command
from .semantic_tokens import LEGEND, semantic_tokens

REQUEST_FAILED = -32803
"""The code of the protocol for a request that cannot be done, with a message for a person."""
MAX_DELAY = 0.25
"""The longest wait, in seconds, for a further key before a file is read again."""

T = TypeVar("T")


@dataclass(frozen=True)
class _Asked:
    """The argument of a command: a file, and what to run on which part of it."""

    uri: str
    pipeline: str = ""
    line: int = 0
    symbol: str = ""

    @classmethod
    def of(cls, arguments: Sequence[object]) -> _Asked:
        """Return the argument that a client sent; PasslineError if it is none."""
        given = arguments[0] if arguments else None
        values = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
        line = values.get("line") or 0
        if not isinstance(values.get("uri"), str) or not isinstance(line, int | float):
            raise PasslineError("the argument of the command is an object with 'uri'")
        symbol = str(values.get("symbol") or "").removeprefix("@")
        return cls(values["uri"], str(values.get("pipeline") or ""), int(line), symbol)


class PasslineLanguageServer(LanguageServer):
    """A server with the files that are open."""

    def __init__(self, known: KnownDialects) -> None:
        super().__init__("passline-lsp", __version__)  # pyright: ignore[reportUnknownMemberType]
        self.known = known
        self.files: dict[str, OpenFile] = {}
        self.remarks: dict[str, list[RemarkHint]] = {}
        self.results: dict[str, PassResult] = {}
        self._waiting: dict[str, SourceText] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._cost = 0.0
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    # Files

    def open(self, uri: str, text: str) -> None:
        """Take a file that was opened."""
        encoding = str(self.workspace.position_encoding or lsp.PositionEncodingKind.Utf16)
        self.files[uri] = OpenFile(uri, SourceText(text, encoding), self.known)
        self.publish(uri)

    def change(self, uri: str, changes: Sequence[lsp.TextDocumentContentChangeEvent]) -> None:
        """Take changes of a file. It is read again at once, or if that takes long when no key was
        pressed for as long."""
        source = self._waiting.get(uri) or self.files[uri].source
        self._waiting[uri] = source.changed(changes)
        if (timer := self._timers.pop(uri, None)) is not None:
            timer.cancel()
        delay = min(self._cost, MAX_DELAY) if self._cost > 0.05 else 0
        loop = asyncio.get_running_loop()
        self._timers[uri] = loop.call_later(delay, self.publish, uri)

    def close(self, uri: str) -> None:
        """Forget a file."""
        for table in (self.files, self.remarks, self._waiting):
            table.pop(uri, None)
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    def file(self, uri: str) -> OpenFile:
        """Return an open file with its present text.

        Errors: PasslineError for a file that is not open.
        """
        if (file := self.files.get(uri)) is None:
            raise PasslineError(f"'{uri}' is not open")
        if (source := self._waiting.pop(uri, None)) is not None:
            began = time.perf_counter()
            file.update(source)
            self._cost = time.perf_counter() - began
        return file

    def publish(self, uri: str) -> None:
        """Send the diagnostics of a file."""
        self._timers.pop(uri, None)
        if uri in self.files:
            file = self.file(uri)
            found = [_diagnostic(file, problem) for problem in file.problems()]
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found))

    # What the client can do

    @property
    def confirms_edits(self) -> bool:
        """Whether the editor shows edits before it makes them, if they ask for that."""
        workspace = self.client_capabilities.workspace
        edit = workspace.workspace_edit if workspace is not None else None
        return edit is not None and edit.change_annotation_support is not None

    def tell(self, message: str, kind: lsp.MessageType = lsp.MessageType.Info) -> None:
        """Show a message in the editor."""
        self.window_show_message(lsp.ShowMessageParams(kind, message))

    async def show(self, name: str, text: str) -> str:
        """Show a text as a file in the editor, or say where it is; return its URI."""
        self._folder = self._folder or tempfile.TemporaryDirectory(prefix="passline-lsp-")
        path = Path(self._folder.name, name)
        path.write_text(text, encoding="utf-8")
        uri = from_fs_path(str(path)) or ""
        window = self.client_capabilities.window
        if window is not None and window.show_document is not None and window.show_document.support:
            await self.window_show_document_async(lsp.ShowDocumentParams(uri, take_focus=True))
        else:
            self.tell(f"written to {path}")
        return uri

    def refresh_hints(self) -> None:
        """Ask the editor for new inlay hints, if it can be asked."""
        workspace = self.client_capabilities.workspace
        hints = workspace.inlay_hint if workspace is not None else None
        if hints is not None and hints.refresh_support:
            self.workspace_inlay_hint_refresh(None)

    # Runs

    async def run_tool(
        self, asked: _Asked, target: RunTarget, options: Sequence[str] = ()
    ) -> Finished:
        """Run a pipeline on the text of a target; PasslineError with what the tool says if that
        fails."""
        allows = target.file.allows_unregistered
        flags = ["--allow-unregistered-dialect"] if allows else []
        command = [*self.known.command, "-p", asked.pipeline, *flags, *options]
        done = await run_process(command, target.text(), _folder_of(asked.uri))
        if done.status:
            raise PasslineError(f"{asked.pipeline}: {done.says}")
        return done

    async def edits(self, asked: _Asked) -> tuple[OpenFile, str, list[lsp.TextEdit]]:
        """Return a file, its text, and the edits that running a pipeline on it makes."""
        file = self.file(asked.uri)
        text = file.text
        target = target_at(file, asked.line, asked.symbol)
        done = await self.run_tool(asked, target)
        if self.file(asked.uri).text != text:
            raise PasslineError("the file was changed while the passes ran: nothing is replaced")
        return file, text, edits_of(target, done.output)

    async def record(self, asked: _Asked) -> tuple[OpenFile, Record]:
        """Return a file and the record of a run of a pipeline on it."""
        if not self.known.is_passline:
            raise PasslineError("this needs passline-opt, or a tool that derives from it")
        file = self.file(asked.uri)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "record.jsonl")
            target = target_at(file, asked.line, asked.symbol)
            await self.run_tool(asked, target, [f"--record={path}", "--no-print"])
            with path.open(encoding="utf-8") as lines:
                return file, read_record(lines)

    async def run_test(self, asked: _Asked, filtered: bool) -> tuple[RunLine, Finished]:
        """Run the RUN line at a line of a file, without its FileCheck if `filtered`."""
        file = self.file(asked.uri)
        found = [run for run in run_lines(file.text) if run.line <= asked.line <= run.last]
        if not found:
            raise PasslineError("there is no RUN line here")
        path = to_fs_path(asked.uri)
        with tempfile.TemporaryDirectory() as folder:
            if path is None or not _is_saved(path, file.text):
                copy = Path(folder, Path(path or "file.mlir").name)
                copy.write_text(file.text, encoding="utf-8")
                path = str(copy)
            command = found[0].filtered if filtered else found[0].command
            words = shell_command(command, path, str(Path(folder, "temporary")))
            return found[0], await run_process(words, "", _folder_of(asked.uri))

    def shutdown(self) -> None:
        """End the server, and remove the files that it showed."""
        if self._folder is not None:
            self._folder.cleanup()
        super().shutdown()


def _folder_of(uri: str) -> str | None:
    """Return the folder of a file in which commands run, if there is one."""
    path = to_fs_path(uri)
    folder = os.path.dirname(path) if path else ""
    return folder if os.path.isdir(folder) else None


def _is_saved(path: str, text: str) -> bool:
    try:
        return Path(path).read_text(encoding="utf-8") == text
    except (OSError, UnicodeDecodeError):
        return False


def _diagnostic(file: OpenFile, problem: FileProblem) -> lsp.Diagnostic:
    source = file.source
    return lsp.Diagnostic(
        source.range(problem.start, problem.end),
        problem.message,
        lsp.DiagnosticSeverity.Error,
        source="passline",
        related_information=[
            lsp.DiagnosticRelatedInformation(lsp.Location(file.uri, source.range(start, end)), said)
            for start, end, said in problem.related
        ],
    )


# The requests


def make_server(known: KnownDialects) -> PasslineLanguageServer:
    """Return a server that answers the requests of the protocol."""
    server = PasslineLanguageServer(known)
    _add_files(server)
    _add_navigation(server)
    _add_writing(server)
    _add_runs(server)
    return server


def _add_files(server: PasslineLanguageServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def _open(params: lsp.DidOpenTextDocumentParams) -> None:
        server.open(params.text_document.uri, params.text_document.text)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def _change(params: lsp.DidChangeTextDocumentParams) -> None:
        if params.text_document.uri in server.files:
            server.change(params.text_document.uri, params.content_changes)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def _close(params: lsp.DidCloseTextDocumentParams) -> None:
        server.close(params.text_document.uri)

    _ = _open, _change, _close


def _add_navigation(server: PasslineLanguageServer) -> None:
    def at(params: Any) -> tuple[OpenFile, int]:
        file = server.file(params.text_document.uri)
        return file, file.source.offset(params.position)

    def add(name: str, answer: Callable[[Any], object], options: object = None) -> None:
        server.feature(name, options)(_said(answer))

    add(lsp.TEXT_DOCUMENT_HOVER, lambda params: hover(*at(params)))
    add(lsp.TEXT_DOCUMENT_DEFINITION, lambda params: definition(*at(params)))
    add(
        lsp.TEXT_DOCUMENT_REFERENCES,
        lambda params: references(*at(params), params.context.include_declaration),
    )
    add(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, lambda params: highlights(*at(params)))
    add(lsp.TEXT_DOCUMENT_PREPARE_RENAME, lambda params: rename_range(*at(params)))

    def renamed(params: lsp.RenameParams) -> lsp.WorkspaceEdit:
        edits = rename(*at(params), params.new_name)
        return lsp.WorkspaceEdit({params.text_document.uri: edits})

    options = lsp.RenameOptions(prepare_provider=True)
    add(lsp.TEXT_DOCUMENT_RENAME, renamed, options)

    def of_file(answer: Callable[[OpenFile], T]) -> Callable[[Any], T]:
        return lambda params: answer(server.file(params.text_document.uri))

    add(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL, of_file(outline))
    add(lsp.TEXT_DOCUMENT_FOLDING_RANGE, of_file(folding))
    tokens = of_file(lambda file: lsp.SemanticTokens(semantic_tokens(file)))
    add(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, tokens, LEGEND)


def _add_writing(server: PasslineLanguageServer) -> None:
    @server.feature(
        lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[*'%@^!#."'])
    )
    @_said
    def _complete(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        file = server.file(params.text_document.uri)
        return completions(file, file.source.offset(params.position))

    @server.feature(
        lsp.TEXT_DOCUMENT_SIGNATURE_HELP,
        lsp.SignatureHelpOptions(trigger_characters=[" ", ",", "("]),
    )
    @_said
    def _signature(params: lsp.SignatureHelpParams) -> lsp.SignatureHelp | None:
        file = server.file(params.text_document.uri)
        return signature(file, file.source.offset(params.position))

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    @_said
    def _hints(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        uri = params.text_document.uri
        file = server.file(uri)
        hints = [*shown_remarks(file, server.remarks.get(uri, ()))]
        if (result := server.results.get(uri)) is not None:
            hints += origin_hints(result, file.text)
        first, last = params.range.start.line, params.range.end.line
        return [hint for hint in hints if first <= hint.position.line <= last]

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.RefactorRewrite]),
    )
    @_said
    def _actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        file = server.file(params.text_document.uri)
        previews = not server.confirms_edits
        found = code_actions.code_actions(file, params.range, params.context.diagnostics, previews)
        only = params.context.only
        return [
            action
            for action in found
            if not only or any(str(action.kind).startswith(str(kind)) for kind in only)
        ]

    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
    @_said
    def _lenses(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        return [*code_actions.lenses(server.file(params.text_document.uri))]

    _ = _complete, _signature, _hints, _actions, _lenses


def _add_runs(server: PasslineLanguageServer) -> None:
    def add(name: str, answer: Callable[[_Asked], Any]) -> None:
        async def run(ls: PasslineLanguageServer, *arguments: object) -> object:
            try:
                return await answer(_Asked.of(arguments))
            except PasslineError as error:
                ls.tell(str(error), lsp.MessageType.Error)
            return None

        server.command(name)(run)

    async def run_pipeline(asked: _Asked) -> bool:
        """Replace what a pipeline changes."""
        file, _, edits = await server.edits(asked)
        if not edits:
            server.tell(f"{asked.pipeline} changes nothing here")
            return False
        label = f"Run {asked.pipeline}"
        edit = lsp.WorkspaceEdit({file.uri: edits})
        if server.confirms_edits:
            noted = [lsp.AnnotatedTextEdit("passes", e.range, e.new_text) for e in edits]
            document = lsp.OptionalVersionedTextDocumentIdentifier(file.uri)
            note = lsp.ChangeAnnotation(label, True, "what the passes change")
            edit = lsp.WorkspaceEdit(
                document_changes=[lsp.TextDocumentEdit(document, [*noted])],
                change_annotations={"passes": note},
            )
        done = await server.workspace_apply_edit_async(lsp.ApplyWorkspaceEditParams(edit, label))
        return done.applied

    async def preview(asked: _Asked) -> str:
        """Return, and show, what a pipeline would change as a diff."""
        file, text, edits = await server.edits(asked)
        name = Path(to_fs_path(file.uri) or "file.mlir").name
        found = diff(name, text, edited(file.source, edits), asked.pipeline)
        if not found:
            server.tell(f"{asked.pipeline} changes nothing here")
        else:
            await server.show(f"{name}.diff", found)
        return found

    async def show_result(asked: _Asked) -> str:
        """Return, and show, the result of a pipeline, with the passes that made operations."""
        file, record = await server.record(asked)
        result = result_of(record)
        name = Path(to_fs_path(file.uri) or "file.mlir").name
        shown = f"{name.removesuffix('.mlir')}.result.mlir"
        uri = await server.show(shown, result.text)
        server.results[uri] = result
        server.refresh_hints()
        return result.text

    async def show_remarks(asked: _Asked) -> int:
        """Show the remarks of the passes of a pipeline; return how many there are."""
        file, record = await server.record(asked)
        server.remarks[file.uri] = hints = remark_hints(file, record)
        server.refresh_hints()
        server.tell(f"{asked.pipeline}: {len(hints)} remarks")
        return len(hints)

    async def run_test(asked: _Asked) -> bool:
        """Run a RUN line, and say whether it passes; what it prints is shown if it fails."""
        run, done = await server.run_test(asked, filtered=False)
        if done.status == 0:
            server.tell(f"passed: {run.command}")
            return True
        server.tell(f"failed: {run.command}: {done.says}", lsp.MessageType.Error)
        await server.show("failure.txt", f"{done.output}{done.errors}")
        return False

    async def show_output(asked: _Asked) -> str:
        """Return, and show, the output of a RUN line without FileCheck."""
        run, done = await server.run_test(asked, filtered=True)
        if done.status:
            server.tell(f"{run.filtered}: {done.says}", lsp.MessageType.Error)
        await server.show("output.mlir", done.output or done.errors)
        return done.output

    async def update_checks(asked: _Asked) -> bool:
        """Write the CHECK lines of a file on disk anew; an editor reads it again."""
        file, path = server.file(asked.uri), to_fs_path(asked.uri)
        if path is None or not _is_saved(path, file.text):
            raise PasslineError("save the file first: its CHECK lines are written on disk")
        options = ["-q", "--no-header", "--lit", "--update-checks"]
        command = [sys.executable, "-m", "pytest", *options, path]
        done = await run_process(command, "", _folder_of(asked.uri))
        if done.status:
            server.tell("the CHECK lines are not updated", lsp.MessageType.Error)
            await server.show("failure.txt", f"{done.output}{done.errors}")
        return done.status == 0

    add(code_actions.RUN, run_pipeline)
    add(code_actions.PREVIEW, preview)
    add(code_actions.RESULT, show_result)
    add(code_actions.REMARKS, show_remarks)
    add(code_actions.TEST, run_test)
    add(code_actions.OUTPUT, show_output)
    add(code_actions.UPDATE, update_checks)


def _said(answer: Callable[[Any], T]) -> Callable[[Any], T]:
    """Return a function that fails a request with the message of a PasslineError."""

    @wraps(answer)
    def run(params: Any) -> T:
        try:
            return answer(params)
        except PasslineError as error:
            raise JsonRpcException(str(error), REQUEST_FAILED) from None

    return run


def serve(known: KnownDialects) -> None:
    """Answer requests on standard input until the client ends the server.

    What dialects print goes to stderr: standard output is the protocol's alone.
    """
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    make_server(known).start_io(stdout=output)
