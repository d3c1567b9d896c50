"""Generated CHECK lines match the text that they were made of: this project's FileCheck corpus."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from support.suites.inprocess import filecheck, passline_opt, run_lines, substitute

from passline.testing.check_lines.printed_blocks import check_blocks

CORPUS = Path(__file__).parents[3] / "filecheck" / "passes" / "generic"


def outputs(path: Path) -> list[str]:
    """Return what passline-opt prints for the RUN lines of a file that need no shell."""
    commands = [shlex.split(substitute(line, path).split("|")[0]) for line in run_lines(path)]
    plain = [
        words for words in commands if words[0] == "passline-opt" and ">" not in "".join(words)
    ]
    results = [passline_opt(*words[1:]) for words in plain]
    return [result.stdout for result in results if result.status == 0]


def mismatch(text: str, checks: Path) -> str:
    """Return what FileCheck says of the lines for a text; empty if they match."""
    lines = (line for block in check_blocks(text) for line in block.lines)
    checks.write_text("".join(f"// CHECK{kind}: {pattern}\n" for kind, pattern in lines))
    result = filecheck([str(checks)], text)
    return result.stdout + result.stderr if result.status else ""


@pytest.mark.parametrize("letter", "abcdefghijklmnopqrstuvwxyz")
def test_the_lines_for_a_text_match_it(letter: str, tmp_path: Path) -> None:
    texts = {
        f"{path.name} {number}": text
        for path in sorted(CORPUS.rglob(f"{letter}*.mlir"))
        for number, text in enumerate(outputs(path))
        if text.strip()
    }
    said = {name: mismatch(text, tmp_path / "checks") for name, text in texts.items()}
    assert {name: text for name, text in said.items() if text} == {}


def test_the_corpus_is_there() -> None:
    assert len([*CORPUS.rglob("*.mlir")]) > 20
