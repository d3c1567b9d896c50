"""The language server over the protocol: one process, which all tests here talk to."""

from __future__ import annotations

import asyncio
import itertools
import sys
from collections.abc import AsyncIterator, Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from lsprotocol import types as lsp
from pytest_lsp import ClientServerConfig, LanguageClient

from passline.tools.lsp.semantic_tokens import LEGEND

pytestmark = pytest.mark.asyncio(loop_scope="module")

COMMAND = [sys.executable, "-m", "passline.tools.lsp.lsp_tool"]
TEXT = """func.func @f(%a : i32) -> i32 {
  %zero = arith.constant 0 : i32
  %b = arith.addi %a, %zero : i32
  return %b : i32
}
func.func @g(%a : i32) -> i32 {
  %b = func.call @f(%a) : (i32) -> i32
  return %b : i32
}
"""


def capabilities() -> lsp.ClientCapabilities:
    """Return the capabilities of an editor that asks before it makes edits, as VS Code does."""
    edit = lsp.WorkspaceEditClientCapabilities(
        document_changes=True, change_annotation_support=lsp.ChangeAnnotationsSupportOptions()
    )
    return lsp.ClientCapabilities(
        workspace=lsp.WorkspaceClientCapabilities(apply_edit=True, workspace_edit=edit),
        window=lsp.WindowClientCapabilities(show_document=lsp.ShowDocumentClientCapabilities(True)),
    )


# pyright: reportUnknownMemberType=false, reportUntypedFunctionDecorator=false


@pytest_lsp.fixture(scope="module", config=ClientServerConfig(server_command=COMMAND))
async def client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    """Start the server, and end it after the last test."""
    await lsp_client.initialize_session(lsp.InitializeParams(capabilities=capabilities()))
    yield
    await lsp_client.shutdown_session()


_numbers = itertools.count()


class File:
    """A file that the client has open."""

    def __init__(self, client: LanguageClient, path: Path, text: str) -> None:
        self.client, self.text, self.version = client, text, 0
        self.path = path / f"file{next(_numbers)}.mlir"
        self.path.write_text(text)
        self.uri = self.path.as_uri()
        self.id = lsp.TextDocumentIdentifier(self.uri)
        client.text_document_did_open(
            lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(self.uri, "mlir", 0, text))
        )

    def at(self, piece: str) -> lsp.Position:
        """Return the position after the first character of a piece of the text."""
        before = self.text[: self.text.index(piece) + 1]
        return lsp.Position(before.count("\n"), len(before) - before.rfind("\n") - 1)

    def write(self, start: lsp.Position, end: lsp.Position, text: str) -> None:
        """Change the file as an editor does."""
        self.version += 1
        document = lsp.VersionedTextDocumentIdentifier(self.version, self.uri)
        change = lsp.TextDocumentContentChangePartial(lsp.Range(start, end), text)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [change]))

    async def diagnostics(self) -> list[lsp.Diagnostic]:
        """Return the diagnostics that are sent next."""
        await self.client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        return [*self.client.diagnostics[self.uri]]

    async def run(self, command: str, **fields: object) -> Any:
        """Return what a command returns."""
        argument: dict[str, object] = {"uri": self.uri, "line": 0} | fields
        params = lsp.ExecuteCommandParams(command, [argument])
        return await self.client.workspace_execute_command_async(params)


Open = Callable[[str], File]


@pytest.fixture
def open_file(client: LanguageClient, tmp_path: Path) -> Open:
    """Return a function that opens a file with a text."""
    return lambda text: File(client, tmp_path, text)


async def test_errors_come_and_go_while_typing(open_file: Open) -> None:
    file = open_file(TEXT)
    assert await file.diagnostics() == []
    end = file.at("ddi %a")
    file.write(lsp.Position(end.line, end.character), end, "x")
    (found,) = await file.diagnostics()
    assert "did you mean 'arith.addi'" in found.message and found.range.start.line == 2
    file.write(end, lsp.Position(end.line, end.character + 1), "")
    assert await file.diagnostics() == []


async def test_related_places_are_in_the_file(open_file: Open) -> None:
    file = open_file("func.func private @f()\nfunc.func private @f()\n")
    (found,) = await file.diagnostics()
    assert found.related_information is not None
    (related,) = found.related_information
    assert related.location.uri == file.uri and related.location.range.start.line == 0


async def test_a_name_is_explained_found_and_renamed(open_file: Open) -> None:
    file, client = open_file(TEXT), open_file(TEXT).client
    shown = await client.text_document_hover_async(lsp.HoverParams(file.id, file.at("%zero")))
    assert shown is not None and "constant" in str(shown.contents)
    place = lsp.DefinitionParams(file.id, file.at("@f(%a)"))
    found = await client.text_document_definition_async(place)
    assert isinstance(found, list | tuple) and len(found) == 1
    edit = await client.text_document_rename_async(
        lsp.RenameParams(file.id, file.at("%zero"), "nothing")
    )
    assert edit is not None and len((edit.changes or {})[file.uri]) == 2


