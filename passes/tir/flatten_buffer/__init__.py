"""The pass tir-flatten-buffer."""
