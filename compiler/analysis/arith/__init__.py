"""Integer arithmetic on indices: linear forms, ranges, constraints and proofs (TVM's `arith`)."""
