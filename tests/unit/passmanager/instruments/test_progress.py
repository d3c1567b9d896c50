"""ProgressInstrument: the line on the terminal while passes run, and its removal."""

from __future__ import annotations

import builtins
import io
import re
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, redirect_stderr
from typing import Any

import pytest
from support.passes.toy import Fail, Nothing, Recorder, module, named

from passline.passmanager import Fixpoint, ModulePass, PassContext, PassInstrument, Sequential
from passline.passmanager.instruments import ProgressInstrument

ERASED = "\x1b[?25h\r\x1b[1A\x1b[2K"
"""The last control sequences of rich: show the cursor, go back to the line and erase it."""


class Terminal(io.StringIO):
    """A terminal with a method that waits for a text."""

    def __init__(self) -> None:
        super().__init__()
        self._written = threading.Condition()

    def isatty(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        with self._written:
            self._written.notify_all()
            return super().write(text)

    def lines(self) -> list[str]:
        """Return the texts shown, in order, without colours."""
        seen = re.split(r"\r?\x1b\[2K|\r\n|\n|\r", self.getvalue())
        plain = (re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", line).rstrip() for line in seen)
        return [line for line in plain if line]

    def wait_for(self, line: str) -> None:
        with self._written:
            assert self._written.wait_for(lambda: line in self.lines(), 10), self.lines()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    for name in ("TTY_COMPATIBLE", "TTY_INTERACTIVE", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    return Terminal()


@contextmanager
def on(stderr: io.StringIO, *instruments: PassInstrument) -> Generator[None]:
    """A context with these instruments, while this is stderr; a fixture cannot set it, for pytest
    does so after it."""
    with redirect_stderr(stderr), PassContext(instruments=instruments):
        yield


def waiting(terminal: Terminal, pass_name: str, line: str) -> ModulePass:
    """Return a pass that ends when the line is on the terminal."""

    def body(*_: object) -> None:
        terminal.wait_for(line)

    return named(pass_name, body=body)


def test_bar_with_a_total(terminal: Terminal) -> None:
    with on(terminal, ProgressInstrument(total=4, delay=0)):
        one = waiting(terminal, "one", "━━━━━━━━━━━━━━━━━━━━ one (1 of 4)")
        two = waiting(terminal, "two", "━━━━━╺━━━━━━━━━━━━━━ two (2 of 4)")
        three = waiting(terminal, "three", "━━━━━━━━━━╺━━━━━━━━━ three (3 of 4)")
        Sequential([one, Fixpoint(Sequential([two]), 1), three])(module())
        assert terminal.getvalue().endswith(ERASED)


def test_place_without_a_total(terminal: Terminal) -> None:
    with on(terminal, ProgressInstrument(delay=0)):
        two = waiting(terminal, "two", "━━━━━━━━━━━━━━━━━━━━ two (2 of 2)")
        Sequential([Nothing(), two])(module())
    assert terminal.getvalue().endswith(ERASED)


def test_more_passes_than_thought(terminal: Terminal) -> None:
    with on(terminal, ProgressInstrument(total=1, delay=0)):
        two = waiting(terminal, "two", "━━━━━━━━━━━━━━━━━━━━ two (2 of 2)")
        Sequential([Nothing(), two])(module())


def test_failing_pass_leaves_the_terminal_clean(terminal: Terminal) -> None:
    one = waiting(terminal, "one", "━━━━━━━━━━━━━━━━━━━━ one (1 of 2)")
    with on(terminal, ProgressInstrument(total=2, delay=0)):
        with pytest.raises(ValueError):
            Sequential([Sequential([one, Fail()])])(module())
        assert terminal.getvalue().endswith(ERASED)


def test_hook_that_fails_leaves_the_terminal_clean(terminal: Terminal) -> None:
    one = waiting(terminal, "one", "━━━━━━━━━━━━━━━━━━━━ one (1 of 1)")
    bad = Recorder(fail_in=frozenset(["after"]))
    with pytest.raises(RuntimeError):
        with on(terminal, bad, ProgressInstrument(delay=0)):
            Sequential([one])(module())
    assert terminal.getvalue().endswith(ERASED)


def test_runs_are_counted_each_by_itself(terminal: Terminal) -> None:
    instrument = ProgressInstrument(total=2, delay=0)
    for _ in range(2):
        with on(terminal, instrument):
            for _ in range(2):
                terminal.truncate(0)
                one = waiting(terminal, "one", "━━━━━━━━━━━━━━━━━━━━ one (1 of 2)")
                Sequential([one])(module())
                assert terminal.getvalue().endswith(ERASED)


def test_skipped_pass_is_not_counted(terminal: Terminal) -> None:
    blocker = Recorder(blocks=frozenset(["toy-nothing"]))
    with on(terminal, blocker, ProgressInstrument(total=1, delay=0)):
        one = waiting(terminal, "one", "━━━━━━━━━━━━━━━━━━━━ one (1 of 1)")
        Sequential([Nothing(), one])(module())


def test_two_threads_share_the_line(terminal: Terminal) -> None:
    instrument = ProgressInstrument(total=2, delay=0)
    meet = threading.Barrier(2)

    def body(*_: object) -> None:
        meet.wait(10)
        terminal.wait_for("━━━━━━━━━━╺━━━━━━━━━ step (2 of 2)")

    def work() -> None:
        with PassContext(instruments=[instrument]):
            named("step", body=body)(module())

    threads = [threading.Thread(target=work) for _ in range(2)]
    with redirect_stderr(terminal):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert terminal.getvalue().endswith(ERASED)


# Nothing is shown


def timers() -> list[threading.Timer]:
    return [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]


def test_nothing_before_the_delay_is_over(terminal: Terminal) -> None:
    with on(terminal, ProgressInstrument(delay=1000)):
        Sequential([Nothing()])(module())
    assert terminal.getvalue() == "" and timers() == []


def test_nothing_where_stderr_is_no_terminal() -> None:
    def check(*_: object) -> None:
        assert timers() == []

    with on(io.StringIO(), ProgressInstrument(delay=0)):
        named("look", body=check)(module())


def test_rich_is_imported_only_when_the_line_is_shown() -> None:
    import subprocess

    code = (
        "import sys, passline.passmanager.instruments as i; i.ProgressInstrument(); "
        "sys.exit('rich' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_without_rich_a_line_says_so(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    real: Callable[..., Any] = builtins.__import__

    def refuse(name: str, *args: Any) -> Any:
        if name.startswith("rich"):
            raise ImportError(name)
        return real(name, *args)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with on(terminal, ProgressInstrument(delay=0)):
        waiting(terminal, "one", "to show progress, install rich")(module())
    assert terminal.getvalue() == "to show progress, install rich\n"
