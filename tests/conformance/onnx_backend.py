"""ONNX's own backend tests, run by the interpreter: each case passes, fails, or is not supported.

    PYTHONPATH=tests python tests/conformance/onnx_backend.py [OPTIONS] [name ...]

runs the cases whose name contains one of the given names (all cases by default), and prints those
that fail; with names also the unsupported ones. `--write` writes docs/onnx.md.

With `--engine native` the cases of single operators run as machine code, with `cuda-interpreter` as
tile programs whose blocks are shuffled and checked for races; both are optimized at the level of
`-O`, by default 0. Those that cannot be compiled are *refused*, and the reasons are counted.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner
from support.gpu.checked import compile_checked
from xdsl.dialects.builtin import ModuleOp

from passline import compile
from passline.compiler.execution import ArrayFunction
from passline.compiler.frontends.onnx import UnsupportedModelError, UnsupportedNode, import_model
from passline.compiler.frontends.onnx.contrib.signatures import LIMITS, REFUSED, contrib_names
from passline.compiler.frontends.onnx.converters import CONVERTERS
from passline.compiler.frontends.onnx.schemas import has_body
from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function
from passline.passmanager.errors import PasslineError
from passline.passmanager.ir.verifier import verify

__all__ = [
    "Case",
    "Outcome",
    "all_cases",
    "lists",
    "report",
    "run_case",
    "run_compiled",
    "run_module",
    "table",
]

Array: TypeAlias = NDArray[Any]
DataSet: TypeAlias = tuple[Sequence[object], Sequence[object]]

DOCS = Path(__file__).parents[2] / "docs" / "onnx.md"
MODELS = ("pytorch-converted", "pytorch-operator", "simple", "real")
BF16 = 2**-6
"""Two units in the last place, which the runner of the suite allows for bf16."""
FFT = 2**-23
"""The rounding error of the f32 transforms by which the suite computes the outputs of DFT, relative
to the largest output. The tolerances of the suite do not cover it where the exact result is 0."""
LIGHT = Path(onnx.__file__).parent / "backend/test/data/light"


@dataclass(frozen=True)
class Case:
    """A test case: a model, and sets of inputs and expected outputs."""

    name: str
    group: str
    """The operator that the case tests, or the collection that the model belongs to."""
    model: ModelProto
    data_sets: Sequence[DataSet]
    rtol: float
    atol: float


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case: its status, and the reasons if it did not pass."""

    status: str
    """`passed`, `unsupported` or `failed`; of compiled code also `refused`."""
    reasons: Sequence[str] = ()


# Cases


@cache
def node_cases() -> Sequence[Case]:
    """Return the cases of single operators, including those with the operator expanded to its
    definition."""
    np.random.seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tests = collect_testcases(None)
    about = {t.name: t.model.graph.node[-1] for t in tests if t.model is not None}
    return [
        Case(t.name, group_of(t.name, about), t.model, t.data_sets or (), t.rtol, t.atol)
        for t in tests
        if t.model is not None
    ]


def group_of(name: str, about: Mapping[str, NodeProto]) -> str:
    """Return the operator that a case tests.

    An expanded case tests the operator of the case that it was expanded from.
    """
    node = about.get(name.split("_expanded")[0], about[name])
    return f"{node.domain}.{node.op_type}" if node.domain else node.op_type


@cache
def model_cases(kind: str) -> Sequence[Case]:
    """Return the cases of whole models of one kind."""
    cases: list[Case] = []
    for test in sorted(load_model_tests(kind=kind), key=lambda test: test.name):
        if test.model_dir is None:
            path = LIGHT / Path(test.url or "").name
            model = load_model(path)
            data_sets = [dummy_data(model, path)]
        else:
            directory = Path(test.model_dir)
            model = load_model(directory / "model.onnx")
            sets = sorted(directory.glob("test_data_set_*"))
            data_sets = [(read_all(d, "input"), read_all(d, "output")) for d in sets]
        cases.append(Case(test.name, kind, model, data_sets, test.rtol, test.atol))
    return cases


def load_model(path: Path) -> ModelProto:
    return ModelProto.FromString(path.read_bytes())


