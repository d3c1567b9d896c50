"""Failures as files: a test with the pipeline in its RUN line, and the arguments beside it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from strategies.pipelines import FACTORIES
from support.networks import Network
from support.operations.evaluation import Array
from support.passes.laws import pipeline_of

from passline.compiler.execution import ENGINES
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.ir.text.printer import module_text
from passline.passmanager.options import pass_text
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context

from .cases import Case

__all__ = ["load", "save"]


def save(case: Case, error: Exception, directory: Path, again: str) -> Path:
    """Write a failed case to `directory` as `<error>.mlir` and `.npz`; return the first path.

    `again` is the command that finds it again.
    """
    directory.mkdir(parents=True, exist_ok=True)
    message = f"{type(error).__name__}: {error}".strip().splitlines() or [""]
    path = directory / f"{slug(message[0])}.mlir"
    pipeline = ",".join(case.pipeline)
    lines = [
        f"// RUN: passline-opt %s -p '{pipeline}' --verify-semantics --verify-roundtrip",
        "//",
        *(f"// {line}".rstrip() for line in message[:20]),
        f"// Again: {again}",
        f"// Engine: {case.engine}, reads back after: {case.reads_back_after}, large: {case.large}",
        "",
    ]
    path.write_text("\n".join(lines) + module_text(case.module, make_ir_context()))
    np.savez(path.with_suffix(".npz"), allow_pickle=False, **arrays_of(case))
    return path


def slug(text: str) -> str:
    """Return a file name for a message."""
    return re.sub(r"[^a-z]+", "-", text.lower()).strip("-")[:60]


def arrays_of(case: Case) -> dict[str, Array]:
    """Return the arguments of all calls, and the results of a network, by names."""
    arrays = {
        f"{name}.{call}.{i}": np.asarray(array)
        for name, calls in case.calls.items()
        for call, arguments in enumerate(calls)
        for i, array in enumerate(arguments)
    }
    if case.network is not None:
        for i, result in enumerate(case.network.results):
            arrays[f"result.{i}"] = result
            arrays[f"tolerance.{i}"] = np.array(case.network.tolerances[i])
    return arrays


def load(path: Path) -> Case:
    """Return the case that `save` wrote."""
    text = path.read_text()
    line = text.splitlines()[0].removeprefix("// RUN: ")
    found = re.search(r"// Engine: ([\w-]+), reads back after: (\d+), large: (\w+)", text)
    if (pipeline := pipeline_of(line)) is None or found is None:
        raise ValueError(f"{path} has no RUN line that `make fuzz` wrote")
    module = parse_module(make_ir_context(), text, str(path))
    calls: dict[str, dict[int, list[Array]]] = {}
    results: list[Array] = []
    tolerances: list[float] = []
    with np.load(path.with_suffix(".npz")) as arrays:
        for key, array in arrays.items():
            if key.startswith("result."):
                results.append(array)
            elif key.startswith("tolerance."):
                tolerances.append(float(array))
            else:
                name, call, _ = key.rsplit(".", 2)
                calls.setdefault(name, {}).setdefault(int(call), []).append(array)
    listed = {name: [tuple(c) for c in numbered.values()] for name, numbered in calls.items()}
    network = None
    if results:
        network = Network(module, listed["main"][0], (*results,), (*tolerances,))
    passes = [pass_text(p) for p in parse_pipeline(pipeline, FACTORIES).passes]
    engine = ENGINES[ENGINES.index(found[1])]
    return Case(module, listed, passes, int(found[2]), engine, found[3] == "True", network)
