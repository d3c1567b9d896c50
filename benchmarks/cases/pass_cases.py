"""The passes of `tvm_passes.py` in the table of `make bench`, beside TVM's on the same graphs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

from cases.tvm_passes import GRAPHS, PASSES, our_module, our_seconds, tvm_module, tvm_seconds
from table.rows import SIZES, Case, Pair, Sample, Scope, Unavailable, sizes
from xdsl.dialects.builtin import ModuleOp

__all__ = ["cases"]

QUICK_GRAPH = "convolutions"


def cases(scope: Scope) -> Iterator[Case]:
    """Yield the cases of all passes on all graphs that are for them."""
    for ops in sizes(scope):
        for graph in GRAPHS:
            for name, compared in PASSES.items():
                if graph in compared.graphs:
                    prepare = partial(pair_of, name, graph, ops)
                    quick = graph == QUICK_GRAPH and ops == SIZES[0]
                    yield Case("pass", f"{name}, {graph}", "TVM", prepare, ops, quick=quick)


@lru_cache(maxsize=2)  # the small graph and the one that is measured
def modules_of(graph: str, ops: int) -> tuple[int, ModuleOp, Any]:
    """Return the number of operations of a graph, and the graph as our module and as TVM's."""
    steps = GRAPHS[graph](ops)
    return sum(map(len, steps)), our_module(steps), tvm_module(steps)


def pair_of(name: str, graph: str, ops: int) -> Pair:
    """Return both passes, after a run of each on a small graph, which imports modules."""
    try:
        from tvm import relax, transform
        from tvm.target import Target
    except ImportError:
        raise Unavailable("apache-tvm is not installed") from None
    compared = PASSES[name]
    peer = getattr(relax.transform, compared.peer)()
    before = [getattr(relax.transform, pass_name)() for pass_name in compared.before]

    def pair(size: int) -> Pair:
        count, ours, theirs = modules_of(graph, size)
        if before:
            with Target("llvm"):
                theirs = transform.Sequential(before)(theirs)
        return Pair(
            lambda: Sample(our_seconds(name, ours)),
            lambda: Sample(tvm_seconds(peer, theirs)),
            ops=count,
        )

    small = pair(60)
    for side in (small.ours, small.peer):
        if side is not None:
            side()
    return pair(ops)
