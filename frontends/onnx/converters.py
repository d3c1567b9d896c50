"""The converters of all operators; operators that ONNX defines by others need none."""

from __future__ import annotations

from collections.abc import Mapping

from .activation import ACTIVATION
from .casts import CASTS
from .contrib.converters import CONTRIB
from .contrib.normalization import EARLY_NORMALIZATION
from .contrib.signatures import DOMAIN
from .control import CONTROL
from .creation import CREATION
from .elementwise import ELEMENTWISE
from .indexing import INDEXING
from .linear_algebra import LINEAR_ALGEBRA
from .manipulation import MANIPULATION
from .ml import ML
from .ngrams import NGRAMS
from .nn import NN
from .node import Converter
from .normalization import NORMALIZATION
from .quantization import QUANTIZATION
from .recurrent import RECURRENT
from .reduction import REDUCTION
from .regions import REGIONS
from .resize import RESIZE
from .sampling import SAMPLING
from .signals import SIGNALS
from .training import TRAINING
from .unique import UNIQUE
from .window_places import WINDOW_PLACES

__all__ = ["CONVERTERS"]

_ONNX = (
    ACTIVATION,
    CASTS,
    CONTROL,
    CREATION,
    ELEMENTWISE,
    INDEXING,
    LINEAR_ALGEBRA,
    MANIPULATION,
    NGRAMS,
    NN,
    NORMALIZATION,
    QUANTIZATION,
    RECURRENT,
    REDUCTION,
    REGIONS,
    RESIZE,
    SAMPLING,
    SIGNALS,
    UNIQUE,
    WINDOW_PLACES,
)

CONVERTERS: Mapping[tuple[str, str], Converter] = {
    **{("", name): convert for family in _ONNX for name, convert in family.items()},
    **{("ai.onnx.ml", name): convert for name, convert in ML.items()},
    **{("", name): convert for name, convert in EARLY_NORMALIZATION.items()},
    **{(DOMAIN, name): convert for name, convert in CONTRIB.items()},
    **{("ai.onnx.preview.training", name): convert for name, convert in TRAINING.items()},
}
"""The converter of an operator, by its domain and name."""
