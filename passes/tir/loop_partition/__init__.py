"""The pass tir-loop-partition."""
