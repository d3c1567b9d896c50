"""The converters of all operators. Operators that ONNX defines as functions of others need none."""

from __future__ import annotations

from collections.abc import Mapping

from .contrib.microsoft import CONTRIB
from .contrib.normalization import EARLY_NORMALIZATION
from .contrib.signatures import DOMAIN
from .node import Converter
from .operators.control import CONTROL
from .operators.elementwise import ACTIVATION, CASTS, ELEMENTWISE
from .operators.indexing import INDEXING, UNIQUE
from .operators.linear_algebra import LINEAR_ALGEBRA
from .operators.manipulation import CREATION, MANIPULATION
from .operators.ml import ML, NGRAMS
from .operators.nn import NN, TRAINING
from .operators.normalization import NORMALIZATION
from .operators.quantization import QUANTIZATION
from .operators.recurrent import RECURRENT
from .operators.reduction import REDUCTION
from .operators.regions import REGIONS
from .operators.resize import RESIZE, SAMPLING
from .operators.sequences import SEQUENCES
from .operators.signals import SIGNALS
from .operators.windows import WINDOW_PLACES

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
