"""Whole tools on files, each run a process of its own: `passline-opt` beside `xdsl-opt` and
`mlir-opt`.

The time is that of the wall clock, from the start of the process to its end; the output is thrown
away.
"""

from __future__ import annotations

import atexit
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from cases.workloads import Workload, synthetic
from table.rows import Case, Pair, Round, Sample, Scope, Unavailable, sizes

__all__ = ["cases", "find_tool", "process"]

WORKLOADS = ("tensor ops", "scalar ops")
PASSES = ("-p", "canonicalize,cse")
PEERS = {"xdsl-opt": PASSES, "mlir-opt": ("--canonicalize", "--cse")}
"""Tool -> its options for the passes."""
MLIR_OPT = ("mlir-opt-22", "mlir-opt")
SMALL = 20


def cases(scope: Scope) -> Iterator[Case]:
    """Yield the cases of `--version` and of each file size; files live as long as this process."""
    for peer in PEERS:
        version = ["--version"]
        yield Case("tool", "--version", peer, partial(pair_of, peer, version, version))
    for ops in (SMALL, *sizes(scope)):
        if ops == 1_000:
            continue  # between two sizes that say more
        for workload in synthetic(WORKLOADS, ops):
            for peer in PEERS:
                prepare = partial(pair_on, workload, peer)
                on, quick = f"{workload.name}, canonicalize,cse", workload.name == WORKLOADS[0]
                yield Case("tool", on, peer, prepare, ops, quick=quick, on_page=True)


@cache
def folder() -> Path:
    """Return the folder of the files, which is made once."""
    made = TemporaryDirectory()
    atexit.register(made.cleanup)
    return Path(made.name)


def pair_on(workload: Workload, peer: str) -> Pair:
    """Return both tools on the file of a workload."""
    path = folder() / f"{workload.name.replace(' ', '-')}-{workload.ops}.mlir"
    path.write_text(workload.text)
    return pair_of(peer, [*PASSES, str(path)], [*PEERS[peer], str(path)])


def pair_of(peer: str, ours: Sequence[str], theirs: Sequence[str]) -> Pair:
    """Return both tools with their arguments, after a run of each, which reads it from the disk."""
    tools = find_tool("passline-opt"), find_tool(*(MLIR_OPT if peer == "mlir-opt" else (peer,)))
    for tool in tools:
        process([tool, "--version"])()
    return Pair(process([tools[0], *ours]), process([tools[1], *theirs]))


def find_tool(*names: str) -> str:
    """Return the path of the first of these tools, beside this Python or on the PATH."""
    for name in names:
        beside = Path(sys.executable).with_name(name)
        if found := (str(beside) if beside.is_file() else shutil.which(name)):
            return found
    raise Unavailable(f"there is no {names[-1]}")


def process(command: Sequence[str]) -> Round:
    """Return a round that times a process; RuntimeError with its last message if it fails."""

    def sample() -> Sample:
        start = perf_counter()
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        seconds = perf_counter() - start
        if done.returncode:
            message = done.stderr.decode(errors="replace").strip().splitlines()
            raise RuntimeError(f"{Path(command[0]).name}: {(message or ['failed'])[-1]}")
        return Sample(seconds)

    return sample
