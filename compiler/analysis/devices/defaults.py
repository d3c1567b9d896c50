"""The devices of values that the device analysis leaves open.

Source: TVM's `DeviceDefaulter`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ....dialects.relax.closures import LambdaOp
from ....dialects.relax.device import DeviceAttr
from ....passmanager.ir.walk import ancestors
from .analyzer import DeviceAnalyzer
from .domains import Domain, has_place, places

__all__ = ["DeviceDefaulter"]


class DeviceDefaulter:
    """Sets each unknown device to that of the surrounding function's result, or to `fallback`.

    The result of a function is tried first, so that a function is on one device as far as possible.
    """

    def __init__(self, analyzer: DeviceAnalyzer, fallback: DeviceAttr) -> None:
        self.analyzer = analyzer
        self.fallback = fallback

    def run(self) -> None:
        """Assign a device to each place of the module."""
        analyzer = self.analyzer
        # In two steps, as in TVM: results first, then arguments on the device of the results, so
        # that a function without annotations needs no copies.
        for signature in analyzer.signatures.values():
            assign_default(signature.results, self.fallback)
            assign_default(signature.arguments, first_device(signature.results, self.fallback))
        for op in analyzer.ops:
            if isinstance(op, LambdaOp):
                results, default = analyzer.terminator_uses(op), self.default_of(op)
                assign_default(results, default)
                arguments = analyzer.all_of(op.body.block.args)
                assign_default(arguments, first_device(results, default))
            blocks = [block for region in op.regions for block in region.blocks]
            domains = [
                *analyzer.all_of(op.results),
                *(analyzer.of(value) for block in blocks for value in block.args),
                *analyzer.slots.get(op, ()),
            ]
            if any(is_open(domain) for domain in domains):
                assign_default(domains, self.default_of(op))

    def default_of(self, op: Operation) -> DeviceAttr:
        """Return the device of the first result of the function or lambda around `op`."""
        for parent in ancestors(op.parent_op()):
            match parent:
                case FuncOp() if parent in self.analyzer.signatures:
                    return first_device(self.analyzer.signatures[parent].results, self.fallback)
                case LambdaOp():
                    results = self.analyzer.terminator_uses(parent)
                    # For a lambda that returns only scalars, the function around it decides.
                    if any(map(has_place, results)):
                        return first_device(results, self.fallback)
                case _:
                    pass
        return self.fallback


def is_open(domain: Domain | None) -> bool:
    """Return whether a place in `domain` has no device yet."""
    return any(place.kind.value is None for place in places(domain))


def assign_default(domains: Sequence[Domain | None], device: DeviceAttr) -> None:
    """Put each place in `domains` that has no device on `device`."""
    for domain in domains:
        for place in places(domain):
            # This also sets all places that are unified with it.
            if place.kind.value is None:
                place.kind.set((device.device_type.data, device.index.data), None)


def first_device(domains: Sequence[Domain | None], default: DeviceAttr) -> DeviceAttr:
    """Return the device of the first place in `domains` that has one, or `default`."""
    found = (place for domain in domains for place in places(domain))
    return next((place.device for place in found if place.kind.value is not None), default)
