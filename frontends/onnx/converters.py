"""The converters of all operators; operators that ONNX defines by others need none."""

from __future__ import annotations

from collections.abc import Mapping

from .activation import ACTIVATION
from .casts import CASTS
from .control import CONTROL
from .creation import CREATION
from .detection import DETECTION
from .elementwise import ELEMENTWISE
from .indexing import INDEXING, ML
from .manipulation import MANIPULATION
from .nn import NN
from .node import Converter
from .normalization import NORMALIZATION
from .quantization import QUANTIZATION
from .recurrent import RECURRENT
from .reduction import REDUCTION
from .resize import RESIZE
from .sampling import SAMPLING
from .sequences import SEQUENCES
from .signals import SIGNALS

__all__ = ["CONVERTERS"]

_ONNX = (
    ACTIVATION,
    CASTS,
    CONTROL,
    CREATION,
    DETECTION,
    ELEMENTWISE,
    INDEXING,
    MANIPULATION,
    NN,
    NORMALIZATION,
    QUANTIZATION,
    RECURRENT,
    REDUCTION,
    RESIZE,
    SAMPLING,
    SEQUENCES,
    SIGNALS,
)

CONVERTERS: Mapping[tuple[str, str], Converter] = {
    **{("", name): convert for family in _ONNX for name, convert in family.items()},
    **{("ai.onnx.ml", name): convert for name, convert in ML.items()},
}
"""The converter of an operator, by its domain and name."""
