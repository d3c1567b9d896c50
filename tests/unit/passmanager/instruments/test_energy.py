"""EnergyInstrument: sums of counters, their wrap-around, the exact table, and missing counters."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.passes.toy import Fail, Nothing, Recorder, module, named

from passline.passmanager import ModulePass, PassContext, Sequential
from passline.passmanager.instruments import EnergyInstrument
from passline.passmanager.instruments.energy import EnergyMeter, EnergyUse

RANGE = 1_000_000_000
"""The range of the counters, in microjoules."""


class Counters:
    """A folder like `/sys/class/powercap`: two processors, one with a part of its own and memory,
    and the platform around all; and a clock. They advance only by `use`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now = 5.0
        self.add("intel-rapl:0", "package-0", RANGE - 2_000_000)
        self.add("intel-rapl:0:0", "core", 7)
        self.add("intel-rapl:0:1", "dram", 1_000)
        self.add("intel-rapl:1", "package-1", 0)
        self.add("intel-rapl:2", "psys", 7)
        (folder / "intel-rapl").mkdir()  # the zone of zones, which has no counter

    def add(self, zone: str, name: str, value: int) -> None:
        (self.folder / zone).mkdir(parents=True)
        for file, text in (("name", name), ("max_energy_range_uj", RANGE), ("energy_uj", value)):
            (self.folder / zone / file).write_text(f"{text}\n")

    def use(self, joules: float, zone: str = "intel-rapl:0") -> None:
        """Advance a counter, and the clock by 10 ms for each joule."""
        file = self.folder / zone / "energy_uj"
        file.write_text(f"{(int(file.read_text()) + round(joules * 1e6)) % RANGE}\n")
        self.now += joules / 100

    def work(self, name: str, joules: float, zone: str = "intel-rapl:0") -> ModulePass:
        """Return a pass that uses this energy."""
        return named(name, body=lambda module, ctx: self.use(joules, zone), changes=False)


@pytest.fixture
def counters(tmp_path: Path) -> Counters:
    return Counters(tmp_path / "powercap")


@pytest.fixture
def energy(counters: Counters) -> EnergyInstrument:
    return EnergyInstrument(counters.folder, lambda: counters.now)


def flat(uses: list[EnergyUse]) -> Iterator[tuple[str, float]]:
    """Yield name and energy of each pass."""
    for use in uses:
        yield use.name + "!" * use.failed, round(use.joules, 6)
        yield from flat(use.children)


RULE = "===-------------------------------------------------------------------------==="


def test_report(energy: EnergyInstrument, counters: Counters) -> None:
    inner = Sequential([counters.work("b", 4), counters.work("c", 0.25)], name="inner")
    with pytest.raises(ValueError), PassContext(instruments=[energy]):
        Sequential([counters.work("a", 1.5), inner, Fail()])(module())
    assert energy.report() == (
        f"{RULE}\n"
        "                             ... Energy report ...\n"
        f"{RULE}\n"
        "  Total Energy: 5.7500 joules\n"
        "\n"
        "  ----Energy----  ---Wall Time---  ----Name----\n"
        "          5.7500           0.0575  sequential (failed)\n"
        "          1.5000           0.0150    a\n"
        "          4.2500           0.0425    inner\n"
        "          4.0000           0.0400      b\n"
        "          0.2500           0.0025      c\n"
        "          0.0000           0.0000    toy-fail (failed)\n"
    )


def test_without_data(energy: EnergyInstrument) -> None:
    assert energy.report() == ""


def test_processors_and_memory_count_once(energy: EnergyInstrument, counters: Counters) -> None:
    zones = ("intel-rapl:0", "intel-rapl:0:0", "intel-rapl:0:1", "intel-rapl:1", "intel-rapl:2")
    with PassContext(instruments=[energy]):
        for zone in zones:
            counters.work("a", 2, zone)(module())
    assert [use.joules for use in energy.passes] == [2, 0, 2, 2, 0]


