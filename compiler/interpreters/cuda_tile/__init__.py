"""The semantics of CUDA Tile IR on numpy: grids of tile blocks, run one by one."""
