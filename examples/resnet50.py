"""A real model through all of Passline: ResNet-50, as shipped with the package onnx.

python examples/resnet50.py [MODEL.onnx] [--level 3] [--report FILE.html]
"""
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# onnxruntime has no types.

from __future__ import annotations

import argparse
import math
import os
import shlex
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
from onnx import numpy_helper
from rich.console import Console
from xdsl.dialects.builtin import MemRefType, ModuleOp, TensorType
from xdsl.dialects.memref import AllocOp
from xdsl.ir import Attribute, Operation
from xdsl.traits import ConstantLike

import passline
from passline.compiler.frontends.onnx import import_model
from passline.compiler.interpreters.arguments import random_arguments
from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function
from passline.passes import OPTIMIZE
from passline.passmanager import PassContext, PasslineError
from passline.passmanager.instruments import ReportInstrument
from passline.passmanager.ir.text.printer import PrintStyle, module_text
from passline.passmanager.output.status import doing
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context

RESNET = Path(onnx.__file__).parent / "backend/test/data/light/light_resnet50.onnx"
BUILD = Path(__file__).resolve().parents[1] / "build"
"""The directory of the report, which git ignores."""
STAGES = {
    "optimized": ",".join(OPTIMIZE[:-1]),
    "fused": OPTIMIZE[-1],
    "lowered to loops": "lower-to-tir",
}
"""The stages of the compilation, and their pipelines."""
WIDTH = min(79, shutil.get_terminal_size().columns - 1)
MORE = """\
  passline-opt "$model" -O{0} --explain-pipeline    # which passes run, and why
  passline-opt "$model" -O{0} --no-print --timing   # how long each pass took
  passline-opt "$model" -O{0} --no-print --print-diff 2>&1 | more  # each change
  passline-run "$model" -O{0} --engine={1:<6}       # the result as numbers"""


class Stage(NamedTuple):
    """The size of the program after a stage of the compiler, and the time that the stage took."""

    title: str
    nodes: int
    calls: int
    kernels: int
    megabytes: float
    seconds: float

    def __str__(self) -> str:
        calls = f"{self.calls:6}{self.kernels:8}" if self.calls else f"{'':14}"
        return (
            f"  {self.title:17}{self.nodes:6}{calls}{self.megabytes:8.1f}{1000 * self.seconds:9.0f}"
        )


HEADER = f"  {'':17}{'nodes':>6}{'calls':>6}{'kernels':>8}{'MB':>8}{'took ms':>9}"


def is_node(op: Operation) -> bool:
    """Return whether an op of the model computes something."""
    return is_call(op) or (
        op.name.startswith("relax.") and not op.has_trait(ConstantLike, value_if_unregistered=False)
    )


def is_call(op: Operation) -> bool:
    """Return whether an op calls a kernel."""
    return op.name in ("func.call", "tir.call")


def size_of(type: Attribute) -> float:
    """Return the size of a tensor or buffer of known shape in megabytes."""
    if not isinstance(type, TensorType | MemRefType) or -1 in type.get_shape():
        return 0
    bits: int = getattr(type.get_element_type(), "bitwidth", 0)
    return math.prod(type.get_shape()) * bits / 8e6


def stage_of(title: str, module: ModuleOp, seconds: float) -> Stage:
    """Return what a stage left of the model.

    Its memory is that of all intermediate values, or, once it is planned, the buffer that has them.
    """
    ops = list(entry_function(module, "main").walk())
    nodes = [op for op in ops if is_node(op)]
    calls = [op for op in ops if is_call(op)]
    kernels = {str(op.properties.get("callee", op.attributes.get("callee"))) for op in calls}
    planned = [op for op in ops if isinstance(op, AllocOp)]
    held = [result.type for op in planned or nodes for result in op.results]
    return Stage(title, len(nodes), len(calls), len(kernels), sum(map(size_of, held)), seconds)


def head(module: ModuleOp, lines: int) -> str:
    """Return the first lines of the model as text, without constants, cut off on the right."""
    text = module_text(module, make_ir_context(), PrintStyle(elide_elements=8))
    shown = text[text.index("  func.func @main") :].splitlines()[1:]
    shown = [x for x in shown if "= relax.full " not in x and "= relax.constant " not in x]
    return "\n".join(x if len(x) <= WIDTH else f"{x[: WIDTH - 3]}..." for x in shown[:lines])


def compare(functions: dict[str, Callable[[], object]]) -> list[str]:
    """Return a line for each function with the best time of three runs, which alternate."""
    times = dict.fromkeys(functions, math.inf)
    for _ in range(3):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            times[name] = min(times[name], time.perf_counter() - start)
    return [f"  {name:42}{1000 * seconds:9.1f} ms" for name, seconds in times.items()]


def with_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """Replace the fills that stand for weights, which keep files small, by random weights: numpy
    would compute one output of a convolution with a fill, and repeat it."""
    rng = np.random.default_rng(0)
    graph = model.graph
    shapes = {tensor.name: tensor for tensor in graph.initializer}
    fills = [n for n in graph.node if n.op_type == "ConstantOfShape" and n.input[0] in shapes]
    for node in fills:
        shape = [int(size) for size in numpy_helper.to_array(shapes[node.input[0]])]
        if len(shape) > 1:  # scaled so that activations neither vanish nor explode
            weight = rng.normal(0, math.sqrt(2 / math.prod(shape[1:])), shape)
        else:
            weight = rng.uniform(0.5, 1.5, shape)
        graph.initializer.append(numpy_helper.from_array(weight.astype(np.float32), node.output[0]))
        graph.node.remove(node)
    return model


