"""Files of the FileCheck tests in the editor: their errors are those of the tools, also after
changes, and any damaged text is read."""

from __future__ import annotations

import random
from pathlib import Path

from support.budget import examples, some
from support.marked import URI, known_dialects
from support.tables import table_test

from passline.passmanager.ir.text.parser import parse_module, split_chunks
from passline.passmanager.ir.verifier import verify
from passline.tools.lsp.document import SourceText
from passline.tools.lsp.navigation import folding, outline
from passline.tools.lsp.open_file import OpenFile
from passline.tools.lsp.semantic_tokens import semantic_tokens

FILES = sorted((Path(__file__).parents[3] / "filecheck" / "passes" / "generic").glob("*.mlir"))


def open_text(text: str) -> OpenFile:
    return OpenFile(URI, SourceText(text), known_dialects())


def has_errors(file: OpenFile) -> bool:
    """Return whether a part of a file cannot be read, or is invalid, as a whole."""
    ctx = known_dialects().context(file.allows_unregistered)
    for chunk, _ in split_chunks(file.text.encode()):
        try:
            verify(parse_module(ctx, chunk.decode(), "x.mlir"))
        except Exception:
            return True
    return False


@table_test("path", some(FILES, 4))
def test_a_file_has_errors_if_it_has_some_as_a_whole(path: Path) -> None:
    file = open_text(path.read_text())
    assert bool(file.problems()) == has_errors(file)


@table_test("path", some(FILES, 4))
def test_each_name_of_a_valid_file_has_a_definition(path: Path) -> None:
    file = open_text(path.read_text())
    assert file.problems() or not [
        name.text
        for placed in file.placed
        for name in placed.facts.index.names
        if name.text[0] in "%^" and placed.facts.index.definition(name) is None
    ]


def damaged(text: str, chance: random.Random) -> str:
    """Return a text in which a part is removed, doubled, or replaced by a character."""
    start = chance.randrange(len(text))
    end = min(len(text), start + chance.choice((1, 1, 5, 40)))
    new = chance.choice(("", "", text[start:end] * 2, *'{}()"%@^:=#!<>,', "\n", "func.func @f() {"))
    return text[:start] + new + text[end:]


def said(file: OpenFile) -> list[tuple[str, int, int]]:
    return [(problem.message, problem.start, problem.end) for problem in file.problems()]


def test_a_file_after_changes_has_the_errors_of_the_text() -> None:
    chance = random.Random(7)
    for path in some(FILES, 8):
        text = path.read_text()[:3000]
        file = open_text(text)
        for _ in range(examples(12)):
            text = damaged(text, chance)
            file.update(SourceText(text))
            assert said(file) == said(open_text(text)), text
            assert outline(file) is not None and folding(file) is not None
            assert len(semantic_tokens(file)) % 5 == 0
