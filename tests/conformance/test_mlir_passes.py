"""MLIR's own tests of pass managers; the folder is given by an environment variable."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from conformance.mlir_pass_tests import VARIABLE, Verdict, run_file, suite
from conformance.mlir_pass_texts import CHECKS, DIFFERENT

FILES = suite()
DOCUMENT = Path(__file__).parents[2] / "docs" / "coming-from-mlir.md"
NAMES = {Verdict.SAME: "same", Verdict.OTHER_TEXT: "same, other text", Verdict.DIFFERENT: "missing"}


def documented() -> dict[str, str]:
    """Return the verdicts in the table of the documentation, by file."""
    rows = re.findall(r"^\| `([\w-]+)` \| ([^|]+) \|", DOCUMENT.read_text(), re.MULTILINE)
    return {f"{name}.mlir": verdict.strip() for name, verdict in rows if verdict in NAMES.values()}


@pytest.mark.skipif(not FILES, reason=f"{VARIABLE} names no folder of MLIR's tests")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_file(path: Path) -> None:
    results = run_file(path)
    failed = [result for result in results if result.verdict is Verdict.DIFFERENT]
    if path.name not in DIFFERENT:
        assert not failed, "\n".join(f"{result.line}\n{result.said}" for result in failed)
    verdict = NAMES[max(result.verdict for result in results)]
    assert documented()[path.name] == verdict


def test_counts_in_the_documentation() -> None:
    counts = Counter(documented().values())
    assert sum(counts.values()) == 37
    said = (
        f"{counts['same']} of MLIR's 37 files pass as they are, {counts['same, other text']} with"
    )
    assert said in re.sub(r"\s+", " ", DOCUMENT.read_text())


def test_listed_files_are_documented() -> None:
    assert {*CHECKS, *DIFFERENT} <= {*documented()}
    missing = {name for name, verdict in documented().items() if verdict == "missing"}
    assert missing == {*DIFFERENT}