def dummy_data(model: ModelProto, path: Path) -> DataSet:
    """Return the inputs that the suite generates for a model without inputs on file, and its
    outputs."""
    initializers = {tensor.name for tensor in model.graph.initializer}
    inputs = [
        Runner.generate_dummy_data(info)
        for info in model.graph.input
        if info.name not in initializers
    ]
    outputs = [read(path.with_name(f"{path.stem}_output_0.pb"))]
    return inputs, outputs


def read_all(directory: Path, kind: str) -> list[object]:
    """Return the inputs or outputs in a directory; one that is not a tensor of numbers as bytes."""
    count = len(list(directory.glob(f"{kind}_*.pb")))
    return [read(directory / f"{kind}_{i}.pb") for i in range(count)]


def read(path: Path) -> object:
    tensor = TensorProto()
    content = path.read_bytes()
    try:
        tensor.ParseFromString(content)
        return numpy_helper.to_array(tensor)
    except Exception:  # a sequence, or a tensor of strings: no model with one is supported
        return content


def all_cases() -> Iterator[Case]:
    """Yield all cases."""
    yield from node_cases()
    for kind in MODELS:
        yield from model_cases(kind)


# Running


def run_case(case: Case) -> Outcome:
    """Run a case; if it passes, run it again with all inputs but the first as constants.

    The frontend converts constant inputs to attributes where it can.
    """
    outcome = run_form(case)
    if outcome.status != "passed" or (constant := constant_form(case)) is None:
        return outcome
    return run_form(constant)


def constant_form(case: Case) -> Case | None:
    """Return the case with all inputs but the first as constants; None if that is not possible."""
    (inputs, outputs), *_ = case.data_sets
    arrays = [v if isinstance(v, TensorProto) else as_tensor(v) for v in inputs[1:]]
    if not arrays or case.group in MODELS or None in arrays:
        return None
    model = ModelProto()
    model.CopyFrom(case.model)
    for info, value in zip(case.model.graph.input[1:], arrays, strict=True):
        assert value is not None
        model.graph.initializer.append(value)
        model.graph.initializer[-1].name = info.name
    return replace(case, model=model, data_sets=[(inputs[:1], outputs)])


def as_tensor(value: object) -> TensorProto | None:
    """Return an array as a tensor of a model; None for other values."""
    if not isinstance(value, np.ndarray):
        return None
    return numpy_helper.from_array(cast(Array, value))


def run_form(case: Case) -> Outcome:
    """Import the model of a case, verify it, run it, and compare its outputs."""
    try:
        module = import_model(case.model, shapes=lengths_of_sequences(case))
        verify(module)
        for inputs, outputs in case.data_sets:
            compare(run_module(module, inputs), outputs, case.rtol, tolerance(case, outputs))
    except UnsupportedModelError as error:
        return Outcome("unsupported", [reason(node, case.group) for node in error.nodes])
    except Exception as error:
        return Outcome("failed", [f"{type(error).__name__}: {error}"])
    return Outcome("passed")


def run_compiled(case: Case, engine: str = "native", level: int = 0) -> Outcome:
    """Run a case as code of an engine in `COMPILERS`, and compare its outputs."""
    try:
        module = import_model(case.model, shapes=lengths_of_sequences(case))
    except UnsupportedModelError as error:
        return Outcome("unsupported", [reason(node, case.group) for node in error.nodes])
    try:
        function = COMPILERS[engine](module, level)
    except PasslineError as error:
        return Outcome("refused", [str(error)])
    except Exception as error:
        return Outcome("failed", [f"{type(error).__name__}: {error}"])
    try:
        for inputs, outputs in case.data_sets:
            results = function(*map(at_run_time, flattened(inputs)))
            compare(results, flattened(outputs), case.rtol, tolerance(case, flattened(outputs)))
    except Exception as error:
        return Outcome("failed", [f"{type(error).__name__}: {error}"])
    return Outcome("passed")


COMPILERS: Mapping[str, Callable[[ModuleOp, int], ArrayFunction]] = {
    "native": lambda module, level: compile(module, level=level),
    "cuda-interpreter": lambda module, level: compile_checked(module, level=level),
}


def flattened(values: Sequence[object]) -> list[object]:
    """Return the values with the elements of sequences in their place."""
    return [
        element
        for value in values
        for element in (cast(list[object], value) if isinstance(value, list) else [value])
    ]


