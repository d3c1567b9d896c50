"""The operators of com.microsoft, which onnxruntime adds to ONNX."""

from __future__ import annotations

__all__: list[str] = []
