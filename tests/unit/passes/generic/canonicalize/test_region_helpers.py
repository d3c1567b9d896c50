"""Uses of a value in a region, in time proportional to the smaller of both."""

from __future__ import annotations

from xdsl.dialects.builtin import i1
from xdsl.dialects.test import TestOp
from xdsl.ir import Operation

from passline.passes.generic.canonicalize.region_helpers import uses_among


def test_uses_are_found_whichever_is_shorter() -> None:
    value = TestOp(result_types=[i1]).results[0]
    users = [TestOp(operands=[value, value]) for _ in range(50)]
    asked: list[Operation] = []

    def is_inside(op: Operation) -> bool:
        asked.append(op)
        return op in (users[0], users[1])

    assert uses_among(value, users[:2], is_inside) == [
        (users[0], 0),
        (users[0], 1),
        (users[1], 0),
        (users[1], 1),
    ]
    assert len(asked) == 2  # one for each operation
    few = TestOp(result_types=[i1]).results[0]
    user = TestOp(operands=[few])
    others = iter([TestOp() for _ in range(50)])
    assert uses_among(few, others, lambda op: op is user) == [(user, 0)]
    assert len([*others]) == 48  # the rest was not visited
