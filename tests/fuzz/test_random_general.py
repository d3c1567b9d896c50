"""Random pipelines of the general passes on random modules with memory and blocks."""

from __future__ import annotations

from support.budget import THOROUGH

from .general import check_general_seed


def test_general_passes_keep_what_functions_compute() -> None:
    failures = map(check_general_seed, range(3000 if THOROUGH else 24))
    assert [failure for failure in failures if failure] == []
