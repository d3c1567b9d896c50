"""Pooling and depthwise convolutions: windows of one channel."""
