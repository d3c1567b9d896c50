"""The analyses that come with the infrastructure; each is a plain class, made from an op."""

from ..ir.dominance import DominanceInfo
from .call_graph import CallGraph
from .liveness import Liveness
from .use_counts import UseCounts

__all__ = ["CallGraph", "DominanceInfo", "Liveness", "UseCounts"]