def test_a_counter_that_begins_at_0_again_goes_on(
    energy: EnergyInstrument, counters: Counters
) -> None:
    a = counters.work("a", 900)  # the counter stands 2 joules before its end
    with PassContext(instruments=[energy]):
        Sequential([a, a, a])(module())
    assert [*flat(energy.passes)] == [("sequential", 2700), ("a", 900), ("a", 900), ("a", 900)]


def test_energy_between_contexts_does_not_count(
    energy: EnergyInstrument, counters: Counters
) -> None:
    for _ in range(2):
        counters.use(50)
        with PassContext(instruments=[energy]):
            counters.work("a", 1)(module())
    assert [*flat(energy.passes)] == [("a", 1), ("a", 1)]


def test_report_while_passes_run(energy: EnergyInstrument, counters: Counters) -> None:
    def look(*_: object) -> None:
        counters.use(3)
        assert [*flat(energy.passes)] == [("look", 0)]

    with PassContext(instruments=[energy]):
        named("look", body=look)(module())
    assert [*flat(energy.passes)] == [("look", 3)]


def test_skipped_pass_leaves_nothing(energy: EnergyInstrument) -> None:
    blocker = Recorder(blocks=frozenset(["toy-nothing"]))
    with PassContext(instruments=[energy, blocker], disabled_pass=["toy-fail"]):
        Sequential([Nothing(), Fail()])(module())
    assert [name for name, _ in flat(energy.passes)] == ["sequential"]


def test_same_instrument_entered_twice(energy: EnergyInstrument, counters: Counters) -> None:
    with PassContext(instruments=[energy]), PassContext(instruments=[energy]):
        counters.work("a", 1)(module())
    assert [*flat(energy.passes)] == [("a", 1)]


def test_two_threads(energy: EnergyInstrument) -> None:
    meet = threading.Barrier(2)

    def wait(*_: object) -> None:
        meet.wait(10)

    def work() -> None:
        with PassContext(instruments=[energy]):
            Sequential([named("a", body=wait)] * 2)(module())

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [name for name, _ in flat(energy.passes)] == ["sequential", "a", "a"] * 2


# Machines without a counter


def report_of(folder: Path) -> str:
    instrument = EnergyInstrument(folder)
    with PassContext(instruments=[instrument]):
        Sequential([Nothing()])(module())
    assert [*flat(instrument.passes)] == [("sequential", 0), ("toy-nothing", 0)]
    return instrument.report()


def test_machine_without_counters_is_one_line(tmp_path: Path) -> None:
    assert report_of(tmp_path / "no") == f"no energy report: there is no counter in {tmp_path}/no\n"
    (tmp_path / "intel-rapl:0").mkdir()
    (tmp_path / "intel-rapl:0" / "name").write_text("psys")
    assert report_of(tmp_path) == f"no energy report: there is no counter in {tmp_path}\n"


def test_counter_for_root_alone_is_one_line(
    counters: Counters, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Path.read_text

    def refuse(self: Path) -> str:
        if self.name == "energy_uj":
            raise PermissionError(13, "Permission denied", str(self))
        return read(self)

    monkeypatch.setattr(Path, "read_text", refuse)
    file = counters.folder / "intel-rapl:1" / "energy_uj"
    assert report_of(counters.folder) == f"no energy report: {file} can be read by root alone\n"


def test_counter_that_is_no_number_is_one_line(counters: Counters) -> None:
    file = counters.folder / "intel-rapl:1" / "energy_uj"
    file.write_text("<unknown>")
    assert report_of(counters.folder) == f"no energy report: {file} cannot be read\n"


def test_counter_that_is_gone_uses_nothing_more(counters: Counters) -> None:
    meter = EnergyMeter(counters.folder)
    counters.use(3)
    (counters.folder / "intel-rapl:1" / "energy_uj").unlink()
    assert meter.joules() == 3
