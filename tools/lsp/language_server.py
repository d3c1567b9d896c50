"""The language server: the requests of the protocol, and the functions that answer them."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path

from ... import __version__
from ...passmanager.errors import PasslineError
from . import code_actions
from .code_completion import completions, signature
from .document import SourceText
from .hover import hover
from .inlays import PassResult, RemarkHint, origin_hints, shown_remarks
from .known_dialects import KnownDialects
from .navigation import definition, folding, highlights, outline, references, rename, rename_range
from .open_file import FileProblem, OpenFile
from .semantic_tokens import LEGEND, semantic_tokens
from .server_commands import add_commands

REQUEST_FAILED = -32803
"""The code of the protocol for a request that cannot be done, with a message for a person."""
MAX_DELAY = 0.25
"""The longest wait, in seconds, for a further key before a file is read again."""

T = TypeVar("T")


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

    def shutdown(self) -> None:
        """End the server, and remove the files that it showed."""
        if self._folder is not None:
            self._folder.cleanup()
        super().shutdown()


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
    add_commands(server)
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
