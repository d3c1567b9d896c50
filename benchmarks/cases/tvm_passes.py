"""Passes that TVM's Relax has too, and graphs to run both on.

Neither side verifies. Ours edits a copy made before the clock starts; TVM's passes leave their
input alone. TVM fuses calls of kernels, so LegalizeOps and AnnotateTIROpPattern run before its
FuseOps, outside of the clock; ours fuses the operations themselves.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any, TypeAlias

from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from passline.dialects.relax.contraction.convolution import Conv2dOp
from passline.dialects.relax.elementwise.activation import ReluOp
from passline.dialects.relax.elementwise.binary import AddOp, MaximumOp, MultiplyOp, SubtractOp
from passline.dialects.relax.elementwise.unary import ExpOp, NegativeOp
from passline.passes import REPLACEMENTS
from passline.passmanager import PassContext
from passline.passmanager.fast.clone import clone
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import installed, make_ir_context
from passline.passmanager.run import Run
from passline.passmanager.runner import info_of, run_pass

__all__ = ["GRAPHS", "PASSES", "our_module", "our_seconds", "tvm_module", "tvm_seconds"]

# Graphs, for both sides


@dataclass(frozen=True)
class Step:
    """An operation on values: numbers 0, 1, 2 are the parameters, 3 the first step's, and so on."""

    op: str
    operands: tuple[int, ...]


Graph: TypeAlias = Sequence[Sequence[Step]]
"""The steps of each function; it returns the value of its last step."""

DATA, WEIGHT, BIAS, FIRST = range(4)
SHAPES = {DATA: (1, 8, 8, 8), WEIGHT: (8, 8, 3, 3), BIAS: (8, 1, 1)}
UNARY, BINARY = ("exp", "negative", "relu"), ("add", "subtract", "multiply", "maximum")


def chain(size: int) -> Graph:
    """Return a chain of unary operations."""
    return [[Step(UNARY[i % 3], (FIRST + i - 1 if i else DATA,)) for i in range(size)]]


def wide(size: int, copies: int) -> Graph:
    """Return binary operations on values picked at random, each written `copies` times."""
    pick = random.Random(0)
    steps = [Step("exp", (DATA,)), Step("negative", (DATA,))]
    seen: set[Step] = set()
    while len(steps) < size:
        last = FIRST + len(steps) - 1
        step = Step(pick.choice(BINARY), (last, pick.randint(FIRST, last)))
        if step not in seen:
            seen.add(step)
            steps += [step] * copies
    return [steps]


