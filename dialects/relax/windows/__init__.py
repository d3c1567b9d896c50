"""Windows that move over images, and pooling."""
