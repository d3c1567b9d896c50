"""Passes that turn MLIR's dialects into the dialect llvm."""
