# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
"""Models that exporters wrote, their inputs, and their results in each way to run them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias, cast

import numpy as np
import onnx
from exports.exporting import STORED
from support.models.onnxruntime_reference import run_onnxruntime
from support.models.seeded import Array

import passline
from passline.compiler.frontends.onnx import import_model

__all__ = ["WAYS", "Exported", "exported_models"]

FOLDER = Path(__file__).parents[2] / ".cache" / "exports"
"""Where `make exports` puts the models: a folder for each exporter."""

Results: TypeAlias = Sequence[Array]


def exported_models() -> list[Exported]:
    """Return the models that were exported."""
    paths = sorted(FOLDER.glob("*/*.onnx"), key=lambda path: path.with_suffix(""))
    return [Exported(path) for path in paths]


@dataclass(frozen=True)
class Exported:
    """A model beside the inputs that it was exported with."""

    path: Path

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}/{self.path.stem}"

    @cached_property
    def model(self) -> onnx.ModelProto:
        return onnx.load(self.path)

    @cached_property
    def arrays(self) -> dict[str, Array]:
        with np.load(self.path.with_suffix(".npz")) as arrays:
            return {key: arrays[key] for key in arrays.files}

    @property
    def arguments(self) -> dict[str, Array]:
        return {value.name: self.arrays[value.name] for value in self.model.graph.input}

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {name: array.shape for name, array in self.arguments.items()}

    @property
    def is_open(self) -> bool:
        """Whether an input has a dimension that is not known."""
        dims = [d for i in self.model.graph.input for d in i.type.tensor_type.shape.dim]
        return any(not dim.HasField("dim_value") for dim in dims)

    @property
    def has_peer(self) -> bool:
        """Whether onnxruntime runs the model."""
        return STORED not in self.arrays

    def expected(self) -> Results:
        """Return onnxruntime's results, or, for what it refuses, the exporter's."""
        if not self.has_peer:
            return [self.arrays[STORED]]
        return [self.numbers(result) for result in run_onnxruntime(self.path, self.arguments)]

    def numbers(self, result: object) -> Array:
        """Return a result of onnxruntime as the array that Passline returns: maps as rows of their
        values, labels as their numbers."""
        if isinstance(result, list):
            rows = cast(list[Mapping[object, float]], result)
            return np.array([[*row.values()] for row in rows], np.float32)
        array = np.asarray(result)
        if array.dtype.kind != "O":
            return array
        (labels,) = (
            attribute.strings
            for node in self.model.graph.node
            for attribute in node.attribute
            if attribute.name == "classlabels_strings"
        )
        numbers = {label.decode(): number for number, label in enumerate(labels)}
        return np.array([numbers[label] for label in array], np.int64)

    def on_numpy(self, level: int) -> Results:
        """Run the model on numpy, optimized at a level."""
        module = passline.optimize(import_model(self.model, warn=ignore), level=level)
        return results_of(passline.run(module, *self.arguments.values()))

    def as_machine_code(self, *, bound: bool) -> Results:
        """Run the model as machine code, compiled for all sizes or, with `bound`, for those of the
        inputs."""
        module = import_model(self.model, shapes=self.shapes if bound else {}, warn=ignore)
        return results_of(passline.compile(module)(*self.arguments.values()))

    def difference(self, actual: Results) -> str:
        """Return how results differ from onnxruntime's, in a few words; "" if they do not."""
        expected = self.expected()
        if len(actual) != len(expected):
            return f"{len(actual)} results, expected {len(expected)}"
        for number, (mine, other) in enumerate(zip(actual, expected, strict=True)):
            if (mine.shape, mine.dtype) != (other.shape, other.dtype):
                return (
                    f"result {number} is {mine.dtype}{mine.shape}, not {other.dtype}{other.shape}"
                )
            if other.dtype.kind != "f":
                if not np.array_equal(mine, other):
                    return f"result {number} has other integers"
                continue
            finite = np.isfinite(other)
            if not np.array_equal(np.isfinite(mine), finite):
                return f"result {number} is infinite or not a number elsewhere"
            far, range = (np.abs(a[finite]).max(initial=0) for a in (mine - other, other))
            if far > 1e-4 * range + 1e-5:
                return f"result {number} differs by {far:.1e} of {range:.1e}"
        return ""


WAYS: Mapping[str, Callable[[Exported], Results]] = {
    "-O0": lambda model: model.on_numpy(0),
    "-O3": lambda model: model.on_numpy(3),
    "machine code": lambda model: model.as_machine_code(bound=True),
    "machine code, unknown sizes": lambda model: model.as_machine_code(bound=False),
}
"""The ways to run a model; the last one differs for models with unknown sizes only."""


def results_of(value: object) -> Results:
    return (
        [np.asarray(v) for v in cast(tuple[object, ...], value)]
        if isinstance(value, tuple)
        else [np.asarray(value)]
    )


def ignore(message: str) -> None:
    """Take no notice of what the import says."""
