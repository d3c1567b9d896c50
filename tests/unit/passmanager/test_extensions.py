"""DialectTable: registration, entry points, and when entries are loaded."""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest
from xdsl.dialects import arith, test

from passline.passmanager import registry as extensions
from passline.passmanager.registry import DialectTable, dialect_of

GROUP = "passline.toys"


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Add an entry point of the group of toys: the name of a dialect, and a place."""
    points: list[EntryPoint] = []

    def entry_points(*, group: str) -> list[EntryPoint]:
        return [point for point in points if point.group == group]

    monkeypatch.setattr(extensions, "entry_points", entry_points)
    return lambda dialect, place: points.append(EntryPoint(dialect, place, GROUP))


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of another project, with the entry `toy` of a table."""
    module = ModuleType("toy_plugin")
    setattr(module, "toy", "from the plugin")
    monkeypatch.setitem(__import__("sys").modules, "toy_plugin", module)
    return module


def test_the_dialect_of_an_operation() -> None:
    assert dialect_of(arith.AddiOp) == "arith" and dialect_of(test.TestOp) == "test"


def test_an_unknown_dialect_has_no_entry() -> None:
    table = DialectTable[str](GROUP, {})
    assert table.get("toy") is None and "toy" not in table


def test_a_builtin_entry_is_made_once_and_when_it_is_asked_for() -> None:
    made: list[str] = []

    def make() -> str:
        made.append("toy")
        return "builtin"

    table = DialectTable(GROUP, {"toy": make})
    assert "toy" in table and made == []
    assert table.get("toy") == table.get("toy") == "builtin"
    assert made == ["toy"]


def test_a_registered_entry_comes_before_a_builtin_one() -> None:
    table = DialectTable[str](GROUP, {"toy": lambda: "builtin"})
    table.register("toy", "registered")
    assert table.get("toy") == "registered" and "toy" in table


def test_tables_do_not_share_entries() -> None:
    one, two = DialectTable[str](GROUP, {}), DialectTable[str](GROUP, {})
    one.register("toy", "registered")
    assert two.get("toy") is None


def test_an_entry_point_gives_an_entry(
    install: Callable[[str, str], None], plugin: ModuleType
) -> None:
    install("toy", "toy_plugin:toy")
    table = DialectTable[str](GROUP, {})
    assert "toy" in table and table.get("toy") == "from the plugin"
    assert DialectTable[str]("another.group", {}).get("toy") is None


def test_a_builtin_entry_comes_before_an_entry_point(
    install: Callable[[str, str], None], plugin: ModuleType
) -> None:
    install("toy", "toy_plugin:toy")
    assert DialectTable(GROUP, {"toy": lambda: "builtin"}).get("toy") == "builtin"


def test_an_entry_point_is_loaded_when_it_is_asked_for(
    install: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    install("toy", "toy_plugin:toy")
    install("other", "no_such_module:entry")
    loaded: list[str] = []

    def load(self: EntryPoint) -> str:
        loaded.append(self.name)
        return "loaded"

    monkeypatch.setattr(EntryPoint, "load", load)
    table = DialectTable[str](GROUP, {})
    assert "toy" in table and "other" in table and loaded == []
    assert table.get("toy") == table.get("toy") == "loaded"
    assert loaded == ["toy"]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("no_such_module_of_toys:entry", "No module named 'no_such_module_of_toys'"),
        ("toy_plugin:no_such_entry", "no_such_entry"),
    ],
)
def test_an_entry_point_that_fails_to_load_is_left_out_with_one_warning(
    install: Callable[[str, str], None],
    plugin: ModuleType,
    place: str,
    message: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    install("toy", place)
    table = DialectTable[str](GROUP, {})
    with caplog.at_level(logging.WARNING):
        assert table.get("toy") is None and table.get("toy") is None
    (record,) = caplog.records
    assert record.getMessage().startswith(f"{GROUP} 'toy' cannot be loaded")
    assert message in record.getMessage()
