"""The state of the language server: the files that are open, and what the editor can do."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path

from ... import __version__
from ...passmanager.errors import PasslineError
from .document import SourceText
from .inlays import PassResult, RemarkHint
from .known_dialects import KnownDialects
from .open_file import FileProblem, OpenFile

MAX_DELAY = 0.25
"""The longest wait, in seconds, for a further key before a file is read again."""


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
