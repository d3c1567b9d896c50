"""Copies of this process that compute something at the same time."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from typing import cast

import pytest

from passline.passmanager.forks import THREADS, Fork, Lost, Send, can_fork, worker_count

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only on Linux")


def is_alive(process: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for_end(process: int) -> None:
    for _ in range(500):
        if not is_alive(process):
            return
        time.sleep(0.01)
    raise AssertionError(f"process {process} is still there")


def test_values_arrive_in_order():
    text = "changed in the copy alone"
    values = [1]

    def work(send: Send) -> None:
        values.append(2)
        send(values)
        send(text)

    with Fork(work) as fork:
        assert fork.receive() == [1, 2]
        assert fork.receive() == text
        with pytest.raises(Lost):
            fork.receive()
    assert values == [1]


def test_an_error_ends_the_copy_without_a_word(capfd: pytest.CaptureFixture[str]):
    def work(send: Send) -> None:
        send("before")
        raise ValueError("not to be seen")

    with Fork(work) as fork:
        assert fork.receive() == "before"
        with pytest.raises(Lost):
            fork.receive()
    assert capfd.readouterr() == ("", "")


def test_the_copy_and_its_tools_end_with_the_block():
    def work(send: Send) -> None:
        tool = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
        send((os.getpid(), tool.pid))
        tool.wait()

    processes: list[int] = []
    with pytest.raises(KeyboardInterrupt), Fork(work) as fork:
        processes += cast("tuple[int, int]", fork.receive())
        assert all(map(is_alive, processes))
        raise KeyboardInterrupt
    for process in processes:
        wait_for_end(process)


def test_no_copy_while_other_threads_run():
    code = (
        "import threading; from passline.passmanager.forks import can_fork\n"
        "print(can_fork()); end = threading.Event()\n"
        "other = threading.Thread(target=end.wait); other.start(); print(can_fork())\n"
        "end.set(); other.join(); print(can_fork())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False", "True"]
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(can_fork()))
    thread.start()
    thread.join()
    assert found == [False]


def test_number_of_workers_is_the_argument_the_environment_or_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(THREADS, raising=False)
    assert (worker_count(None), worker_count(2)) == (1, 2)
    monkeypatch.setenv(THREADS, "3")
    assert (worker_count(None), worker_count(2)) == (3, 2)
