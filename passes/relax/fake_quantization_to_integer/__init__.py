"""The pass fake-quantization-to-integer, and a rule for each operation."""
