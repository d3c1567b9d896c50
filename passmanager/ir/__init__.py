"""What xDSL lacks about IR: parser, printer, snapshots, verifier, dominance."""
