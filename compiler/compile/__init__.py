"""`passline-compile`: libraries with a C interface, object files, LLVM IR and assembly."""
