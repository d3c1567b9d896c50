"""The interfaces of operations on tensors: the properties and rules that passes ask for.

An operation of any dialect takes part in a pass by deriving from these classes, before
IRDLOperation. Passes test for them with `isinstance`, which is an order of magnitude cheaper than
the lookup of an xDSL trait.
"""

from __future__ import annotations

from .computing import Differentiable, InfersType, NonComputational, NotDifferentiable, OnHost
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
    choose_layouts,
    convert_axes,
    first_relayout,
)
from .scales import (
    Along,
    AssociativeCommutative,
    Axes,
    CompositeOp,
    Decomposes,
    HasIdentityElement,
    Homogeneous,
    ScaleAxisRule,
    Scaling,
    SimplifiesInference,
)

__all__ = [
    "Along",
    "AlongAxes",
    "Anchor",
    "AssociativeCommutative",
    "Axes",
    "Broadcast",
    "CompositeOp",
    "Conversion",
    "ConvertsLayout",
    "Decomposes",
    "Differentiable",
    "Elementwise",
    "FusionKind",
    "FusionPattern",
    "HasIdentityElement",
    "Homogeneous",
    "InLayout",
    "InfersType",
    "Injective",
    "LayoutRule",
    "NonComputational",
    "NotDifferentiable",
    "OnHost",
    "Reduction",
    "ScaleAxisRule",
    "Scaling",
    "SimplifiesInference",
    "View",
    "choose_layouts",
    "convert_axes",
    "first_relayout",
]
