"""The semantics of CUDA Tile IR on numpy: grids of tile blocks, run in batches."""
