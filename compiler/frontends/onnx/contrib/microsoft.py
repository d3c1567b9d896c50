"""Converters of com.microsoft: the operators that onnxruntime adds to ONNX."""

from __future__ import annotations

from ..node import Converters
from .activation import ACTIVATION, FUSED
from .attention import ATTENTION, GROUP_QUERY
from .normalization import NORMALIZATION
from .quantization import QUANTIZATION
from .tensors import TENSORS

CONTRIB: Converters = {
    **ACTIVATION,
    **ATTENTION,
    **FUSED,
    **GROUP_QUERY,
    **NORMALIZATION,
    **QUANTIZATION,
    **TENSORS,
}
