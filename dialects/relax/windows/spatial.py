"""The spatial axes and the default layout of operations over one, two and three dimensions.

An operation class derives from one of these first, then from the class that defines its
computation, so that the defaults here override the required properties there.
"""

from __future__ import annotations

from typing import ClassVar

from ..attributes import string_prop

__all__ = ["Spatial1d", "Spatial2d", "Spatial3d"]


class Spatial1d:
    """An operation over the width."""

    SPATIAL: ClassVar = "W"

    layout = string_prop("NCW")


class Spatial2d:
    """An operation over height and width."""

    SPATIAL: ClassVar = "HW"

    layout = string_prop("NCHW")


class Spatial3d:
    """An operation over depth, height and width."""

    SPATIAL: ClassVar = "DHW"

    layout = string_prop("NCDHW")
