"""MemoryInstrument: peaks and growth, the exact table, and the end of tracing."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import pytest
from support.passes.toy import Fail, Nothing, Recorder, module, named

from passline.passmanager import ModulePass, PassContext, Sequential
from passline.passmanager.instruments import MemoryInstrument
from passline.passmanager.instruments import memory as memory_module
from passline.passmanager.instruments.memory import MemoryUse


class Heap:
    """A replacement of tracemalloc whose allocations are those of `use`, in KiB."""

    def __init__(self) -> None:
        self.now = self.peak = 0.0
        self.tracing = False

    def is_tracing(self) -> bool:
        return self.tracing

    def start(self) -> None:
        self.tracing = True

    def stop(self) -> None:
        self.tracing = False

    def get_traced_memory(self) -> tuple[int, int]:
        return int(self.now * 1024), int(self.peak * 1024)

    def reset_peak(self) -> None:
        self.peak = self.now

    def use(self, peak: float, keep: float) -> None:
        """Allocate `peak` and free all but `keep` of it."""
        self.peak = max(self.peak, self.now + peak)
        self.now += keep

    def work(self, name: str, peak: float, keep: float) -> ModulePass:
        """Return a pass that does so."""
        return named(name, body=lambda module, ctx: self.use(peak, keep), changes=False)


@pytest.fixture
def heap(monkeypatch: pytest.MonkeyPatch) -> Heap:
    heap = Heap()
    monkeypatch.setattr(memory_module, "tracemalloc", heap)
    return heap


def flat(uses: list[MemoryUse]) -> Iterator[tuple[str, int, int]]:
    """Return name, peak and growth, in KiB, of each pass."""
    for use in uses:
        yield use.name + "!" * use.failed, use.peak >> 10, use.growth >> 10
        yield from flat(use.children)


RULE = "===-------------------------------------------------------------------------==="


def test_report(heap: Heap) -> None:
    instrument = MemoryInstrument()
    heap.use(0, 2)
    inner = Sequential([heap.work("b", 3 * 1024, 8), heap.work("c", 0, -9.5)], name="inner")
    with pytest.raises(ValueError):
        with PassContext(instruments=[instrument]):
            Sequential([heap.work("a", 2, 1), inner, Fail()])(module())
    assert instrument.report() == (
        f"{RULE}\n"
        "                             ... Memory report ...\n"
        f"{RULE}\n"
        "  Peak Memory: 3.0 MiB\n"
        "\n"
        "  ----Peak----  ---Growth---  ----Name----\n"
        "       3.0 MiB      -0.5 KiB  sequential (failed)\n"
        "       4.0 KiB       1.0 KiB    a\n"
        "       3.0 MiB      -1.5 KiB    inner\n"
        "       3.0 MiB       8.0 KiB      b\n"
        "      11.0 KiB      -9.5 KiB      c\n"
        "       1.5 KiB       0.0 KiB    toy-fail (failed)\n"
    )


def test_without_data() -> None:
    assert MemoryInstrument().report() == ""


def test_peak_of_the_outer_pass_is_the_highest_inside_it(heap: Heap) -> None:
    instrument = MemoryInstrument()

    def body(*_: object) -> None:
        heap.use(50, 0)
        heap.work("low", 10, 0)(module())
        heap.use(20, 0)

    with PassContext(instruments=[instrument]):
        Sequential([named("outer", body=body), heap.work("after", 30, 0)])(module())
    assert [*flat(instrument.passes)] == [
        ("sequential", 50, 0),
        ("outer", 50, 0),
        ("low", 10, 0),
        ("after", 30, 0),
    ]


def test_two_instruments_agree(heap: Heap) -> None:
    one, two = MemoryInstrument(), MemoryInstrument()
    with PassContext(instruments=[one, two]):
        Sequential([heap.work("a", 9, 1), heap.work("b", 3, 0)])(module())
    assert one.report() == two.report() != ""


def test_skipped_pass_leaves_nothing(heap: Heap) -> None:
    instrument = MemoryInstrument()
    blocker = Recorder(blocks=frozenset(["a"]))
    with PassContext(instruments=[instrument, blocker], disabled_pass=["toy-fail"]):
        Sequential([heap.work("a", 1, 1), Fail(), Nothing()])(module())
    assert [name for name, _, _ in flat(instrument.passes)] == ["sequential", "toy-nothing"]


def test_pass_that_another_instrument_failed_before(heap: Heap) -> None:
    instrument = MemoryInstrument()
    bad = Recorder(fail_in=frozenset(["before"]))
    with pytest.raises(RuntimeError):
        with PassContext(instruments=[instrument, bad]):
            heap.work("a", 1, 1)(module())
    with PassContext(instruments=[instrument]):
        heap.work("b", 5, 1)(module())
    assert [*flat(instrument.passes)] == [("a!", 0, 0), ("b", 5, 1)]


# tracemalloc itself


def test_tracing_stops_with_the_last_context(heap: Heap) -> None:
    one, two = MemoryInstrument(), MemoryInstrument()
    with PassContext(instruments=[one]):
        with PassContext(instruments=[two, one]):
            assert heap.tracing
        assert heap.tracing
    assert not heap.tracing
    with PassContext(instruments=[one]):
        assert heap.tracing
    assert not heap.tracing


def test_tracing_that_somebody_else_started_goes_on(heap: Heap) -> None:
    heap.start()
    with PassContext(instruments=[MemoryInstrument()]):
        pass
    assert heap.tracing


def test_real_allocation_is_seen() -> None:
    instrument = MemoryInstrument()
    kept: list[bytes] = []
    with PassContext(instruments=[instrument]):
        named("keeps", body=lambda m, c: kept.append(bytes(1 << 20)))(module())
        named("drops", body=lambda m, c: kept.clear())(module())
    keeps, drops = instrument.passes
    assert keeps.growth > 1_000_000 and drops.growth < -1_000_000
    assert keeps.peak >= 1 << 20 and not tracemalloc.is_tracing()
