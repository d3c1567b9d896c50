"""Passes in many threads and asyncio tasks at once: same results as one by one."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache
from itertools import product
from threading import Barrier
from time import monotonic

import pytest
from support.passes.toy import Append, Fail, Recorder, tags
from support.programs.relax_programs import random_program
from support.programs.scalar_programs import random_scalar_module

from passline.passes import Canonicalize
from passline.passmanager import PassContext
from passline.passmanager.base import Pass
from passline.passmanager.instruments.statistics import StatisticsInstrument
from passline.passmanager.ir.garbage_collection import paused_collector
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context

THREADS = 16
RUNS = 1000
PIPELINES = (
    "infer-type,fold-constant,eliminate-common-subexpr,dead-code-elimination",
    "lambda-lift,to-a-normal-form,fuse-ops",
    "simplify-expr,inline",
    "canonicalize",
)


@cache
def texts() -> list[str]:
    """Return the smallest of the random programs."""
    relax = [random_program(seed) for seed in (19, 28, 30, 37)]
    return [*relax, *(random_scalar_module(seed, acyclic=True) for seed in (2, 15, 22, 28, 39))]


def make(pipeline: str) -> Pass:
    # The name alone means xDSL's pass, outside of passline-opt.
    return Canonicalize() if pipeline == "canonicalize" else parse_pipeline(pipeline)


def run(text: str, pipeline: str) -> str:
    """Read a module, run a pipeline in a context, and return the module as text."""
    ctx = make_ir_context()
    module = parse_module(ctx, text, "random.mlir")
    with PassContext(opt_level=3) as entered:
        make(pipeline).apply(ctx, module)
        assert PassContext.current() is entered
    return str(module)


@pytest.fixture
def frequent_switches() -> Iterator[None]:
    """Let threads switch as often as CPython can, to provoke races."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def in_threads(work: Callable[[int], object], count: int = THREADS) -> None:
    """Call `work` with the number of each thread, in all threads at once."""
    start = Barrier(count)

    def begin(number: int) -> None:
        start.wait()
        work(number)

    with ThreadPoolExecutor(count) as pool:
        for future in [pool.submit(begin, number) for number in range(count)]:
            future.result()


@pytest.mark.usefixtures("frequent_switches")
def test_a_thousand_runs_in_16_threads_have_the_results_of_single_ones():
    jobs = list(product(texts(), PIPELINES))
    actual: list[str] = [""] * RUNS

    def work(thread: int) -> None:
        for number in range(thread, RUNS, THREADS):
            actual[number] = run(*jobs[number % len(jobs)])

    in_threads(work)
    expected = [run(*job) for job in jobs]
    different = [n for n in range(RUNS) if actual[n] != expected[n % len(jobs)]]
    assert not different
    assert gc.isenabled()


@pytest.mark.usefixtures("frequent_switches")
def test_threads_share_tables_of_reader_printer_and_verifier():
    """For `PASSLINE_STRESS` seconds (2), eight threads read, run and print modules that have
    attributes in common, and others that nobody else has."""
    seconds = float(os.environ.get("PASSLINE_STRESS", "2"))
    if "PASSLINE_STRESS" in os.environ:
        is_locked: Callable[[], bool] | None = getattr(sys, "_is_gil_enabled", None)
        assert is_locked is None or not is_locked(), "an import has turned the lock on"
    # Read again by each thread, so that all of them fill the tables at the same time.
    jobs = list(product(texts(), PIPELINES))
    expected = [run(*job) for job in jobs]
    end = monotonic() + seconds
    different: list[tuple[int, int]] = []

    def own(text: str, number: int) -> str:
        """Return a text with an attribute that no other has."""
        return text.replace("func.return", f"func.return {{own = {number} : i64}}", 1)

    def work(thread: int) -> None:
        number = thread
        while monotonic() < end:
            index = number % len(jobs)
            if run(*jobs[index]) != expected[index]:
                different.append((thread, index))
            text = own(jobs[index][0], 8 * number + thread)
            context = make_ir_context()
            first = str(parse_module(context, text, "own.mlir"))
            if str(parse_module(context, first, "own.mlir")) != first:
                different.append((thread, -index))
            number += THREADS

    in_threads(work, 8)
    assert not different


def test_the_collector_is_not_left_disabled(monkeypatch: pytest.MonkeyPatch):
    """A pause in another thread ends just before this thread would disable the collector."""

    def is_enabled() -> bool:
        answer = is_really_enabled()
        other.close()
        return answer

    is_really_enabled = gc.isenabled
    with ExitStack() as other:
        other.enter_context(paused_collector())
        monkeypatch.setattr(gc, "isenabled", is_enabled)
        with paused_collector():
            pass
    assert is_really_enabled()


def test_a_pause_ends_with_the_first_thread_that_began_it():
    """Overlapping pauses never keep the collector off for good."""
    with paused_collector():
        with paused_collector():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    first, second = ExitStack(), ExitStack()
    first.enter_context(paused_collector())
    second.enter_context(paused_collector())
    first.close()
    assert gc.isenabled()
    second.close()
    assert gc.isenabled()


