"""All IR that is at hand, xDSL's tests and ours, read by shape and by the plain parser: the same
modules, the same errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.passes.same_ir import parsed_alike
from support.suites.xdsl_sources import xdsl_tests

from passline.passmanager.registry import make_ir_context

pytestmark = pytest.mark.filterwarnings("ignore")  # xDSL's

OURS = Path(__file__).parents[1] / "filecheck"
PARTS = 8  # for as many processes


def texts(paths: Iterator[Path]) -> Iterator[tuple[str, str]]:
    for path in paths:
        for index, text in enumerate(path.read_text().split("// -----")):
            yield f"{path.name}, part {index}", text


def read_all(folder: Path, part: int, allow_unregistered: bool) -> int:
    """Return how many lines were read by their shape, after comparing all files of a part."""
    context = make_ir_context()
    context.allow_unregistered = allow_unregistered
    paths = sorted(folder.rglob("*.mlir"))[part::PARTS]
    lines = 0
    for name, text in texts(iter(paths)):
        alike = parsed_alike(context, text)
        assert alike is not None, name
        lines += alike
    return lines


@pytest.mark.parametrize("part", range(PARTS))
def test_xdsl_reads_the_same(part: int):
    assert read_all(xdsl_tests(), part, allow_unregistered=True) > 100


@pytest.mark.parametrize("part", range(PARTS))
def test_our_files_are_read_the_same(part: int):
    assert read_all(OURS, part, allow_unregistered=False) > 20
