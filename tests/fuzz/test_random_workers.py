"""Random pipelines on random modules in workers: the bytes of one core."""

from __future__ import annotations

import sys

import pytest
from support.budget import THOROUGH
from support.releases import needs_part

from .workers import check_seed, workers_always

pytestmark = [
    needs_part("copying"),
    pytest.mark.skipif(sys.platform != "linux", reason="workers are forks"),
]


def test_workers_make_and_say_what_one_core_does() -> None:
    found: list[bool] = []
    with workers_always(found):
        different = {seed: check_seed(seed) for seed in range(3000 if THOROUGH else 16)}
    assert {seed: text for seed, text in different.items() if text is not None} == {}
    assert found.count(True) > len(different) / 3
