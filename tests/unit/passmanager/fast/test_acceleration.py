"""Accelerated parts: on with the sources that they were tested with, off with others."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import passline
from passline.passmanager.fast import acceleration, sources
from passline.passmanager.fast.acceleration import (
    PARTS,
    REPLACED,
    VARIABLE,
    checksum_of_files,
    unknown_place,
)
from passline.passmanager.fast.known_sources import FILE, known_places, known_releases
from passline.passmanager.fast.reading.lexer import Lexer
from passline.passmanager.fast.reading.memoizing_parser import MemoizingParser
from passline.passmanager.fast.record import record
from passline.passmanager.fast.sources import checksum_of, source_of
from passline.passmanager.ir.text.printer import ExactPrinter

ROOT = Path(passline.__file__).resolve().parent

TEXT = '''
import a


@decorated
class Thing(Base):
    """What it is."""

    field: int = 1
    other: str

    @property
    def size(self) -> int:
        """The size."""
        return 1  # of one

    @size.setter
    def size(self, size: int) -> None:
        # not used
        pass

    def last(
        self,
        long: int,
    ) -> None:
        pass


def size() -> None: ...


VALUE = 1
'''


def test_the_source_of_a_class_is_its_header_and_its_fields():
    assert source_of(TEXT, "Thing") == (
        "@decorated\nclass Thing(Base)\n    field: int = 1\n    other: str"
    )


def test_the_source_of_a_property_has_all_its_functions_without_remarks():
    text = source_of(TEXT, "Thing.size")
    assert text is not None
    assert text.splitlines() == [
        "    @property",
        "    def size(self) -> int:",
        "        return 1  # of one",
        "    @size.setter",
        "    def size(self, size: int) -> None:",
        "        pass",
    ]


def test_the_source_of_a_function_ends_before_the_next_statement():
    assert source_of(TEXT, "size") == "def size() -> None: ..."
    text = source_of(TEXT, "Thing.last")
    assert text is not None and text.endswith("    ) -> None:\n        pass")


def test_a_place_that_is_not_there():
    assert source_of(TEXT, "Other") is None
    assert source_of(TEXT, "Thing.other") is None
    assert checksum_of("xdsl.no.such.module:Thing") is None


def places_of(part: str) -> list[str]:
    return [place.name for place in known_places() if part in place.parts]


@pytest.mark.parametrize("part", [*PARTS, *REPLACED])
def test_xdsl_has_all_places_of_a_part(part: str):
    if acceleration.is_known(part):
        assert unknown_place(part) is None
        assert all(checksum_of(place) for place in places_of(part))


@pytest.mark.parametrize("part", PARTS)
def test_one_changed_place_turns_its_parts_off(part: str, monkeypatch: pytest.MonkeyPatch):
    if unknown_place(part) is not None:
        pytest.skip("is not accelerated with this xDSL")
    place = places_of(part)[-1]

    def changed(other: str) -> str | None:
        return "new" if other == place else checksum_of(other)

    monkeypatch.setattr(acceleration, "checksum_of", changed)
    monkeypatch.setattr(acceleration, "checksum_of_files", lambda: "unknown")
    assert unknown_place(part) == place
    assert not acceleration.is_known.__wrapped__(part)
    assert place not in places_of("fields") or part == "fields"


@pytest.mark.parametrize("subclass", [Lexer, MemoizingParser, ExactPrinter])
def test_methods_that_are_done_again_are_places(subclass: type):
    known = {place.name for place in known_places()}
    assert {*methods_done_again(subclass)} <= known


def methods_done_again(subclass: type) -> Iterator[str]:
    """Yield the methods of xDSL that are overridden without a call of them."""
    own = [c for c in subclass.__mro__ if c.__module__.startswith("passline.")]
    xdsl = [c for c in subclass.__mro__ if c.__module__.startswith("xdsl.")]
    for name, member in (item for c in own for item in vars(c).items()):
        function = member.fget if isinstance(member, property) else member
        owner = next((c for c in xdsl if name in vars(c)), None)
        if owner is None or not inspect.isfunction(function):
            continue
        if f"super().{name}" not in inspect.getsource(function):
            yield f"{owner.__module__}:{owner.__name__}.{name}"


def test_literals_are_left_to_an_xdsl_whose_reader_differs():
    code = (
        "from xdsl.parser import AttrParser\n"
        "from xdsl.dialects.builtin import IntegerAttr\n"
        "from passline.passmanager.fast import acceleration\n"
        "acceleration.is_known = lambda part: False\n"
        "seven = lambda parser: parser.parse_integer() and IntegerAttr(7, 32)\n"
        "AttrParser.parse_optional_builtin_int_or_float_attr = seven\n"
        "import passline\n"
        "print(passline.load('\"test.op\"() {a = 1} : () -> ()'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "a = 7 : i32" in done.stdout, done.stderr


def test_a_known_release_is_recognized_without_a_look_at_its_places(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.delenv(VARIABLE, raising=False)

    def asked(place: str) -> str:
        pytest.fail(f"{place} is looked up")

    monkeypatch.setattr(acceleration, "checksum_of", asked)
    if checksum_of_files() not in known_releases():
        pytest.skip("this xDSL is not a known release")
    assert acceleration.is_known.__wrapped__("fields")


def test_the_environment_turns_everything_off():
    code = (
        "from passline.passmanager.fast.acceleration import PARTS, is_accelerated\n"
        "print(any(map(is_accelerated, PARTS)))"
    )
    found: list[str] = []
    for value in ("1", "0", ""):
        environment = {**os.environ, VARIABLE: value}
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            env=environment,
            check=True,
        )
        found.append(done.stdout.strip())
    assert found[0] == "False" and found[1] == found[2]


def test_recording_a_known_release_changes_nothing():
    parts = known_releases().get(checksum_of_files())
    if parts is None:
        pytest.skip("this xDSL is not a known release")
    assert record(parts) == FILE.read_text()


def test_nothing_is_imported_for_the_sources():
    assert "xdsl.printer" in {p.partition(":")[0] for p in places_of("printing")}
    code = (
        "import sys\nfrom passline.passmanager.fast.acceleration import PARTS, unknown_place\n"
        "[*map(unknown_place, PARTS)]\n"
        "print([name for name in sys.modules if name.startswith('xdsl.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert sources.source_bytes("xdsl.printer")