def test_first_use_in_many_threads_at_once():
    """The first look-ups fill the registries and caches of the process, and import the passes."""
    script = """
        import sys
        from concurrent.futures import ThreadPoolExecutor
        from threading import Barrier
        sys.setswitchinterval(1e-6)
        start = Barrier(16)
        text = '''func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
          %1 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
          %2 = relax.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          func.return %2 : tensor<4xf32>
        }'''
        def work(_):
            start.wait()
            from passline.passmanager import PassContext
            from passline.passmanager.ir.text.parser import parse_module
            from passline.passmanager.pipeline import parse_pipeline
            from passline.passmanager.registry import make_ir_context
            ctx = make_ir_context()
            module = parse_module(ctx, text, "a.mlir")
            with PassContext(opt_level=3):
                parse_pipeline("infer-type,eliminate-common-subexpr").apply(ctx, module)
            return str(module)
        with ThreadPoolExecutor(16) as pool:
            results = set(pool.map(work, range(16)))
        assert len(results) == 1, results
        print(results.pop().count("relax.exp"))
    """
    command = [sys.executable, "-X", "dev", "-W", "error::ResourceWarning", "-c"]
    done = subprocess.run(
        [*command, textwrap.dedent(script)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr


@pytest.mark.usefixtures("frequent_switches")
def test_each_thread_has_its_own_context():
    def work(thread: int) -> None:
        assert PassContext.current().opt_level == 2
        for _ in range(50):
            with PassContext(disabled_pass=[f"p{thread}"]) as outer:
                with PassContext(opt_level=3) as inner:
                    assert PassContext.current() is inner
                assert PassContext.current() is outer
        assert PassContext.current().opt_level == 2

    with PassContext(opt_level=4):
        in_threads(work)


@pytest.mark.usefixtures("frequent_switches")
def test_a_failure_in_one_thread_is_not_seen_in_another():
    def work(thread: int) -> None:
        for _ in range(10):
            ctx = make_ir_context()
            module = parse_module(ctx, "", "empty.mlir")
            with PassContext(instruments=[recorder := Recorder()]):
                if thread % 2:
                    with pytest.raises(ValueError, match=f"thread {thread}\\n"):
                        Fail(f"thread {thread}").apply(ctx, module)
                else:
                    Append(f"{thread}").apply(ctx, module)
                    assert tags(module) == [f"{thread}"]
            hooks = [event.split()[1] for event in recorder.events]
            assert hooks.count("failed") == thread % 2
            assert hooks.count("after") == 1 - thread % 2

    in_threads(work)


@pytest.mark.usefixtures("frequent_switches")
def test_one_context_may_be_entered_in_all_threads():
    statistics = StatisticsInstrument()
    shared = PassContext(instruments=[statistics])

    def work(thread: int) -> None:
        for number in range(10):
            ctx = make_ir_context()
            module = parse_module(ctx, "", "empty.mlir")
            with shared:
                Append(f"{number}").apply(ctx, module)
                assert PassContext.current() is shared
            assert tags(module) == [f"{number}"]

    in_threads(work)
    found = statistics.passes["toy-append"]
    assert (found.runs, found.changed, found.failed) == (160, 160, 0)


# asyncio


def test_tasks_keep_their_context_across_awaits():
    async def task(level: int) -> list[str]:
        module = parse_module(ctx := make_ir_context(), "", "empty.mlir")
        with PassContext(opt_level=level % 5) as own:
            for step in range(5):
                assert PassContext.current() is own
                Append(f"{level}.{step}").apply(ctx, module)
                await asyncio.sleep(0)
            assert PassContext.current() is own
        return tags(module)

    async def main() -> list[list[str]]:
        with PassContext(opt_level=4) as around:
            found = await asyncio.gather(*map(task, range(20)))
            assert PassContext.current() is around
        return found

    assert asyncio.run(main()) == [[f"{n}.{step}" for step in range(5)] for n in range(20)]


def test_a_task_begins_in_the_context_in_which_it_was_created():
    async def level() -> int:
        await asyncio.sleep(0)
        return PassContext.current().opt_level

    async def main() -> tuple[int, int]:
        with PassContext(opt_level=3):
            inside = asyncio.create_task(level())
        return await inside, await asyncio.create_task(level())

    assert asyncio.run(main()) == (3, 2)


def test_a_cancelled_task_leaves_its_context():
    async def waiting() -> None:
        with PassContext(opt_level=4):
            await asyncio.sleep(3600)

    async def main() -> int:
        task = asyncio.create_task(waiting())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return PassContext.current().opt_level

    assert asyncio.run(main()) == 2


def test_to_thread_begins_with_the_default_context():
    """The thread of `asyncio.to_thread` has a copy of the variables of the task, but it is another
    thread: the passes in it take no context that the task may leave meanwhile."""

    async def main() -> list[tuple[int, str]]:
        with PassContext(opt_level=4):
            jobs = [asyncio.to_thread(work) for _ in range(8)]
            found = await asyncio.gather(*jobs)
            assert PassContext.current().opt_level == 4
        return found

    def work() -> tuple[int, str]:
        return PassContext.current().opt_level, run(texts()[0], PIPELINES[0])

    assert asyncio.run(main()) == [(2, run(texts()[0], PIPELINES[0]))] * 8
