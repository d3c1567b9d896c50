"""What xDSL does too, done faster: reading, printing, verification, copies and rewriting of IR."""
