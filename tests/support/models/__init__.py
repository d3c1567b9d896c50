"""ONNX models for tests, and onnxruntime as their reference."""
