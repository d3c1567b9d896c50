"""PlanDevices: each value gets a device, and a copy for each use on another device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, BoolAttr, DictionaryAttr, ModuleOp
from xdsl.ir import Operation, SSAValue

from ...compiler.analysis.device_domains import DevicePlace, Domain, devices_of, has_place
from ...compiler.analysis.devices import DEVICE, DeviceAnalyzer, DeviceDefaulter, transparent_ops
from ...dialects.relax.closures import LambdaOp
from ...dialects.relax.device import DeviceAttr, DeviceCopyOp, OnDeviceOp
from ...dialects.relax.graph import TupleGetItemOp
from ...dialects.target import DeviceType
from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase, insert_before

TRUE = BoolAttr.from_bool(True)


def plan_devices(module: ModuleOp, fallback: DeviceAttr, actions: Actions = SILENT) -> None:
    """Find the device of each tensor in `module`, and insert a copy where it is used on another.

    An operation computes on one device, which holds its operands and results; a tuple is on one
    device. `relax.on_device`, `relax.device_copy` and the attribute `relax.device` of parameters
    and results fix devices, and fix those of other values through calls, functions as values,
    branches and loops. A device that remains unknown is set to the device of the function's result,
    or else to `fallback`. A value that is used on two devices is copied for the later user.
    Errors: a function, or the operand of `relax.device_copy`, that would have to be copied; the
    module stays as it is then, apart from annotated tuples.

    Afterwards an operation computes on the device of its operands, a parameter or result is on the
    device of its attribute, and an operation without operands computes on the device of its
    function's result, unless a `relax.on_device` on its result names another.
    """
    # Before the analysis, in which a tuple is one place as a whole.
    _project_first(module)
    analyzer = DeviceAnalyzer(module, actions)
    analyzer.run()
    if not analyzer.failed:
        defaulter = DeviceDefaulter(analyzer, fallback)
        defaulter.run()
        DeviceWriter(analyzer, defaulter, actions).run()


def _project_first(module: ModuleOp) -> None:
    """Replace the element of an annotated tuple by an annotated element, so that a copy takes the
    element alone."""
    for op in transparent_ops(module):
        if not isinstance(op, TupleGetItemOp) or not isinstance(op.tuple.owner, OnDeviceOp):
            continue
        source = op.tuple.owner
        element = TupleGetItemOp(source.input, index=op.index, location=op.location)
        annotated = OnDeviceOp.create(
            operands=element.results,
            result_types=op.result_types,
            properties=source.properties,
            location=source.location,
        )
        insert_before(op, element, annotated)
        op.result.replace_all_uses_with(annotated.result)
        erase(op)
        if source.result.first_use is None:
            erase(source)


@dataclass
class DeviceWriter:
    """Writes the devices of an analysis into the IR: copies, annotations and attributes."""

    analyzer: DeviceAnalyzer
    defaulter: DeviceDefaulter
    actions: Actions

    def run(self) -> None:
        """Rewrite the analyzed module."""
        analyzer = self.analyzer
        # Copies first: they are known by user and operand, and some of the users are annotations
        # that go.
        self.insert_copies()
        for op in analyzer.ops:
            if isinstance(op, OnDeviceOp):
                self.rewrite_on_device(op)
        for value, place in analyzer.sources.items():
            self.annotate_source(value, place)
        for func, signature in analyzer.signatures.items():
            func.arg_attrs = _annotated(func.arg_attrs, signature.arguments)
            func.res_attrs = _annotated(func.res_attrs, signature.results)
        for op in analyzer.ops:
            if isinstance(op, LambdaOp) and has_place(domain := analyzer.of(op.result)):
                op.attributes[DEVICE] = devices_of(domain)

    def insert_copies(self) -> None:
        """Insert a copy before each user of a value on another device, one for all its operands."""
        # By user: a copy for several users would have to dominate them, and be alive in between.
        copies: dict[tuple[Operation, SSAValue, DeviceAttr], SSAValue] = {}
        for flow, place in self.analyzer.copies:
            assert isinstance(flow.domain, DevicePlace)
            key = (flow.user, flow.value, flow.domain.device)
            if key not in copies:
                copy = self.copy(flow.value, place, flow.domain, flow.user)
                insert_before(flow.user, copy)
                copies[key] = copy.result
            flow.user.operands[flow.index] = copies[key]

    def copy(
        self, value: SSAValue, src: DevicePlace, dst: DevicePlace, user: Operation
    ) -> DeviceCopyOp:
        """Return a copy of `value` with the location of `user`."""
        copy = DeviceCopyOp(value, src=src.device, dst=dst.device)
        copy.location = user.location
        self.actions.count("copies")
        return copy

    def rewrite_on_device(self, op: OnDeviceOp) -> None:
        """Replace an annotation by its operand, or a copy of it if the devices differ.

        It stays if the operand is a source on another device than the default one, since nothing
        else determines that device.
        """
        (body,) = self.analyzer.slots[op]
        result = self.analyzer.of(op.result)
        value = op.input
        copy: DeviceCopyOp | None = None
        if (
            isinstance(body, DevicePlace)
            and isinstance(result, DevicePlace)
            and body.device != result.device
        ):
            copy = self.copy(value, body, result, op)
            op.result.replace_all_uses_with(copy.result)
            _insert_after(op, copy)
        # A constant has no operand that places it: without the annotation a second run would place
        # it anew.
        place = self.analyzer.sources.get(value)
        if place is not None and place.device != self.defaulter.default_of(op):
            op.properties["device"] = place.device
            op.properties["constrain_result"] = op.properties["constrain_body"] = TRUE
            # The annotation is kept between the constant and its copy.
            if copy is not None:
                copy.operands[0] = op.result
        else:
            op.result.replace_all_uses_with(value)
            erase(op)

    def annotate_source(self, value: SSAValue, place: DevicePlace) -> None:
        """Annotate a source that is not on the default device, unless it is annotated."""
        owner = value.owner
        assert isinstance(owner, Operation)
        annotated = any(isinstance(use.operation, OnDeviceOp) for use in value.uses)
        if annotated or place.device == self.defaulter.default_of(owner):
            return
        op = OnDeviceOp(value, device=place.device, constrain_result=True)
        op.location = owner.location
        value.replace_uses_with_if(op.result, lambda use: use.operation is not op)
        _insert_after(owner, op)


def _insert_after(op: Operation, new: Operation) -> None:
    assert op.parent is not None
    op.parent.insert_op_after(new, op)


def _annotated(
    given: ArrayAttr[DictionaryAttr] | None, domains: Sequence[Domain | None]
) -> ArrayAttr[DictionaryAttr] | None:
    """Return the attributes of parameters or results with the devices of `domains` added."""
    if not any(has_place(domain) for domain in domains):
        return given
    entries = given.data if given else [DictionaryAttr({})] * len(domains)
    placed = [{DEVICE: devices_of(domain)} if has_place(domain) else {} for domain in domains]
    return ArrayAttr(
        DictionaryAttr({**entry.data, **added}) for entry, added in zip(entries, placed)
    )


@dataclass(frozen=True)
class PlanDevices(ModulePass):
    """Give each tensor a device and insert copies between devices; source: `relay.PlanDevices`.

    The config option `relax.fallback_device_type` names the device of values that nothing places.

    Before:

        func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
          %0 = relax.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          %1 = relax.on_device %0 {device = #relax.device<cuda>} : (tensor<4xf32>) -> tensor<4xf32>
          %2 = relax.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
          func.return %2 : tensor<4xf32>
        }

    After:

        func.func @f(%x: tensor<4xf32> {relax.device = #relax.device<cuda>},
                     %y: tensor<4xf32> {relax.device = #relax.device<cuda>})
            -> (tensor<4xf32> {relax.device = #relax.device<cpu>}) {
          %0 = relax.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          %1 = relax.device_copy %0 {src = #relax.device<cuda>, dst = #relax.device<cpu>}
            : (tensor<4xf32>) -> tensor<4xf32>
          %2 = relax.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
          func.return %2 : tensor<4xf32>
        }
    """

    name = "plan-devices"
    preserves = ("infer-type",)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        kind = ctx.get_config("relax.fallback_device_type")
        fallback = DeviceAttr((kind if isinstance(kind, DeviceType) else DeviceType.cpu).name)
        plan_devices(module, fallback, ctx.actions)
