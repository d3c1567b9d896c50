"""The measurement of candidates in processes of their own, which may crash."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from time import perf_counter, thread_time
from typing import IO, TYPE_CHECKING, TypeAlias, cast

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.relax.constant import ConstantOp
from ...dialects.relax.types import is_element, tensor_type
from ...dialects.target import Target, set_target
from ...passes.relax.legalize_ops import legalize_operations
from ...passmanager.context import PassContext
from ...passmanager.errors import PasslineError
from ...passmanager.ir.text.parser import parse_module
from ...passmanager.registry import make_ir_context
from ..analysis.index_ranges import index_ranges
from ..gpu.build import compile_for_device
from ..gpu.cuda_function import CudaFunction
from ..gpu.device import default_device
from ..interpreters.arguments import random_arguments
from ..interpreters.equivalence.check import epsilon_of
from ..interpreters.equivalence.comparison import Comparison, flat_values, tolerance
from ..interpreters.interpret import interpret
from ..interpreters.signature import Value, argument_names, entry_function
from ..kernels.choices import Choice
from ..kernels.database import Database, TuningRecord, target_key
from ..native import compile_module
from .task import Measurement, Task

if TYPE_CHECKING:
    from ..interpreters.arrays import Array


# The measurement of candidates in a process of its own, which may crash or be killed.
#
# It reads tasks from stdin and writes measurements to stdout, a pickle each.


Compiled: TypeAlias = "Callable[..., tuple[Array, ...]]"
"""A kernel as machine code."""

SEED = 0
"""The seed of arguments and constants."""
TURN = 2e-3
"""The seconds that a function runs before it is the other one's turn."""
ROUNDS = 8
"""The minimum number of turns."""


def measure(task: Task) -> Measurement:
    """Compile, check and measure a candidate in this process; what fails is the result, too."""
    try:
        reference = Reference.of(replace(task, choices=(), seconds=0, time_limit=0))
        estimated = reference.estimated
        function = compiled(task, task.choices) if task.choices else estimated
        if (wrong := reference.mismatch(function)) is not None:
            return Measurement(error=f"wrong result: {wrong}")
    except PasslineError as error:
        return Measurement(error=str(error))
    runs = [timed_run(each, reference.arguments) for each in (estimated, function)]
    best = alternate(*runs, seconds=task.seconds)
    halves = [(min(a), min(b)) for a, b in zip(*(map(halved, best)), strict=True)]
    old, new = map(min, best)
    return Measurement(new, old, tuple(b / a for a, b in halves))


def timed_run(function: Compiled, arguments: Sequence[Array]) -> Callable[[int], float]:
    """Return a function that returns the seconds of one of a number of calls."""
    if isinstance(function, CudaFunction):
        return lambda repeat: device_seconds(function, arguments, repeat)
    return lambda repeat: timed(lambda: function(*arguments), repeat)


def device_seconds(function: CudaFunction, arguments: Sequence[Array], repeat: int) -> float:
    """Return the seconds that the kernels of a call take on the device."""
    steps = (step for _ in range(repeat) for step in function.step_times(*arguments))
    return sum(step.seconds for step in steps) / repeat


def halved(times: Sequence[float]) -> tuple[Sequence[float], Sequence[float]]:
    """Return the first and the second half of the times."""
    return times[: len(times) // 2], times[len(times) // 2 :]


def alternate(*runs: Callable[[int], float], seconds: float) -> list[list[float]]:
    """Return the times of a call of each function in its turns, for `seconds` in all: the functions
    take turns, so that the frequency and the load of the machine change for all of them. Each run
    returns the seconds of one of a number of calls."""
    times: list[list[float]] = [[] for _ in runs]
    repeats: list[int] = []
    for run in runs:
        run(1)  # the first call touches the memory
        repeats.append(max(1, min(1000, int(TURN / max(run(1), 1e-7)))))
    end = perf_counter() + seconds
    while perf_counter() < end or len(times[0]) < ROUNDS:
        for run, repeat, found in zip(runs, repeats, times, strict=True):
            found.append(run(repeat))
    return times


def timed(run: Callable[[], object], repeat: int) -> float:
    """Return the seconds of one of `repeat` calls: those of the processor, as on a machine with
    other load a thread may wait in every turn of one function, and in none of the other."""
    start = thread_time()
    for _ in range(repeat):
        run()
    return (thread_time() - start) / repeat


def module_of(task: Task) -> ModuleOp:
    """Return the module of a task, with random numbers in the place of constants."""
    import numpy as np

    from ..interpreters.arrays import dense_of, fit

    module = parse_module(make_ir_context(), task.text, "<kernel>")
    set_target(module, Target(task.target))
    main = entry_function(module, "main")
    assert isinstance(main, FuncOp)
    rng = np.random.default_rng(SEED)
    for number in reversed(task.constants):
        type = tensor_type(argument := main.args[number])
        assert isinstance(type, TensorType) and is_element(element := type.element_type)
        constant = ConstantOp(dense_of(fit(rng.standard_normal(type.get_shape()), element), type))
        Rewriter.insert_op(constant, InsertPoint.at_start(main.body.block))
        argument.replace_all_uses_with(constant.result)
        main.body.block.erase_arg(argument)
    main.update_function_type()
    return module


@dataclass(frozen=True)
class Reference:
    """A kernel's results by the semantics, and its machine code with the estimated choices."""

    arguments: Sequence[Array]
    results: Sequence[Value]
    bound: float
    estimated: Compiled

    @staticmethod
    @lru_cache(maxsize=1)
    def of(task: Task) -> Reference:
        """Return a new reference; PasslineError unless semantics and machine code agree."""
        module = module_of(task)
        main = entry_function(module, "main")
        assert isinstance(main, FuncOp)
        names = argument_names(main)
        ranges = {names[i]: range for i, range in index_ranges(module, main).items()}
        arguments = random_arguments(main, SEED, ranges)
        results = interpret(module, main)(*arguments)
        bound = tolerance(epsilon_of(module))
        reference = Reference(arguments, results, bound, compiled(task, ()))
        if (wrong := reference.mismatch(reference.estimated)) is not None:
            raise PasslineError(f"wrong result with the estimated choices: {wrong}")
        return reference

    def mismatch(self, function: Compiled) -> str | None:
        """Return in words how the results of a function differ, or None."""
        results = function(*self.arguments)
        return Comparison(self.bound).mismatch_in(flat_values(self.results), flat_values(results))


def compiled(task: Task, choices: tuple[Choice, ...]) -> Compiled:
    """Return the kernel with some choices as a function; PasslineError if it lacks them, or if it
    is for a GPU and there is none."""
    module, target = module_of(task), Target(task.target)
    record = TuningRecord(task.key, target_key(target), choices, 0, 0, 0, False, "", "", "")
    database = Database([record])
    kernels = legalize_operations(module, target, winograd=task.winograd, database=database)
    made = [made.choice for kernel in kernels.values() for made in kernel.choices.made]
    if not made or [*choices] != made[: len(choices)]:
        raise PasslineError("the kernel does not have these choices")
    with PassContext(opt_level=3, verify_each=False):
        if target.is_cuda:
            return compile_for_device(module, "main", target, default_device())
        return compile_module(module, target=target)


def main() -> None:
    """Measure tasks until stdin ends."""
    tasks, results = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed goes to stderr
    while True:
        try:
            task = cast(Task, pickle.load(tasks))
        except EOFError:
            return
        pickle.dump(measure(task), results)
        results.flush()


if __name__ == "__main__":
    sys.setrecursionlimit(10_000)
    main()


# Processes that measure: one that crashes or takes too long is replaced.


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
