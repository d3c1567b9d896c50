"""Memory plans: buffers that are live at once never overlap, and the arena is near the bound."""

import random
from itertools import combinations

import pytest
from support.budget import some
from support.tables import table_test

from passline.compiler.analysis.memory.storage_plan import (
    ALIGNMENT,
    LiveRange,
    StoragePlan,
    peak_size,
    plan_storage,
    share_storage,
)


def random_live_ranges(seed: int, count: int = 60) -> list[LiveRange]:
    rng = random.Random(seed)
    firsts = [rng.randrange(40) for _ in range(count)]
    return [
        LiveRange(first, first + rng.randrange(8), rng.choice([0, 1, 63, 64, 65, 1000, 5000]))
        for first in firsts
    ]


def overlap_in_time(a: LiveRange, b: LiveRange) -> bool:
    return a.first <= b.last and b.first <= a.last


def check(ranges: list[LiveRange], plan: StoragePlan) -> None:
    places = list(zip(ranges, plan.offsets, strict=True))
    for life, offset in places:
        assert offset % ALIGNMENT == 0
        assert offset + life.size <= plan.total
    for (a, at_a), (b, at_b) in combinations(places, 2):
        if overlap_in_time(a, b) and a.size and b.size:
            assert at_a + a.size <= at_b or at_b + b.size <= at_a


@table_test("seed", some(range(50), 5))
def test_a_plan_keeps_apart_what_is_in_use_at_once(seed: int) -> None:
    ranges = random_live_ranges(seed)
    found = plan_storage(ranges)
    check(ranges, found)
    assert peak_size(ranges) <= found.total <= 1.25 * peak_size(ranges)


def test_a_chain_needs_two_places() -> None:
    ranges = [LiveRange(time, time + 1, 100) for time in range(10)]
    found = plan_storage(ranges)
    assert found.total == 256
    assert set(found.offsets) == {0, 128}


def test_freed_places_join() -> None:
    ranges = [LiveRange(0, 1, 64), LiveRange(0, 1, 64), LiveRange(2, 3, 128)]
    assert plan_storage(ranges) == StoragePlan([0, 64, 0], 128)


def test_the_largest_first_is_tried_where_the_order_of_time_leaves_holes() -> None:
    ranges = [LiveRange(0, 1, 64), LiveRange(0, 9, 64), LiveRange(2, 9, 128)]
    found = plan_storage(ranges)
    check(ranges, found)
    assert found.total == 192


def test_no_buffers_need_no_memory() -> None:
    assert plan_storage([]) == StoragePlan([], 0)
    assert plan_storage([LiveRange(0, 0, 0)]) == StoragePlan([0], 0)


def test_many_buffers_in_use_at_once_are_placed_in_the_order_of_time() -> None:
    ranges = [LiveRange(time, time + 4000, 64 + 64 * (time % 3)) for time in range(8000)]
    found = plan_storage(ranges)
    assert peak_size(ranges) <= found.total <= 1.25 * peak_size(ranges)


@table_test("seed", some(range(20), 4))
def test_those_in_use_at_once_share_nothing(seed: int) -> None:
    ranges = random_live_ranges(seed)
    kinds = ["ab"[life.size % 2] for life in ranges]
    numbers = share_storage(ranges, kinds)
    buffers = list(zip(ranges, kinds, numbers, strict=True))
    for (a, kind_a, number_a), (b, kind_b, number_b) in combinations(buffers, 2):
        if number_a == number_b:
            assert kind_a == kind_b
            assert not overlap_in_time(a, b)


def test_the_smallest_allocation_that_fits_is_shared() -> None:
    lives = [LiveRange(0, 0, 400), LiveRange(0, 0, 200), LiveRange(1, 1, 150)]
    assert share_storage(lives, [0] * 3) == [0, 1, 1]


def test_a_smaller_allocation_grows() -> None:
    assert share_storage([LiveRange(0, 0, 100), LiveRange(1, 1, 1600)], [0, 0]) == [0, 0]


@pytest.mark.parametrize("sizes", [(100, 1601), (1601, 100)])
def test_sizes_that_are_far_apart_do_not_share(sizes: tuple[int, int]) -> None:
    lives = [LiveRange(0, 0, sizes[0]), LiveRange(1, 1, sizes[1])]
    assert share_storage(lives, [0, 0]) == [0, 1]
