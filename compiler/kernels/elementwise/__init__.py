"""Operations on each element, and quantization."""