def onnxruntime_of(
    model: onnx.ModelProto, arguments: Sequence[object]
) -> dict[str, Callable[[], object]]:
    """Return the model as a function of onnxruntime on one thread; nothing if it is not
    installed."""
    try:
        import onnxruntime as ort  # pyright: ignore[reportMissingTypeStubs]
    except ModuleNotFoundError:
        return {}
    options = ort.SessionOptions()
    options.log_severity_level = 3  # no warnings
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    content = model.SerializeToString()
    session = ort.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_inputs()]
    values = dict(zip(names, map(np.asarray, arguments)))
    return {f"onnxruntime {ort.__version__}, one thread": lambda: session.run(None, values)}


def run(file: Path, level: int) -> list[str]:
    """Run the model, with random weights, as machine code, with onnxruntime and on numpy; return
    the times, and a sentence on what could not be run."""
    model = with_weights(onnx.load(file))
    module = import_model(model)
    arguments = random_arguments(entry_function(module, "main"), seed=0)
    functions: dict[str, Callable[[], object]] = {}
    missing: list[str] = []
    start = time.perf_counter()
    try:
        native = passline.compile(module, level=level, cache=False)
        seconds = time.perf_counter() - start
        title = f"machine code, one thread, compiled in {seconds:.0f} s"
        functions[title] = lambda: native(*arguments)
    except PasslineError as error:
        missing.append(f"Not run as machine code: {error}")
    functions |= (beside := onnxruntime_of(model, arguments))
    if not beside:
        missing.append("Not compared with onnxruntime, which is not installed")
    fused = passline.optimize(module, level=level)
    on_numpy = interpret(fused, entry_function(fused, "main"))
    threads = "one thread" if os.environ.get("OPENBLAS_NUM_THREADS") == "1" else "all threads"
    functions[f"numpy, {threads}"] = lambda: on_numpy(*arguments)
    notes = [
        textwrap.fill(note, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
        for note in missing
    ]
    return [*compare(functions), *notes]


def commands(file: Path, level: int, native: bool) -> list[str]:
    """Return commands that show more of the same, to be pasted into a shell in this directory."""
    lines = [
        f"  model={shlex.quote(from_here(file))}",
        MORE.format(level, "native" if native else "numpy"),
    ]
    activate = Path(sys.prefix, "bin", "activate")
    if activate.exists() and not shutil.which("passline-opt"):
        lines.insert(0, f"  . {shlex.quote(from_here(activate))}")
    return lines


def from_here(path: Path) -> str:
    """Return a path, relative if the file is in the current directory."""
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def write_report(file: Path, level: int, report: Path) -> None:
    """Write the report of all stages; recording takes time, so they are run once more."""
    with PassContext(opt_level=level, instruments=[ReportInstrument(report, title=file.name)]):
        parse_pipeline(",".join(STAGES.values()))(import_model(file))


def show(file: Path, level: int, report: Path) -> None:
    """Take the model through all stages, and print what each did, on one screen; the last line is
    the path of the report."""
    console = Console(highlight=False, soft_wrap=True)

    def title(text: str, more: str) -> None:
        console.print(f"\n[bold]{text}[/] {more}".rstrip())

    start = time.perf_counter()
    with doing("importing"):
        module = import_model(file)
    stages = [stage_of("imported", module, time.perf_counter() - start)]
    console.print(f"[bold]{file.name}[/], {file.stat().st_size / 1000:.0f} kB")
    title("What went in", "(without constants)")
    console.print(head(module, 5), markup=False)
    fused = module
    for name, pipeline in STAGES.items():
        start = time.perf_counter()
        with PassContext(opt_level=level), doing(f"compiling: {name}"):
            module = parse_pipeline(pipeline)(module)
        stages.append(stage_of(name, module, time.perf_counter() - start))
        if name == "fused":
            fused = module
    title("What came out", f"of -O{level}")
    console.print(head(fused, 5), markup=False)
    title("The model after each stage", "(MB: of intermediate values)")
    console.print("\n".join([HEADER, *map(str, stages)]), markup=False)
    title("One inference", "(random weights, the best of three)")
    with doing("running the model"):
        lines = run(file, level)
    console.print("\n".join(lines), markup=False)
    title("To see more", "(paste into a shell)")
    console.print("\n".join(commands(file, level, lines[0].startswith("  machine"))), markup=False)
    with doing("writing the report"):
        write_report(file, level, report)
    title("The report of these stages", "(open it in a browser)")
    console.print(from_here(report), markup=False)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model", nargs="?", type=Path, default=RESNET)
    parser.add_argument("--level", type=int, default=3, choices=range(4))
    parser.add_argument("--report", type=Path, metavar="FILE.html")
    args = parser.parse_args()
    if args.report is None:
        BUILD.mkdir(exist_ok=True)
    show(args.model, args.level, args.report or BUILD / f"{args.model.stem}.html")
