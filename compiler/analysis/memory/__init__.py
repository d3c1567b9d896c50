"""Facts about buffers: accesses, effects, live ranges, and where buffers can share memory."""
