"""The converters of layers: convolutions, pooling, normalizations, recurrent ones."""
