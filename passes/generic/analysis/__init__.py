"""Facts about IR of any dialect that the passes beside ask for: calls, purity, liveness."""
