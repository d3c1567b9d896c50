"""MLIR's bytecode: the binary form of modules, read and written."""
