"""Operations of MLIR's dialects that xDSL lacks, or of which it reads and verifies only a part."""
