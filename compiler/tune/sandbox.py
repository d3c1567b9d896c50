"""Processes that measure: one that crashes or takes too long is replaced."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import IO, cast

from .task import Measurement, Task

__all__ = ["measure_apart", "stop_processes"]


def measure_apart(task: Task) -> Measurement:
    """Measure a candidate in a process apart from this one, within the time limit of the task.

    It may be called in any thread or process. The processes wait for further tasks, until they are
    stopped or the process that started them ends.
    """
    with _idle_process() as process:
        return process.measure(task)


class _Process:
    """A process that measures one task after the other."""

    def __init__(self) -> None:
        package = __package__ or ""
        path = os.pathsep.join(entry for entry in sys.path if entry)
        self.popen = subprocess.Popen(
            [sys.executable, "-m", f"{package}.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,  # Ctrl-C at the terminal is for the process that waits
        )

    def measure(self, task: Task) -> Measurement:
        """Send a task and return the result; the process ends if it takes too long."""
        expired = threading.Event()

        def kill() -> None:
            expired.set()
            self.popen.kill()

        timer = threading.Timer(task.time_limit, kill)
        timer.start()
        try:
            pickle.dump(task, stdin := cast(IO[bytes], self.popen.stdin))
            stdin.flush()
            return cast(Measurement, pickle.load(cast(IO[bytes], self.popen.stdout)))
        except (EOFError, OSError, pickle.UnpicklingError):
            self.stop()
            if expired.is_set():
                return Measurement(error=f"took longer than {task.time_limit:g} s")
            return Measurement(error=f"the process ended with status {self.popen.returncode}")
        finally:
            timer.cancel()

    def stop(self) -> None:
        """End the process, and close the pipes to it."""
        self.popen.kill()
        self.popen.wait()
        for stream in (self.popen.stdin, self.popen.stdout):
            try:
                cast(IO[bytes], stream).close()
            except OSError:  # the rest of the output is lost
                continue


_lock = threading.Lock()
_idle: list[_Process] = []
_busy: set[_Process] = set()


@contextmanager
def _idle_process() -> Generator[_Process]:
    """Return a process that has nothing to do, a new one if there is none."""
    with _lock:
        process = _idle.pop() if _idle else _Process()
        _busy.add(process)
    try:
        yield process
    finally:
        with _lock:
            _busy.discard(process)
            if process.popen.poll() is None:
                _idle.append(process)


def stop_processes() -> None:
    """End the processes that this one started."""
    with _lock:
        idle = [*_idle]
        _idle.clear()
        for process in _busy:  # whose threads get measurements that say so
            process.popen.kill()
    for process in idle:
        process.stop()
