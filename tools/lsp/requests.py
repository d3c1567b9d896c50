"""The requests of the protocol, and the functions that answer them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from ...passmanager.errors import PasslineError
from . import code_actions
from .code_completion import completions, signature
from .hover import hover
from .inlays import origin_hints, shown_remarks
from .known_dialects import KnownDialects
from .language_server import PasslineLanguageServer
from .navigation import definition, folding, highlights, outline, references, rename, rename_range
from .open_file import OpenFile
from .semantic_tokens import LEGEND, semantic_tokens
from .server_commands import add_commands

__all__ = ["make_server", "serve"]

REQUEST_FAILED = -32803
"""The code of the protocol for a request that cannot be done, with a message for a person."""

T = TypeVar("T")


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
