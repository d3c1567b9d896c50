"""The choice of prefixes for RUN lines that print the same or different text."""

from __future__ import annotations

import pytest

from passline.testing.check_lines.merged_blocks import (
    ConflictingChecksError,
    RunBlocks,
    merge_blocks,
)
from passline.testing.check_lines.printed_blocks import check_blocks


def run(number: int, prefixes: str, text: str) -> RunBlocks:
    blocks = {block.key: block for block in check_blocks(text)}
    return RunBlocks(number, number + 1, tuple(prefixes.split(",")), blocks)


def merged(*runs: RunBlocks) -> list[tuple[str, str | None]]:
    return [(block.prefix, block.block.key[1]) for block, _ in merge_blocks(runs)]


F, G, OTHER_F = "func @f()", "func @g()", "func @f() {\n}"


def test_a_run_line_has_its_blocks_in_their_order() -> None:
    assert merged(run(0, "CHECK", f"{F}\n{G}")) == [("CHECK", "f"), ("CHECK", "g")]


def test_the_same_text_is_written_once() -> None:
    assert merged(run(0, "CHECK", F), run(1, "CHECK", F)) == [("CHECK", "f")]


def test_common_blocks_have_the_common_prefix() -> None:
    runs = run(0, "ALL,A", f"{F}\n{G}"), run(1, "ALL,B", f"{OTHER_F}\n{G}")
    assert sorted(merged(*runs), key=str) == [("A", "f"), ("ALL", "g"), ("B", "f")]


def test_a_block_that_another_run_lacks_is_not_common() -> None:
    runs = run(0, "ALL,A", f"{F}\n{G}"), run(1, "ALL,B", G)
    assert merged(*runs) == [("A", "f"), ("ALL", "g")]


def test_each_block_knows_what_stands_above_it() -> None:
    runs = run(0, "ALL,A", f"{F}\n{G}"), run(1, "ALL,B", f"{OTHER_F}\n{G}")
    above = {block.prefix: {b.prefix for b in others} for block, others in merge_blocks(runs)}
    assert above == {"A": set(), "B": set(), "ALL": {"A", "B"}}


def test_different_text_with_one_prefix_is_refused() -> None:
    expected = "lines 1, 2 print different text for @f, and share the prefix CHECK: give each"
    with pytest.raises(ConflictingChecksError, match=expected):
        merge_blocks([run(0, "CHECK", F), run(1, "CHECK", OTHER_F)])


def test_another_order_of_common_blocks_is_refused() -> None:
    with pytest.raises(ConflictingChecksError, match="in another order"):
        merge_blocks([run(0, "ALL", f"{F}\n{G}"), run(1, "ALL", f"{G}\n{F}")])
