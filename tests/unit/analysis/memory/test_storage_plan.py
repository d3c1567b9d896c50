"""How buffers are placed: never two in one place at one time, and near the least memory."""

import random
from itertools import combinations

import pytest

from passline.analysis.memory.storage_plan import ALIGNMENT, Lifetime, Plan, peak, plan, share


def random_lifetimes(seed: int, count: int = 60) -> list[Lifetime]:
    rng = random.Random(seed)
    firsts = [rng.randrange(40) for _ in range(count)]
    return [
        Lifetime(first, first + rng.randrange(8), rng.choice([0, 1, 63, 64, 65, 1000, 5000]))
        for first in firsts
    ]


def overlap_in_time(a: Lifetime, b: Lifetime) -> bool:
    return a.first <= b.last and b.first <= a.last


def check(lifetimes: list[Lifetime], plan: Plan) -> None:
    places = list(zip(lifetimes, plan.offsets, strict=True))
    for life, offset in places:
        assert offset % ALIGNMENT == 0
        assert offset + life.size <= plan.total
    for (a, at_a), (b, at_b) in combinations(places, 2):
        if overlap_in_time(a, b) and a.size and b.size:
            assert at_a + a.size <= at_b or at_b + b.size <= at_a


@pytest.mark.parametrize("seed", range(50))
def test_a_plan_keeps_apart_what_is_in_use_at_once(seed: int) -> None:
    lifetimes = random_lifetimes(seed)
    found = plan(lifetimes)
    check(lifetimes, found)
    assert peak(lifetimes) <= found.total <= 1.25 * peak(lifetimes)


def test_a_chain_needs_two_places() -> None:
    lifetimes = [Lifetime(time, time + 1, 100) for time in range(10)]
    found = plan(lifetimes)
    assert found.total == 256
    assert set(found.offsets) == {0, 128}


def test_freed_places_join() -> None:
    lifetimes = [Lifetime(0, 1, 64), Lifetime(0, 1, 64), Lifetime(2, 3, 128)]
    assert plan(lifetimes) == Plan([0, 64, 0], 128)


def test_the_largest_first_is_tried_where_the_order_of_time_leaves_holes() -> None:
    lifetimes = [Lifetime(0, 1, 64), Lifetime(0, 9, 64), Lifetime(2, 9, 128)]
    found = plan(lifetimes)
    check(lifetimes, found)
    assert found.total == 192


def test_no_buffers_need_no_memory() -> None:
    assert plan([]) == Plan([], 0)
    assert plan([Lifetime(0, 0, 0)]) == Plan([0], 0)


def test_many_buffers_in_use_at_once_are_placed_in_the_order_of_time() -> None:
    lifetimes = [Lifetime(time, time + 4000, 64 + 64 * (time % 3)) for time in range(8000)]
    found = plan(lifetimes)
    assert peak(lifetimes) <= found.total <= 1.25 * peak(lifetimes)


@pytest.mark.parametrize("seed", range(20))
def test_those_in_use_at_once_share_nothing(seed: int) -> None:
    lifetimes = random_lifetimes(seed)
    kinds = ["ab"[life.size % 2] for life in lifetimes]
    numbers = share(lifetimes, kinds)
    buffers = list(zip(lifetimes, kinds, numbers, strict=True))
    for (a, kind_a, number_a), (b, kind_b, number_b) in combinations(buffers, 2):
        if number_a == number_b:
            assert kind_a == kind_b
            assert not overlap_in_time(a, b)


def test_the_smallest_allocation_that_fits_is_shared() -> None:
    lives = [Lifetime(0, 0, 400), Lifetime(0, 0, 200), Lifetime(1, 1, 150)]
    assert share(lives, [0] * 3) == [0, 1, 1]


def test_a_smaller_allocation_grows() -> None:
    assert share([Lifetime(0, 0, 100), Lifetime(1, 1, 1600)], [0, 0]) == [0, 0]


@pytest.mark.parametrize("sizes", [(100, 1601), (1601, 100)])
def test_sizes_that_are_far_apart_do_not_share(sizes: tuple[int, int]) -> None:
    lives = [Lifetime(0, 0, sizes[0]), Lifetime(1, 1, sizes[1])]
    assert share(lives, [0, 0]) == [0, 1]
