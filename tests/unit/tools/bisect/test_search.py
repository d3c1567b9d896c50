"""The bisection of a count."""

from __future__ import annotations

from math import ceil, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passline.tools.bisect.bisection import AlreadyBadError, Boundary, NeverBadError, find_boundary


@given(st.integers(1, 2000), st.data())
def test_the_first_bad_number_is_found_in_few_questions(count: int, data: st.DataObject) -> None:
    first = data.draw(st.integers(1, count))
    asked: list[int] = []

    def is_bad(number: int) -> bool:
        asked.append(number)
        return number >= first

    assert find_boundary(count, is_bad) == Boundary(first)
    assert len(asked) == len(set(asked)) <= 4 + ceil(log2(count + 1))


@given(st.lists(st.booleans(), min_size=1, max_size=50))
def test_a_boundary_of_any_predicate(held: list[bool]) -> None:
    verdicts = [False, *held[:-1], True]
    found = find_boundary(len(verdicts) - 1, verdicts.__getitem__)
    assert verdicts[found.number] and not verdicts[found.number - 1]
    if (other := found.contradiction) is not None:
        assert verdicts[other] != (other > found.number)


def test_neighbours_that_contradict() -> None:
    found = find_boundary(4, [False, False, True, False, True].__getitem__)
    assert found == Boundary(2, contradiction=3) or found == Boundary(4, contradiction=2)
    assert find_boundary(3, [False, True, False, True].__getitem__).contradiction is not None


def test_nothing_to_find() -> None:
    with pytest.raises(AlreadyBadError):
        find_boundary(3, lambda _: True)
    with pytest.raises(NeverBadError):
        find_boundary(3, lambda _: False)
    with pytest.raises(NeverBadError):
        find_boundary(0, lambda _: False)