def refusal(outcome: Outcome) -> str:
    """Return the reason why a case is refused, without the names of its values."""
    first = outcome.reasons[0].splitlines()[0]
    text = re.sub(r"^.*?error: |\(and \d+ more\)", "", first)
    return re.sub(r"tensor<[^>]*>", "tensor", text)[:120]


def lengths_of_sequences(case: Case) -> dict[str, list[tuple[int, ...]]]:
    """Return the shapes of the elements of inputs that are sequences, which the model leaves
    unknown."""
    inputs, _ = case.data_sets[0]
    pairs = zip(case.model.graph.input, inputs, strict=False)
    return {
        info.name: [np.shape(cast(Array, element)) for element in cast(list[object], value)]
        for info, value in pairs
        if isinstance(value, list) and info.type.HasField("sequence_type")
    }


def tolerance(case: Case, outputs: Sequence[object]) -> float:
    """Return the absolute tolerance of a case."""
    if case.group != "DFT":
        return case.atol
    return max(case.atol, FFT * max(float(np.abs(at_run_time(y)).max()) for y in outputs))


def reason(node: UnsupportedNode, group: str) -> str:
    """Return why a node is not supported, with its operator if the case tests another one."""
    return node.reason if node.op_type == group else f"{node.op_type}: {node.reason}"


def run_module(module: ModuleOp, inputs: Sequence[object]) -> tuple[object, ...]:
    """Run `@main` on the inputs; a sequence is one for each of its elements."""
    call = interpret(module, entry_function(module, "main"))
    return call(*map(at_run_time, flattened(inputs)))


def at_run_time(value: object) -> Array:
    """Return an array in the dtype of the interpreter: bf16 and smaller floats as f32, integers of
    2 and 4 bits as 8."""
    value = numpy_helper.to_array(value) if isinstance(value, TensorProto) else value
    array: Array = np.asarray(value)
    wider = {"bfloat16": np.float32, "int4": np.int8, "uint4": np.uint8}
    wider |= {"int2": np.int8, "uint2": np.uint8}
    if array.dtype.name.startswith(("float8", "float4")):
        return array.astype(np.float32)
    return array.astype(wider.get(array.dtype.name, array.dtype))


def compare(actual: Sequence[object], expected: Sequence[object], rtol: float, atol: float) -> None:
    """Raise AssertionError unless the arrays are equal within the tolerances of the suite."""
    assert len(actual) == len(expected), f"{len(actual)} results in place of {len(expected)}"
    for result, reference in zip(actual, expected, strict=True):
        if isinstance(reference, list):  # a sequence
            values = cast(Sequence[object], result)
            compare(values, cast(list[object], reference), rtol, atol)
            continue
        value = np.asarray(result)
        wanted = at_run_time(reference)
        name = getattr(reference, "dtype", wanted.dtype).name
        tolerance = max(rtol, BF16) if name == "bfloat16" else rtol
        assert value.shape == wanted.shape, f"shape {value.shape} in place of {wanted.shape}"
        assert value.dtype == wanted.dtype, f"dtype {value.dtype} in place of {wanted.dtype}"
        np.testing.assert_allclose(value, wanted, rtol=tolerance, atol=atol)


# The table

Counts: TypeAlias = "Counter[str]"
STATUSES = ("passed", "unsupported", "failed")

HEAD = """\
# ONNX operators

Every command and `passline.load` read ONNX models ([how](passline-opt.md)). This page says which
operators they may have, by ONNX's own backend tests (onnx {version}). It is written by `make docs`.

Each case is a model with its inputs and the expected outputs. It is imported by
`passline.compiler.frontends.onnx`, verified, and computed by the interpreter; sequences are
imported with the length that they have in the case. The outputs are compared with the tolerances of
the suite. A case is *unsupported* if the importer reports a node as unsupported.

| cases | passed | unsupported | failed |
|---|---:|---:|---:|
{summary}

## Operators

The table has first the cases of single operators, then the collections of models. If ONNX defines
an operator by other operators, its cases count twice: as they are, and with that definition in its
place. The last column has the messages of the importer.

| operator | passed | unsupported | failed | not supported |
|---|---:|---:|---:|---|
{rows}

## Why cases are not supported

| kind | cases | reason |
|---|---:|---|
{kinds}

"""

