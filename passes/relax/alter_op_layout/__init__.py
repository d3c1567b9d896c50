"""The pass alter-op-layout."""
