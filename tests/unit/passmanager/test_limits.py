"""The limit on the elements of tensors whose size is written in the input."""

from __future__ import annotations

import pytest

from passline.passmanager import ConfigError, PassContext
from passline.passmanager.limits import too_many_elements

OPTION = "passline.max_elements"


def test_the_limit_is_not_negative() -> None:
    with pytest.raises(ConfigError, match=f"option '{OPTION}' is -1: expected at least 0"):
        PassContext(config={OPTION: -1})


def test_the_limit_of_the_context() -> None:
    limit = PassContext(config={OPTION: 0}).max_elements
    assert too_many_elements([0, 5], limit) is None
    assert too_many_elements([1], limit) == (
        f"a tensor of 1 elements exceeds the limit of 0; --config {OPTION}=N sets another"
    )
    assert too_many_elements([1], PassContext().max_elements) is None