def half_dead(size: int, length: int = 50) -> Graph:
    """Return functions of `length` operations, every second of which is unused.

    Not a single function: the time of TVM's pass grows with the square of the unused operations.
    """
    steps: list[Step] = []
    for i in range(length // 2):
        value = FIRST + len(steps) - 1 if i else DATA
        steps += (Step("add", (value, value)), Step(UNARY[i % 3], (value,)))
    return [steps] * (size // length)


def convolutions(size: int) -> Graph:
    """Return residual blocks: two convolutions with bias and relu, and a sum."""
    steps: list[Step] = []
    value = DATA
    while len(steps) + 7 <= size:
        block = value
        for _ in range(2):
            at = FIRST + len(steps)
            steps += (Step("conv2d", (value, WEIGHT)), Step("add", (at, BIAS)))
            steps.append(Step("relu", (at + 1,)))
            value = at + 2
        steps.append(Step("add", (value, block)))
        value = FIRST + len(steps) - 1
    return [steps]


def functions(size: int, length: int = 50) -> Graph:
    """Return functions of `length` binary operations each."""
    return [graph[0] for graph in [wide(length, 1)] * (size // length)]


GRAPHS: dict[str, Callable[[int], Graph]] = {
    "chain": chain,
    "wide": lambda size: wide(size, 1),
    "duplicates": lambda size: wide(size, 2),
    "half dead": half_dead,
    "convolutions": convolutions,
    "functions": functions,
}


# Ours

OPS: dict[str, Callable[..., Operation]] = {
    "add": AddOp,
    "conv2d": lambda data, weight: Conv2dOp(data, weight, padding=[1, 1, 1, 1]),
    "exp": ExpOp,
    "maximum": MaximumOp,
    "multiply": MultiplyOp,
    "negative": NegativeOp,
    "relu": ReluOp,
    "subtract": SubtractOp,
}


def our_module(graph: Graph) -> ModuleOp:
    """Return the graph in `relax`."""
    types = [TensorType(f32, shape) for shape in SHAPES.values()]
    functions: list[Operation] = []
    for number, steps in enumerate(graph):
        func = FuncOp(f"f{number}", (types, types[:1]))
        values: list[SSAValue] = [*func.args]
        for step in steps:
            op = OPS[step.op](*[values[operand] for operand in step.operands])
            values.append(op.results[0])
            func.body.block.add_op(op)
        func.body.block.add_op(ReturnOp(values[-1]))
        functions.append(func)
    return ModuleOp(functions)


def our_seconds(pass_name: str, module: ModuleOp) -> float:
    """Time passes, with commas between them, on a copy of `module`, without requirements."""
    passes = parse_pipeline(pass_name, installed().passes | REPLACEMENTS).passes
    copy, ir_context = clone(module), make_ir_context()
    with PassContext(opt_level=3, verify_each=False) as ctx:
        gc.collect()
        start = process_time()
        for pass_ in passes:
            with Run.on(copy, ir_context) as run:
                run_pass(pass_, info_of(pass_), run, ctx)
        return process_time() - start


# TVM's


def tvm_module(graph: Graph) -> Any:
    """Return the graph in Relax, a dataflow block for each function."""
    from tvm import relax

    ops = {name: getattr(relax.op, name) for name in OPS if name not in ("conv2d", "relu")}
    ops["relu"] = relax.op.nn.relu
    ops["conv2d"] = lambda data, weight: relax.op.nn.conv2d(data, weight, padding=(1, 1, 1, 1))
    builder = relax.BlockBuilder()
    for number, steps in enumerate(graph):
        values = [
            relax.Var(f"p{i}", relax.TensorType(shape, "float32")) for i, shape in SHAPES.items()
        ]
        with builder.function(f"f{number}", [*values]):
            with builder.dataflow():
                for step in steps:
                    call = ops[step.op](*[values[operand] for operand in step.operands])
                    values.append(builder.emit(call))
                output = builder.emit_output(values[-1])
            builder.emit_func_output(output)
    return builder.finalize()


def tvm_seconds(pass_: Any, module: Any) -> float:
    """Time a pass of TVM's."""
    from tvm.target import Target

    with Target("llvm"):
        gc.collect()
        start = process_time()
        pass_(module)
        return process_time() - start


@dataclass(frozen=True)
class Compared:
    """A pass of ours, the passes of TVM's that do the same, and the graphs to run them on."""

    peer: str
    graphs: tuple[str, ...]
    before: tuple[str, ...] = ()
    """Passes that TVM's pass needs before it, which are not timed."""


_ALL = tuple(GRAPHS)
_NETWORKS = ("chain", "wide", "convolutions", "functions")
PASSES = {
    "eliminate-common-subexpr": Compared("EliminateCommonSubexpr", _ALL),
    # with the pass that it requires, unless that ran before
    "infer-type,eliminate-common-subexpr": Compared("EliminateCommonSubexpr", _ALL),
    "dead-code-elimination": Compared("DeadCodeElimination", (*_NETWORKS, "half dead")),
    "fuse-ops": Compared("FuseOps", _NETWORKS, ("LegalizeOps", "AnnotateTIROpPattern")),
    "legalize-ops": Compared("LegalizeOps", _NETWORKS),
    "fold-constant": Compared("FoldConstant", _NETWORKS),
    "canonicalize": Compared("CanonicalizeBindings", _NETWORKS),
    "infer-type": Compared("Normalize", _NETWORKS),
}
"""Our passes and TVM's. CanonicalizeBindings and Normalize are the nearest that TVM has."""
