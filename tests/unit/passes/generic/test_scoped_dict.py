"""ScopedDict: entries of a scope are undone."""

from __future__ import annotations

from passline.passes.generic.scoped_dict import ScopedDict


def test_rollback_restores_replaced_and_removes_new_entries() -> None:
    table: ScopedDict[str, int] = ScopedDict()
    table.put("a", 1)
    outer = table.mark()
    table.put("a", 2)
    inner = table.mark()
    table.put("a", 3)
    table.put("b", 4)
    table.rollback(inner)
    assert table == {"a": 2}
    table.rollback(outer)
    assert table == {"a": 1}
