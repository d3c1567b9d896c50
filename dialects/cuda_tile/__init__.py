"""NVIDIA's CUDA Tile IR: `dialect.CUDA_TILE` is the dialect."""
