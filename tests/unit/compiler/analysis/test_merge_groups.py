"""MergeGroups: no cycles, and no merge left out, on random graphs."""

from __future__ import annotations

import random
from collections.abc import Sequence

from support.budget import some
from support.tables import table_test
from xdsl.dialects.builtin import StringAttr, i32
from xdsl.dialects.test import TestOp
from xdsl.ir import Block, Operation

from passline.compiler.analysis.fusion import MergeGroups


def kind_of(op: Operation) -> str | None:
    kind = op.attributes.get("kind")
    return kind.data if isinstance(kind, StringAttr) else None


def groups_of(ops: Sequence[Operation]) -> list[list[Operation]]:
    groups = MergeGroups(kind_of, lambda op: "effect" in op.attributes)
    groups.add(Block(ops))
    return groups.found()


def op(kind: str, *operands: Operation, effect: bool = False) -> Operation:
    attributes = {"kind": StringAttr(kind)} if kind else {}
    if effect:
        attributes["effect"] = StringAttr("")
    results = [operand.results[0] for operand in operands]
    return TestOp(results, [i32], attributes=attributes)


def is_acyclic(ops: Sequence[Operation], groups: Sequence[Sequence[Operation]]) -> bool:
    """Return whether the graph of groups and other operations has no cycle: by Kahn's algorithm."""
    node = {inner: id(group) for group in groups for inner in group}
    node |= {inner: id(inner) for inner in ops if inner not in node}
    needs: dict[int, set[int]] = {number: set() for number in node.values()}
    last: Operation | None = None
    for inner in ops:
        for value in inner.operands:
            assert isinstance(value.owner, Operation)
            needs[node[inner]].add(node[value.owner])
        if "effect" in inner.attributes:
            if last is not None:
                needs[node[inner]].add(node[last])
            last = inner
    for number, needed in needs.items():
        needed.discard(number)
    while ready := {number for number, needed in needs.items() if not needed}:
        needs = {n: needed - ready for n, needed in needs.items() if n not in ready}
    return not needs


@table_test("seed", some(range(60), 4))
def test_random_graphs(seed: int) -> None:
    rng = random.Random(seed)
    ops: list[Operation] = [op("")]
    for _ in range(rng.randint(2, 25)):
        operands = rng.choices(ops[-6:], k=rng.randint(1, 3))
        kind = rng.choice(["", "a", "a", "b"])
        ops.append(op(kind, *operands, effect=not kind and rng.random() < 0.3))
    groups = groups_of(ops)
    assert is_acyclic(ops, groups)
    assert [*map(len, groups)].count(0) == 0
    assert sorted(map(id, (o for g in groups for o in g))) == sorted(
        id(o) for o in ops if kind_of(o)
    )
    for i, one in enumerate(groups):  # no two neighbours could still be merged
        for other in groups[i + 1 :]:
            neighbours = any(
                value.owner in one for user in other for value in user.operands
            ) or any(value.owner in other for user in one for value in user.operands)
            if neighbours and kind_of(one[0]) == kind_of(other[0]):
                rest = [group for group in groups if group is not one and group is not other]
                assert not is_acyclic(ops, [*rest, [*one, *other]])


def test_a_group_that_grew_has_new_dependences() -> None:
    """`h` joins the group of `y` only if that of `g` does not depend on it, which it does since `b`
    joined: x -> g -> y."""
    start = op("")
    g, y = op("a", start), op("b", start)
    x = op("", g)
    z = op("", y)
    b = op("a", g, z)
    h = op("b", y, x)
    assert groups_of([start, g, y, x, z, b, h]) == [[g, b], [y], [h]]


def test_a_long_chain_is_one_group() -> None:
    ops = [op("a")]
    for _ in range(2000):
        ops.append(op("a", ops[-1]))
    assert groups_of(ops) == [ops]
