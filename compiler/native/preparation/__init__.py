"""A module made ready for LLVM: memory, assertions, element types that processors lack."""