LISTS = """\
## Operators that are not supported

These have no converter, and ONNX does not define them by other operators.

{missing}

## Operators of onnxruntime

These operators of `com.microsoft` are read, as onnxruntime defines them. Each is compared with
onnxruntime in `tests/unit/compiler/frontends/onnx/contrib`, or with its definition where
onnxruntime has no CPU kernel. `LayerNormalization` and `SimplifiedLayerNormalization` of ONNX's own
domain are read in every opset.

{contrib}

Their limits:

{limits}

These are refused:

{refused}

## Other limits

* Floats of 4 and 8 bits are stored and converted, and no kernel computes with them.
* Det and Inverse: matrices of up to 64 rows, whose number is known, eliminated row by row.
* Scan: not over sequences of length 0.
* Unique along an axis: slices of up to 16 elements, or up to 2^24 comparisons of elements. The
  sizes of the other axes are known.
* MaxUnpool: indices are those of the tensor before it is padded to `output_shape`, as ONNX has it;
  onnxruntime reads them as those of the result.
* TreeEnsembleClassifier with two classes: the weights of the first alone, as scikit-learn's
  exporter writes them. LabelEncoder, OneHotEncoder, TfIdfVectorizer: numbers, not strings. Labels
  of classifiers that are strings stay their positions, and the maps of ZipMap are a tensor, whose
  columns are the classes; both with a warning.

## Where ONNX's reference and onnxruntime differ

Passline follows the text of the operator in ONNX, and where that says nothing, the reference
evaluator of ONNX.

* Clip with one bound keeps infinities on the other side. ONNX defines it by a function that
  compares with the bounds that are given, and so does the reference; the text of the inputs has the
  least and the greatest finite number as defaults, to which onnxruntime clips.
* Slice with a negative step and a start before the first element starts at the first element: text
  and onnxruntime. The reference starts before it, as Python, and gives nothing.
* Slice with a negative step and the greatest integer as end gives nothing, as the end is after the
  last element: text and reference. onnxruntime goes on to the first element.
* LpPool with `ceil_mode` sums those elements of the last window that there are: text and
  onnxruntime. The reference scales the sum as if the window were whole.
* SAME padding is that of the dilated window: text. onnxruntime pads as if it were not dilated.
* ConvTranspose with SAME padding has size times stride elements: text and reference. onnxruntime
  gives fewer if the window is smaller than the stride.
* MaxPool of a window of padding alone is -inf: padding is smaller than any element. onnxruntime
  gives the least finite number, the reference NaN.
* Col2Im sums elements at their dilated places: text and reference. onnxruntime has others.
* Resize with `tf_crop_and_resize` and `nearest` rounds each coordinate: text and reference.
* ReduceMean of no elements is NaN: reference. onnxruntime gives 0.
"""


class Kind(NamedTuple):
    """A kind of reasons why cases are not supported."""

    name: str
    pattern: str
    """A regular expression that is found in the reason, or in the group."""
    why: str


KINDS = (
    Kind(
        "strings",
        "STRING|String|Regex|LabelEncoder|strings",
        "Tensors have numbers as elements: in relax as in MLIR.",
    ),
    Kind(
        "random numbers",
        "random|Random|Multinomial",
        "Results depend on the inputs alone; the expected numbers are those of one generator.",
    ),
    Kind("pictures", "ImageDecoder", "Decoding files of images is not computation on tensors."),
    Kind(
        "gradients",
        "Gradient",
        "The operator differentiates the graph that it is in, and names values of it.",
    ),
    Kind(
        "sequences and optional values",
        "[Ss]equence|[Oo]ptional",
        "The length of a sequence and positions in it have to be known; an input is always given.",
    ),
    Kind("sparse tensors", "sparse", "Tensors are dense."),
    Kind("others", "", "See the operator in the table."),
)
"""In the order in which they are tried."""


def report(outcomes: Iterable[tuple[Case, Outcome]]) -> str:
    """Return the text of docs/onnx.md."""
    counts: dict[str, Counts] = {}
    reasons: dict[str, dict[str, None]] = {}
    kinds: dict[str, Counts] = {}
    refused: Counts = Counter()
    for case, outcome in outcomes:
        counts.setdefault(case.group, Counter())[outcome.status] += 1
        kind = case.group if case.group in MODELS else "operators"
        kinds.setdefault(kind, Counter())[outcome.status] += 1
        if outcome.status == "unsupported":
            reasons.setdefault(case.group, {}).update(dict.fromkeys(outcome.reasons))
            refused[kind_of(case.group, outcome.reasons).name] += 1
    total = sum(kinds.values(), Counter[str]())
    return (
        HEAD.format(
            version=onnx.__version__,
            summary="\n".join(row(name, count) for name, count in [*kinds.items(), ("all", total)]),
            rows="\n".join(
                row(name, counts[name], reason_text(reasons.get(name, ())))
                for name in sorted(counts, key=lambda name: (name in MODELS, name.lower()))
            ),
            kinds="\n".join(
                f"| {kind.name} | {refused[kind.name]} | {kind.why} |"
                for kind in KINDS
                if refused[kind.name]
            ),
        )
        + lists()
    )


