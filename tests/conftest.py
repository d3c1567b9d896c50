"""Settings of all test runs, and the lists of skipped and failed tests at their end."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import settings
from support.budget import examples
from support.needs_numpy import HAS_NUMPY
from support.releases import lack_in

MAX_LENGTH = 200
"""Longer lines are cut."""


RECURSION_LIMIT = sys.getrecursionlimit()


def pytest_configure() -> None:
    """Cache bytecode even if the environment says not to; compute on one thread per worker; keep
    no machine code.

    Tests start Python a hundred times; without the cache each start compiles the same modules.
    Idle threads of OpenBLAS spin, which slows the other workers down.
    """
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ["PASSLINE_CACHE_SIZE"] = "0"  # tests of the cache have one of their own
    # No test is timed: on a busy machine an example may take any time.
    settings.register_profile("passline", deadline=None, max_examples=examples(100))
    settings.load_profile("passline")


def pytest_sessionstart() -> None:
    """Collect garbage seldom: each collection looks at the syntax trees, modules and tests of the
    whole suite, which live until the end."""
    gc.set_threshold(200_000, 10, 10)


def pytest_collection_finish() -> None:
    """Exclude the modules and tests of the suite from all later garbage collections."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Skip a test whose fixtures need what an old xDSL lacks. Reset the limit of recursion, which a
    tool that ran in this process may have raised."""
    sys.setrecursionlimit(RECURSION_LIMIT)
    return (yield from skip_if_xdsl_lacks())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Skip a test that fails for what an old xDSL lacks."""
    return (yield from skip_if_xdsl_lacks())


MANY_BYTES = 128 << 20
"""The memory that tests may leave behind."""


class Memory:
    """The memory of this process, of which it gives back what tests leave behind: freed models stay
    with it otherwise, in pieces."""

    def __init__(self) -> None:
        self._kept = self._bytes()

    def trim(self) -> None:
        """Give memory back if there is much more than after the last time."""
        if self._bytes() < self._kept + MANY_BYTES:
            return
        gc.collect()
        with suppress(AttributeError, OSError):  # a C library other than glibc
            ctypes.CDLL(None).malloc_trim(0)
        self._kept = self._bytes()

    def _bytes(self) -> int:
        pages = Path("/proc/self/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")


MEMORY = Memory()


@pytest.hookimpl(trylast=True)
def pytest_runtest_logfinish() -> None:
    """Give memory back after a test."""
    MEMORY.trim()


def skip_if_xdsl_lacks() -> Generator[None]:
    """Skip a test whose error says that xDSL lacks something."""
    try:
        return (yield)
    except Exception as error:
        if (lack := lack_in(error)) is not None:
            pytest.skip(lack)
        raise


@pytest.fixture(scope="session", autouse=True)
def temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let all temporary files of tests, and of the processes that they start, be in a folder of
    pytest's, which it removes: those of --verify-semantics are kept for the user.
    """
    os.environ["TMPDIR"] = str(tmp_path_factory.mktemp("temporary"))
    tempfile.tempdir = None  # it is asked for again
    yield


@pytest.fixture(scope="session", autouse=True)
def one_process(pytestconfig: pytest.Config) -> Iterator[None]:
    """Compile no module in several processes in a worker of pytest-xdist: the workers use all
    cores. Tests of the division into parts set the number of cores themselves."""
    with pytest.MonkeyPatch.context() as patch:
        if hasattr(pytestconfig, "workerinput") and HAS_NUMPY:
            from passline.compiler.native import kernel_groups as kernels
            from passline.compiler.native import objects

            for module in (objects, kernels):
                patch.setattr(module, "available_cores", lambda: 1)
        yield


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """Limit `-n auto` to one worker per gigabyte of memory."""
    workers = yield
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(workers, memory >> 30))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """List why tests were skipped, and the failures, after everything else that pytest reports."""
    yield
    stats = terminalreporter.stats
    if skipped := Counter(map(skip_reason, stats.get("skipped", []))):
        terminalreporter.section("skipped tests")
    for text, count in sorted(skipped.items()):
        terminalreporter.write_line(f"{count}: {text}")
    if failed := [*stats.get("failed", []), *stats.get("error", [])]:
        terminalreporter.section("failed tests", red=True, bold=True)
    for report in sorted(failed, key=lambda report: report.nodeid):
        terminalreporter.write_line(f"{report.nodeid}: {reason(report)}")


def skip_reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return the reason that a skipped test gives."""
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
    return text.removeprefix("Skipped: ")


def reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return the first line that says what failed."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash:
        lines = nonempty(crash.message)
    else:  # a file that cannot be imported: pytest marks the exception with an E
        lines = nonempty(report.longreprtext)
        lines = [
            line.removeprefix("E ").strip() for line in lines if line.startswith("E ")
        ] or lines
    # numpy's messages start with an empty line.
    first = " ".join(lines[:2] if lines and lines[0] == "AssertionError:" else lines[:1])
    return first if len(first) <= MAX_LENGTH else f"{first[: MAX_LENGTH - 3]}..."


def nonempty(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
