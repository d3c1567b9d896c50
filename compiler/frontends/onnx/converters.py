"""The converters of all operators. Operators that ONNX defines as functions of others need none."""

from __future__ import annotations

from collections.abc import Mapping

from .contrib.converters import CONTRIB
from .contrib.normalization import EARLY_NORMALIZATION
from .contrib.signatures import DOMAIN
from .node import Converter
from .operators.control import CONTROL
from .operators.creation import CREATION
from .operators.elementwise.activation import ACTIVATION
from .operators.elementwise.casts import CASTS
from .operators.elementwise.elementwise import ELEMENTWISE
from .operators.elementwise.quantization import QUANTIZATION
from .operators.elementwise.reduction import REDUCTION
from .operators.indexing import INDEXING
from .operators.linear_algebra import LINEAR_ALGEBRA
from .operators.manipulation import MANIPULATION
from .operators.ml.ml import ML
from .operators.ngrams import NGRAMS
from .operators.nn.nn import NN
from .operators.nn.normalization import NORMALIZATION
from .operators.nn.recurrent import RECURRENT
from .operators.nn.window_places import WINDOW_PLACES
from .operators.regions import REGIONS
from .operators.resizing.resize import RESIZE
from .operators.resizing.sampling import SAMPLING
from .operators.sequences import SEQUENCES
from .operators.signals import SIGNALS
from .operators.training import TRAINING
from .operators.unique import UNIQUE

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
    SEQUENCES,
    SIGNALS,
    UNIQUE,
    WINDOW_PLACES,
)

CONVERTERS: Mapping[tuple[str, str], Converter] = {
    **{("", name): convert for family in _ONNX for name, convert in family.items()},
    **{("ai.onnx.ml", name): convert for name, convert in ML.items()},
    # Replaces ONNX's LayerNormalization, which is there since opset 17, by that of every opset.
    **{("", name): convert for name, convert in EARLY_NORMALIZATION.items()},
    **{(DOMAIN, name): convert for name, convert in CONTRIB.items()},
    **{("ai.onnx.preview.training", name): convert for name, convert in TRAINING.items()},
}
"""The converter of an operator, by its domain and name."""
