"""The pages in `docs/`: their code blocks are run, their links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.models import model_of
from support.pages import Block, Runner, blocks, matches

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))


def name(page: Path) -> str:
    return page.relative_to(DOCS).as_posix()


@pytest.mark.parametrize("page", [p for p in PAGES if "```" in p.read_text()], ids=name)
def test_code_blocks_run(page: Path, tmp_path: Path) -> None:
    example = (ROOT / "examples" / "sequential.mlir").read_text()
    (tmp_path / "x.mlir").write_text(example)
    model = model_of("g (float[3] x) => (float[3] y) { y = Relu(x) }")
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    Runner(page, tmp_path).run()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_blocks_that_are_not_run_say_why(page: Path) -> None:
    text = page.read_text()
    reasons = [block.not_run for block in blocks(text) if block.not_run]
    assert len(reasons) == text.count("<!-- not run")
    assert all(len(reason.split()) > 2 for reason in reasons)
