"""Hypothesis strategies: modules of valid IR with arguments, and pipelines with options."""

from __future__ import annotations

from .modules import loop_nests, networks
from .pipelines import buffer_pipelines, lowerings, passes, tensor_pipelines

__all__ = ["buffer_pipelines", "loop_nests", "lowerings", "networks", "passes", "tensor_pipelines"]
