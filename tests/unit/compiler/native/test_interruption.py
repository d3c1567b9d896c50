"""Ctrl-C stops machine code that runs long, and leaves that which does not as it is."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import numpy as np
import pytest
from support.native.needs_llvmlite import needs_native
from support.parsing import parsed

from passline.compiler.native import NativeFunction, compile_module
from passline.compiler.native.entry import interruptible
from passline.passmanager.errors import PasslineError

ENDLESS = """
func.func @main(%x: memref<1xi64>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i64
  scf.while () : () -> () {
    %v = memref.load %x[%c0] : memref<1xi64>
    %go = arith.cmpi sge, %v, %one : i64
    scf.condition(%go)
  } do {
    %v = memref.load %x[%c0] : memref<1xi64>
    %new = arith.addi %v, %one : i64
    memref.store %new, %x[%c0] : memref<1xi64>
    scf.yield
  }
  func.return
}
"""

# N steps of 1000 x 1000 x 1000 additions each, in a function that is called.
LONG = """
func.func private @step(%x: memref<1xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1000 : index
  %one = arith.constant 1.0 : f64
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      scf.for %k = %c0 to %n step %c1 {
        %v = memref.load %x[%c0] : memref<1xf64>
        %new = arith.addf %v, %one : f64
        memref.store %new, %x[%c0] : memref<1xf64>
      }
    }
  }
  func.return
}
func.func @main(%x: memref<1xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant N : index
  scf.for %i = %c0 to %n step %c1 {
    func.call @step(%x) : (memref<1xf64>) -> ()
  }
  func.return
}
"""


def compiled(text: str) -> NativeFunction:
    return compile_module(parsed(text))


@pytest.fixture(autouse=True)
def default_handler() -> Iterator[None]:
    """Let SIGINT raise KeyboardInterrupt: workers of pytest-xdist ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt_soon() -> threading.Timer:
    """Send the signal of Ctrl-C to this process in a tenth of a second."""
    timer = threading.Timer(0.1, signal.raise_signal, [signal.SIGINT])
    timer.start()
    return timer


@needs_native
def test_an_endless_loop_is_stopped():
    function, count = compiled(ENDLESS), np.ones(1, np.int64)
    for _ in range(2):
        timer = interrupt_soon()
        with pytest.raises(KeyboardInterrupt):
            function(count)
        timer.join()
    assert count[0] > 1


@needs_native
def test_loops_of_known_length_are_stopped():
    function, total = compiled(LONG.replace("N", "1000000")), np.zeros(1)
    timer = interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        function(total)
    timer.join()
    assert 0 < total[0] < 1e13


@needs_native
def test_a_loop_that_is_not_interrupted_ends():
    total = np.zeros(1)
    compiled(LONG.replace("N", "1").replace("1000 :", "500 :"))(total)
    assert total[0] == 500**3


@needs_native
def test_another_thread_is_not_stopped():
    """Python's signals are for the main thread, which may end the other one as it likes."""
    function, total = compiled(LONG.replace("N", "1")), np.zeros(1)
    thread = threading.Thread(target=function, args=[total])
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
        thread.join()
    thread.join()
    assert total[0] == 1e9


@needs_native
def test_a_handler_of_the_program_is_left_alone():
    numbers: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: numbers.append(number))
    try:
        timer, total = interrupt_soon(), np.zeros(1)
        compiled(LONG.replace("N", "1"))(total)
        timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert total[0] == 1e9 and numbers == [signal.SIGINT]


def test_the_wake_up_file_is_restored():
    stopped: list[bool] = []
    before = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(before)
    with interruptible(lambda: stopped.append(True)):
        assert signal.set_wakeup_fd(-1) not in (-1, before)
    assert signal.set_wakeup_fd(before) == before
    assert not stopped


@needs_native
def test_an_assertion_that_fails_is_no_interruption():
    text = """
    func.func @main(%x: memref<1xi64>) {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i64
      scf.while () : () -> () {
        %v = memref.load %x[%c0] : memref<1xi64>
        %ok = arith.cmpi eq, %v, %zero : i64
        cf.assert %ok, "x is zero"
        scf.condition(%ok)
      } do {
        scf.yield
      }
      func.return
    }
    """
    with pytest.raises(PasslineError, match="x is zero"):
        compiled(text)(np.ones(1, np.int64))
