"""too_many_elements: the limit of the context."""

from __future__ import annotations

from passline.passmanager.context import PassContext
from passline.passmanager.limits import too_many_elements


def test_limit_is_that_of_the_context() -> None:
    assert too_many_elements([1 << 28]) is None and too_many_elements([]) is None
    assert too_many_elements([1 << 62, 0]) is None
    assert "exceeds the limit of 268435456" in (too_many_elements([1 << 14, (1 << 14) + 1]) or "")
    with PassContext(config={"passline.max_elements": 6}):
        assert too_many_elements([2, 3]) is None
        assert "a tensor of 8 elements exceeds the limit of 6" in (too_many_elements([2, 4]) or "")
    with PassContext(config={"passline.max_elements": 1 << 62}):
        assert too_many_elements([1 << 40]) is None
