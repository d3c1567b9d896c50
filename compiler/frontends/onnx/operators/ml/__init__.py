"""The converters of ai.onnx.ml."""
