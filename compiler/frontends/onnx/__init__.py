"""The import of ONNX models as modules of relax."""

from __future__ import annotations

from .errors import ModelError, UnsupportedModelError, UnsupportedNode
from .model import import_model

__all__ = ["ModelError", "UnsupportedModelError", "UnsupportedNode", "import_model"]