def lists() -> str:
    """Return the part of docs/onnx.md that follows from tables alone, from `LISTS` on."""
    return LISTS.format(
        missing="\n".join(missing_operators()),
        contrib=wrapped(", ".join(contrib_names()) + "."),
        limits="\n".join(
            textwrap.fill(f"* {names}: {limit}", 100, subsequent_indent="  ")
            for names, limit in LIMITS.items()
        ),
        refused="\n".join(f"* {name}: {why}" for name, why in REFUSED.items()),
    )


def kind_of(group: str, reasons: Sequence[str]) -> Kind:
    """Return the kind of the reasons why a case is not supported."""
    text = "; ".join([group, *reasons])
    return next(kind for kind in KINDS if re.search(kind.pattern, text))


def wrapped(text: str) -> str:
    return "\n".join(textwrap.wrap(text, 100))


def row(name: str, counts: Counts, *more: str) -> str:
    """Return a line of a table."""
    return f"| {' | '.join([name, *(str(counts[s]) for s in STATUSES), *more])} |"


def reason_text(reasons: Iterable[str]) -> str:
    """Return the reasons as one text, with all unsupported element types in one list."""
    types = sorted({match[1] for r in reasons if (match := ELEMENT.fullmatch(r))})
    others = sorted({r for r in reasons if not ELEMENT.fullmatch(r)})
    return "; ".join([*others, *([f"element types {', '.join(types)}"] if types else [])])


ELEMENT = re.compile(r".*element type (\w+) is not supported")


def missing_operators() -> list[str]:
    """Return a line for each domain with the operators that the frontend cannot import."""
    names: dict[str, set[str]] = {}
    for schema in onnx.defs.get_all_schemas():
        known = (schema.domain, schema.name) in CONVERTERS or has_body(schema)
        if not known and not schema.deprecated:
            names.setdefault(schema.domain, set()).add(schema.name)
    return [f"* {domain or 'ai.onnx'}: {', '.join(sorted(names[domain]))}" for domain in names]


def table() -> dict[str, Counts]:
    """Return the counts of operators and collections in docs/onnx.md."""
    rows = re.findall(r"^\| (\S+) \| (\d+) \| (\d+) \| (\d+) \| .*\|$", DOCS.read_text(), re.M)
    return {name: Counter(dict(zip(STATUSES, map(int, n), strict=True))) for name, *n in rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/onnx.md")
    parser.add_argument("--lists", action="store_true", help="write its lists alone: runs no case")
    parser.add_argument("--engine", choices=("numpy", *COMPILERS), default="numpy")
    parser.add_argument("-O", dest="level", type=int, default=0, help="the level of optimization")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    names: list[str] = args.names
    compiled: bool = args.engine in COMPILERS
    if args.lists:
        counts, _, _ = DOCS.read_text().partition(LISTS.partition("\n")[0])
        DOCS.write_text(counts + lists())
        return
    level: int = args.level
    outcomes = [
        (case, run_compiled(case, args.engine, level) if compiled else run_case(case))
        for case in (node_cases() if compiled else all_cases())
        if not names or any(name in case.name for name in names)
    ]
    for case, outcome in outcomes:
        if outcome.status == "failed" or (names and outcome.status == "unsupported"):
            print(f"{case.name}: {outcome.status}: {'; '.join(outcome.reasons)}")
    total = Counter(outcome.status for _, outcome in outcomes)
    refused = Counter(refusal(outcome) for _, outcome in outcomes if outcome.status == "refused")
    for text, count in refused.most_common():
        print(f"{count:5} {text}")
    print(dict(total), file=sys.stderr)
    if args.write:
        DOCS.write_text(report(outcomes))


if __name__ == "__main__":
    main()
