"""Growth of time and peak memory with the number of operations, each run a process of its own.

    make bench-growth                       # up to a million operations; takes long
    make bench-growth FILTER=inline         # of one of the general passes, on each of its inputs

A process makes its input, which is not timed: verifying, printing, copying and the passes need a
module, which our parser reads for both sides. The peak memory is that of the whole process, with
its input, less that of a process with an input of 26 operations. The peer takes part up to 100,000
operations.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import log
from pathlib import Path
from statistics import linear_regression
from time import process_time
from typing import NamedTuple

from cases.general import GENERAL, GENERAL_INPUTS
from cases.text import STEPS
from cases.workloads import Workload, relax_graph, tensor_ops
from table.rows import SIZES, Case, Pair, Round, Row, Run, Sample, Scope, sizes

from passline.passes import REPLACEMENTS
from passline.passmanager import PassContext
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import installed, make_ir_context

__all__ = ["Growth", "cases", "exponent", "growths"]

OURS, PEER = 0, 1
PEER_AT_MOST = 100_000
ONE_ROUND_FROM = 100_000
MEMORY_FROM = 10_000
"""The memory of smaller inputs is within the granularity of the allocator."""
SMALL = 26


def optimize(workload: Workload) -> Run:
    """Return the pipeline of -O3 on the module of a workload, with its verification."""
    module, ir_context = workload.module, make_ir_context()

    def run() -> None:
        with PassContext(opt_level=3):
            parse_pipeline("optimize").apply(ir_context, module)

    return run


def run_pass(text: str, workload: Workload) -> Run:
    """Return a pass on the module of a workload, without verification."""
    module, ir_context = workload.module, make_ir_context()

    def run() -> None:
        with PassContext(opt_level=4, verify_each=False):
            parse_pipeline(text, installed().passes | REPLACEMENTS).apply(ir_context, module)

    return run


INPUTS: Mapping[str, Callable[[int], str]] = {
    "tensor ops": tensor_ops,
    "relax graph": relax_graph,
    **GENERAL_INPUTS,
}
TASKS: Mapping[str, tuple[str, Sequence[Callable[[Workload], Run]]]] = {
    **{step: ("tensor ops", STEPS[step]) for step in ("read", "verify", "print", "copy")},
    "optimize": ("relax graph", (optimize,)),
}
"""Task -> its input, and our side and the peer's, if there is one."""


def cases(scope: Scope) -> Iterator[Case]:
    """Yield the cases of all tasks, if growth is in the scope."""
    if not scope.growth:
        return
    for task, (on, sides) in TASKS.items():
        for ops in sizes(scope, at_most=SIZES[-1]):
            with_peer = len(sides) > PEER and ops <= PEER_AT_MOST
            rounds = 1 if ops >= ONE_ROUND_FROM else 3
            prepare = partial(pair_of, task, on, ops, with_peer)
            yield Case(f"growth: {task}", on, "xDSL" if with_peer else "", prepare, ops, rounds)
    # These are not on the page: a pass has a handful of inputs.
    for name, inputs in GENERAL.items():
        for on in inputs:
            for ops in sizes(scope, at_most=SIZES[-1]):
                prepare = partial(pair_of, name, on, ops, False)
                yield Case(f"growth of {name}", on, "", prepare, ops, 1, quick=False)


def pair_of(task: str, on: str, ops: int, with_peer: bool) -> Pair:
    """Return processes of both sides, and what their memory is without IR."""
    sides = (OURS, PEER) if with_peer else (OURS,)
    bases = [process(task, on, SMALL, side)().peak for side in sides]
    rounds = [process(task, on, ops, side) for side in sides]
    return Pair(rounds[0], rounds[1] if with_peer else None, base=(bases[0], bases[-1]))


def process(task: str, on: str, ops: int, side: int) -> Round:
    """Return a round that does a task in a process of its own."""

    def sample() -> Sample:
        command = [sys.executable, __file__, task, on, str(ops), str(side)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError((done.stderr.strip().splitlines() or ["the process died"])[-1])
        return Sample(**json.loads(done.stdout))

    return sample


def perform(task: str, on: str, ops: int, side: int) -> Sample:
    """Do a task, or run a general pass, in this process."""
    prepare = TASKS[task][1][side] if task in TASKS else partial(run_pass, task)
    prepare(Workload(on, SMALL, partial(INPUTS[on], SMALL)))()  # imports
    run = prepare(Workload(on, ops, partial(INPUTS[on], ops)))
    gc.collect()
    start = process_time()
    result = run()
    seconds = process_time() - start
    del result
    return Sample(seconds, peak_memory())


def peak_memory() -> int:
    """Return the peak resident memory of this process in bytes.

    On Linux `ru_maxrss` has the memory of the parent in it, from before `exec`.
    """
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = (s for s in status.read_text().splitlines() if s.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    from resource import RUSAGE_SELF, getrusage

    return getrusage(RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


# Exponents


class Growth(NamedTuple):
    """The exponents of time and memory of one side of a task; None if there is one size only."""

    what: str
    on: str
    side: str
    time: float | None
    memory: float | None


def exponent(points: Sequence[tuple[float, float]]) -> float | None:
    """Return the slope of a line through the logarithms of the points, by least squares."""
    points = [(x, y) for x, y in points if y > 0]
    if len({x for x, _ in points}) < 2:
        return None
    return linear_regression([log(x) for x, _ in points], [log(y) for _, y in points]).slope


def growths(rows: Sequence[Row]) -> list[Growth]:
    """Return the exponents of each task in `rows`, of ours and of the peer."""
    tasks: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.what.startswith("growth") and row.ours:
            tasks.setdefault((row.what, row.on), []).append(row)
    found: list[Growth] = []
    for (what, on), mine in tasks.items():
        times = [(row.ops, row.seconds or 0) for row in mine]
        memory = [(row.ops, row.memory) for row in mine if row.ops >= MEMORY_FROM]
        found.append(Growth(what, on, "Passline", exponent(times), exponent(memory)))
        if theirs := [row for row in mine if row.theirs]:
            times = [(row.ops, row.peer_seconds or 0) for row in theirs]
            memory = [(row.ops, row.peer_memory) for row in theirs if row.ops >= MEMORY_FROM]
            found.append(Growth(what, on, theirs[0].peer, exponent(times), exponent(memory)))
    return [growth for growth in found if growth.time is not None]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("task")
    parser.add_argument("on")
    parser.add_argument("ops", type=int)
    parser.add_argument("side", type=int)
    args = parser.parse_args()
    # As in passline-opt.
    gc.set_threshold(100_000, 20, 100)
    sys.setrecursionlimit(200_000)
    print(json.dumps(perform(args.task, args.on, args.ops, args.side).__dict__))
