"""The taps of windows that are beyond an image."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from passline.compiler.kernels.tiles.cost_model import has_one_edge
from passline.compiler.kernels.tiles.schedule import Cut, Edges
from passline.dialects.relax.windows import Window


def windows() -> Iterator[tuple[Window, int]]:
    """Yield windows with the extents of images into which at least one of them fits."""
    for size, stride, dilation in (
        (1, 1, 1),
        (3, 1, 1),
        (3, 2, 1),
        (3, 1, 2),
        (5, 3, 1),
        (2, 2, 3),
    ):
        for before, after in ((0, 0), (1, 1), (0, 2), (3, 0), (6, 6)):
            window = Window("W", size, stride, dilation, before, after)
            for extent in (1, 2, 7, 8):
                if before + extent + after >= window.span:
                    yield window, extent


def test_cuts_are_the_columns_at_which_a_tap_is_beyond_the_image():
    for window, extent in windows():
        edges = Edges([window], [extent])
        assert edges.columns is not None
        columns = range(edges.columns)
        taps = iter(range(window.size))
        for cut in edges.cuts():
            for tap in range(cut.first, cut.first + cut.count):
                assert tap == next(taps)
                first = tap * window.dilation - window.before
                places = [i * window.stride + first for i in columns]
                assert sum(place < 0 for place in places) == cut.before
                assert sum(place >= extent for place in places) == cut.after
                assert max(cut.before, cut.after) <= edges.most
        assert next(taps, None) is None


def test_no_tap_is_beyond_columns_with_their_padding_in_memory():
    edges = Edges([Window("H", 3, 1, 1, 1, 1), Window("W", 5, 2, 1, 0, 0)], [4, None])
    assert edges.cuts() == [Cut(0, 5, 0, 0)]
    assert (edges.columns, edges.most) == (None, 0)


@pytest.mark.parametrize(
    ("m", "columns", "edge", "expected"),
    [
        (14, 14, 20, True),  # a whole row
        (7, 14, 1, True),
        (2, 14, 3, False),  # two tiles have columns of the first edge
        (5, 11, 2, False),  # the last tile has one column
        (5, 11, 1, True),
        (6, 4, 0, False),  # wider than the row
    ],
)
def test_edges_are_in_one_tile(m: int, columns: int, edge: int, expected: bool):
    assert has_one_edge(m, columns, edge) is expected
