"""The site that `make docs` builds: its generated pages, its navigation, and that it needs no
network."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from reference import markdown, pages

from passline.dialects.relax import Relax
from passline.dialects.tir import Tir
from passline.passes import PASSES, PIPELINES
from passline.passmanager import instruments

ROOT = Path(__file__).parent.parent
REFERENCE = pages()
HEADINGS = set(re.findall(r"^##+ (.*)$", "\n".join(REFERENCE.values()), re.MULTILINE))


def test_everything_that_is_registered_is_in_the_reference() -> None:
    operations = {op.name for op in [*Relax.operations, *Tir.operations]}
    classes = {name for name in instruments.__all__ if name[0].isupper()}
    named = {*PASSES, *PIPELINES, *operations, *classes}
    # Not all that the package offers are instruments.
    assert named - HEADINGS <= {*classes} and len(named & HEADINGS) > 240
    assert {"PassTimingInstrument", "PassContractError", "NonConvergenceError"} <= HEADINGS


def test_a_pass_has_its_facts_and_its_example() -> None:
    page = REFERENCE["reference/passes-relax.md"]
    section = page.partition("## fold-constant\n")[2].partition("\n## ")[0]
    assert "Before:\n\n```mlir\nfunc.func" in section and "\nAfter:\n\n```mlir\n" in section
    assert "| level | `2` |" in section and "| requires | `infer-type` |" in section
    assert "| `max-elements` | `int` | `16777216` | " in section
    assert "`tests/filecheck/passes/relax/fold_constant.mlir`" in section


def test_the_exit_statuses_are_those_of_the_tools() -> None:
    rows = re.findall(r"^\| (\d+) \| \S", REFERENCE["reference/errors.md"], re.MULTILINE)
    assert rows == ["0", "1", "2", "3", "130", "141"]


def test_docstrings_become_markdown() -> None:
    doc = "Sum a*b*c of `x*y`.\n\nAfter {n=1}:\n\n    %a\n\n      %b\n\nSource: <b>."
    assert "\n".join(markdown(doc)).split("\n") == [
        *("Sum a\\*b\\*c of `x*y`.", "", "After, with `{n=1}`:", ""),
        *("```mlir", "%a", "", "  %b", "```", "", "Source: \\<b>.", ""),
    ]


def test_each_page_is_in_the_navigation() -> None:
    text = (ROOT / "mkdocs.yml").read_text()
    named = set(re.findall(r"^ +- .*: (\S+\.md)$", text, re.MULTILINE))
    written = {p.relative_to(ROOT / "docs").as_posix() for p in (ROOT / "docs").rglob("*.md")}
    assert named == {*written, *REFERENCE}


def test_the_site_is_built_without_warnings_and_without_the_network(tmp_path: Path) -> None:
    pytest.importorskip("material", reason="mkdocs-material is not installed (extra `docs`)")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", tmp_path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    html = {path: path.read_text() for path in tmp_path.rglob("*.html")}
    loaded = {
        match[1]
        for text in html.values()
        for match in re.finditer(
            r'<(?:script|link|img|iframe)[^>]*(?:src|href)="(https?:[^"]*)"', text
        )
    }
    assert loaded == set() and len(html) > 25
    assert (tmp_path / "assets" / "iframe-worker.js").exists()
    passes = html[tmp_path / "reference" / "passes-relax.html"]
    assert '<span class="nv">%x</span>' in passes  # MLIR is highlighted
