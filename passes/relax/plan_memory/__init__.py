"""The pass plan-memory: tensors become buffers in one arena."""
