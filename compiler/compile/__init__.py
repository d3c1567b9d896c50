"""`passline-compile`: libraries, object files, LLVM IR and assembly of a function, with a C
interface."""
