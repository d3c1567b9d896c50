"""Pipelines on small functions, as a JIT compiler runs them.

make bench FILTER=pipeline

TVM does not verify, ours does: what changed. With verification, xDSL's PassPipeline verifies the
module after each pass, as xdsl-opt does. TVM's side of -O3 is its pipeline `zero`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

from cases.tvm_passes import convolutions, our_module, tvm_module, wide
from table.rows import Case, Pair, Scope, Side, Unavailable, once, timed
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline

from passline.passmanager import PassContext, Sequential
from passline.passmanager.fast.clone import clone
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context

__all__ = ["cases"]

OURS = "dead-code-elimination,eliminate-common-subexpr,fold-constant,canonicalize"
TVMS = "DeadCodeElimination", "EliminateCommonSubexpr", "FoldConstant", "CanonicalizeBindings"
XDSLS = "dce,cse,canonicalize"
GRAPHS = {"convolutions": convolutions, "wide": partial(wide, copies=1)}


def on_copies(
    pipeline: ModulePass | PassPipeline, module: ModuleOp, verify_each: bool = True
) -> Side:
    """Return what makes a copy of `module`, and returns a run of a pipeline on it."""
    ir_context = make_ir_context()

    def prepare() -> Callable[[], object]:
        copy = clone(module)

        def run() -> None:
            with PassContext(opt_level=3, verify_each=verify_each):
                pipeline.apply(ir_context, copy)

        return run

    prepare()()  # imports
    return prepare


def beside_tvm(graph: str, ops: int, text: str, peer: Callable[[Any], Any]) -> Pair:
    """Return our pipeline `text` and TVM's, which `peer` makes of `tvm.relax`."""
    try:
        relax: Any = import_module("tvm.relax")
        from tvm.target import Target
    except ImportError:
        raise Unavailable("apache-tvm is not installed") from None
    steps = GRAPHS[graph](ops)
    module, other = our_module(steps), tvm_module(steps)

    def theirs() -> None:
        with Target("llvm"):
            pipeline(other)

    pipeline = peer(relax)
    theirs()  # imports
    return Pair(timed(on_copies(parse_pipeline(text), module)), timed(once(theirs)))


def twenty_of_tvm(relax: Any) -> Any:
    from tvm.ir import transform

    sequence: Any = transform.Sequential([getattr(relax.transform, name)() for name in TVMS] * 5)
    return sequence


def zero_of_tvm(relax: Any) -> Any:
    return relax.get_pipeline("zero")


def beside_xdsl(graph: str, ops: int, verify: bool) -> Pair:
    """Return our Sequential and xDSL's PassPipeline of the same 21 passes of xDSL."""
    passes = (*parse_pipeline(XDSLS).passes,) * 7
    module = our_module(GRAPHS[graph](ops))
    peer = PassPipeline(passes, (lambda _, after, __: after.verify()) if verify else None)
    ours = on_copies(Sequential(passes), module, verify_each=verify)
    return Pair(timed(ours), timed(on_copies(peer, module)))


def cases(scope: Scope) -> Iterator[Case]:
    """Yield the cases of both graphs."""
    for graph in GRAPHS:
        twenty = partial(beside_tvm, graph, 50, ",".join([OURS] * 5), twenty_of_tvm)
        yield Case("pipeline", f"20 passes, {graph}", "TVM", twenty, 50)
        optimize = partial(beside_tvm, graph, 10, "optimize", zero_of_tvm)
        yield Case("pipeline", f"-O3, {graph}", "TVM", optimize, 10)
        for verify in (True, False):
            xdsls = partial(beside_xdsl, graph, 50, verify)
            on = f"21 of xDSL's passes, {graph}" + (", verified" if verify else "")
            yield Case("pipeline", on, "xDSL", xdsls, 50)
