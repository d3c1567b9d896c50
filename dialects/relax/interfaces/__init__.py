"""What passes ask of an operation; an op of any dialect takes part by deriving from these classes.

They are tested with `isinstance`, an order of magnitude cheaper than looking up an xDSL trait.
"""

from __future__ import annotations

from .algebra import (
    AssociativeCommutative,
    CompositeOp,
    Decomposes,
    HasIdentityElement,
    SimplifiesInference,
)
from .computing import InfersType, NonComputational, OnHost
from .fusion import (
    Anchor,
    Broadcast,
    Elementwise,
    FusionKind,
    FusionPattern,
    Injective,
    Reduction,
    View,
)
from .layouts import (
    AlongAxes,
    Conversion,
    ConvertsLayout,
    InLayout,
    LayoutRule,
    axes_in,
    chosen,
    of_first,
)
from .scales import Along, Axes, Homogeneous, ScaleAxisRule, Scaling

__all__ = [
    "Along",
    "AlongAxes",
    "Anchor",
    "AssociativeCommutative",
    "Axes",
    "Broadcast",
    "Conversion",
    "ConvertsLayout",
    "Decomposes",
    "Elementwise",
    "FusionKind",
    "FusionPattern",
    "Homogeneous",
    "InLayout",
    "InfersType",
    "Injective",
    "LayoutRule",
    "HasIdentityElement",
    "NonComputational",
    "OnHost",
    "Reduction",
    "ScaleAxisRule",
    "Scaling",
    "CompositeOp",
    "SimplifiesInference",
    "View",
    "axes_in",
    "chosen",
    "of_first",
]
