"""The pass tir-vectorize-loop."""