async def test_a_name_that_is_taken_fails_the_request_with_the_reason(open_file: Open) -> None:
    file = open_file(TEXT)
    params = lsp.RenameParams(file.id, file.at("%zero"), "b")
    with pytest.raises(Exception, match="'%b' is another one here already"):
        await file.client.text_document_rename_async(params)


async def test_the_outline_folding_tokens_and_lenses_are_answered(open_file: Open) -> None:
    file = open_file(f"// RUN: passline-opt %s -p cse\n{TEXT}")
    client = file.client
    symbols = await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(file.id))
    assert [symbol.name for symbol in symbols or ()] == ["@f", "@g"]
    assert await client.text_document_folding_range_async(lsp.FoldingRangeParams(file.id))
    tokens = await client.text_document_semantic_tokens_full_async(
        lsp.SemanticTokensParams(file.id)
    )
    assert tokens is not None and max(tokens.data[3::5]) < len(LEGEND.token_types)
    lenses = await client.text_document_code_lens_async(lsp.CodeLensParams(file.id))
    titles = [lens.command.title for lens in lenses or () if lens.command is not None]
    assert titles[:2] == ["Run", "Show the output"]


async def test_a_pass_replaces_the_function_that_it_changes(open_file: Open) -> None:
    file = open_file(f"// RUN: kept\n{TEXT}")
    asked = asyncio.get_running_loop().create_future()

    @file.client.feature(lsp.WORKSPACE_APPLY_EDIT)
    def _apply(params: lsp.ApplyWorkspaceEditParams) -> lsp.ApplyWorkspaceEditResult:
        asked.set_result(params)
        return lsp.ApplyWorkspaceEditResult(True)

    _ = _apply
    assert await file.run("passline.runPipeline", pipeline="canonicalize", symbol="f") is True
    edit: lsp.WorkspaceEdit = (await asked).edit
    assert edit.document_changes is not None
    (document,) = edit.document_changes
    assert isinstance(document, lsp.TextDocumentEdit)
    (change,) = document.edits
    assert isinstance(change, lsp.AnnotatedTextEdit) and "arith.addi" not in change.new_text
    assert (change.range.start.line, change.range.end.line) == (1, 5)
    (note,) = (edit.change_annotations or {}).values()
    assert note.needs_confirmation


async def test_a_pass_that_fails_is_a_message_and_the_server_goes_on(open_file: Open) -> None:
    file = open_file(TEXT)
    assert await file.run("passline.runPipeline", pipeline="no-such-pass") is None
    assert "there is no pass 'no-such-pass'" in file.client.messages[-1].message
    assert await file.run("passline.runPipeline", uri="file:///nowhere", pipeline="cse") is None
    assert "is not open" in file.client.messages[-1].message
    params = lsp.ExecuteCommandParams("passline.runPipeline", [1])
    assert await file.client.workspace_execute_command_async(params) is None


async def test_a_pipeline_is_shown_as_a_diff(open_file: Open) -> None:
    found = await open_file(TEXT).run("passline.previewPipeline", pipeline="inline")
    assert "-  %b = func.call @f(%a) : (i32) -> i32" in found


async def test_the_output_of_a_run_line_is_shown(open_file: Open) -> None:
    file = open_file(
        f"// RUN: passline-opt %s -p cse \\\n// RUN:   | filecheck %s\n// CHECK: @f\n{TEXT}"
    )
    assert "func.func @f" in await file.run("passline.showOutput", line=0)
    assert await file.run("passline.runTest", line=1) is True
    assert await file.run("passline.runTest", line=5) is None


@pytest.mark.skipif(
    "passline" not in entry_points(group="pytest11").names, reason="needs the plugin of pytest"
)
async def test_check_lines_are_written_anew(open_file: Open) -> None:
    file = open_file(f"// RUN: passline-opt %s -p cse | filecheck %s\n{TEXT}")
    assert await file.run("passline.updateChecks") is True
    assert "// CHECK-NEXT:" in file.path.read_text()
    assert await file.run("passline.updateChecks") is None
    assert "save the file first" in file.client.messages[-1].message


async def test_remarks_are_hints_until_their_function_changes(open_file: Open) -> None:
    file = open_file(TEXT)
    assert await file.run("passline.showRemarks", pipeline="inline") > 0
    params = lsp.InlayHintParams(file.id, lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0)))
    hints = await file.client.text_document_inlay_hint_async(params)
    assert {hint.position.line for hint in hints or ()} == {1, 2, 6}
    file.write(file.at("return %b : i32\n}\n"), file.at("return %b : i32\n}\n"), "")
    file.write(lsp.Position(6, 2), lsp.Position(6, 2), " ")
    hints = await file.client.text_document_inlay_hint_async(params)
    assert {hint.position.line for hint in hints or ()} == {1, 2}
