"""The pass lower-tir."""
