"""PlanDevices: each value gets a device, and is copied where it is used on another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DictionaryAttr,
    FunctionType,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnrankedMemRefType,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.scf import ConditionOp, ForOp, IfOp, IndexSwitchOp, WhileOp, YieldOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import SymbolTable

from ...analysis.device_domains import (
    Conflict,
    Domain,
    FunctionDomain,
    Kind,
    Place,
    Site,
    Unknown,
    constrain,
    devices_of,
    domain_of_type,
    is_placed_type,
    leaves,
    unify,
)
from ...dialects.relax.closures import InvokeOp, LambdaOp, MakeClosureOp
from ...dialects.relax.closures import YieldOp as LambdaYieldOp
from ...dialects.relax.device import DeviceAttr, DeviceCopyOp, OnDeviceOp
from ...dialects.relax.device_type import DeviceType
from ...dialects.relax.graph import GraphOp, OutputOp
from ...dialects.relax.interfaces import OnHost
from ...dialects.relax.kernels import CallTIROp
from ...dialects.relax.tuples import TupleGetItemOp
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.diagnostics import Diagnostic
from ...passmanager.ir.symbols import symbol_of
from ...passmanager.ir.walk import walk
from .inline import LEFT_ALONE

__all__ = ["PlanDevices", "plan_devices"]

Report: TypeAlias = Callable[[Operation, str], Diagnostic]

DEVICE = "relax.device"
"""The attribute of parameters, results and lambdas that says where they are."""
HOST = DeviceAttr("cpu")


def plan_devices(module: ModuleOp, fallback: DeviceAttr, report: Report) -> int:
    """Find the device of each tensor in `module`, and copy it where it is used on another; returns
    how many copies were inserted.

    An operation computes on one device, on which its operands and results are; a tuple is on one.
    What `relax.on_device`, `relax.device_copy` and the attribute `relax.device` of parameters and
    results say holds, and says where else values are, through calls, functions as values, branches
    and loops. What is left open is where the result of its function is, or on `fallback`. A value
    that is used on two devices is copied for the later user. A function, and what
    `relax.device_copy` copies, cannot be copied: if it would have to be, that is reported with what
    says that it is here and there, and nothing else is changed.

    After that the device of a value is that of the operands of its operation, of a parameter or
    result that of its attribute, and of what has no operands that of the result of its function,
    unless a `relax.on_device` says otherwise.
    """
    _project_first(module)
    planning = Planning(fallback, report)
    planning.analyse(module)
    if planning.failed:
        return 0
    planning.choose_defaults()
    return planning.rewrite()


def _project_first(module: ModuleOp) -> None:
    """Make the element of an annotated tuple the annotated element: less is copied."""
    for op in _transparent(module):
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
        _insert_before(op, element, annotated)
        op.result.replace_all_uses_with(annotated.result)
        _erase(op)
        if source.result.first_use is None:
            _erase(source)


def _is_opaque(func: FuncOp) -> bool:
    """Whether the body of a function is not looked into: it computes where its operands are."""
    return func.is_declaration or any(name in func.attributes for name in LEFT_ALONE)


def _transparent(module: ModuleOp) -> list[Operation]:
    """The ops in a module, without those in opaque functions."""
    ops: list[Operation] = []
    inside: FuncOp | None = None
    for op in walk(module):
        if inside is not None and inside.is_ancestor(op):
            continue
        inside = op if isinstance(op, FuncOp) and _is_opaque(op) else None
        ops.append(op)
    return ops


def _insert_before(op: Operation, *new: Operation) -> None:
    block = op.parent
    assert block is not None
    block.insert_ops_before(new, op)


def _insert_after(op: Operation, new: Operation) -> None:
    block = op.parent
    assert block is not None
    block.insert_op_after(new, op)


def _erase(op: Operation) -> None:
    op.detach()
    op.drop_all_references()


class _IsSpecial(dict[type[Operation], bool]):
    """Whether operations of a class have rules of their own, found once for each."""

    def __missing__(self, cls: type[Operation]) -> bool:
        self[cls] = answer = issubclass(cls, _SPECIAL)
        return answer


_SPECIAL = (
    CallOp,
    CallTIROp,
    ConditionOp,
    DeviceCopyOp,
    ForOp,
    FuncOp,
    GraphOp,
    IfOp,
    IndexSwitchOp,
    InvokeOp,
    LambdaOp,
    LambdaYieldOp,
    MakeClosureOp,
    ModuleOp,
    OnDeviceOp,
    OnHost,
    OutputOp,
    ReturnOp,
    WhileOp,
    YieldOp,
)


@dataclass(frozen=True)
class Flow:
    """An operand, and where its user takes it."""

    user: Operation
    index: int
    domain: Domain

    @property
    def value(self) -> SSAValue:
        """What flows."""
        return self.user.operands[self.index]

    @property
    def rank(self) -> int:
        """Which come first: those that annotations ask for, so that what computes an annotated
        value is there, and not copied."""
        match self.user:
            case DeviceCopyOp():
                return 0
            case OnDeviceOp() if self.user.constrain_body:
                return 1
            case _:
                return 2


class Planning:
    """The state of one planning."""

    def __init__(self, fallback: DeviceAttr, report: Report) -> None:
        self.fallback = fallback
        self.report = report
        self.failed = False
        self.ops: list[Operation] = []
        self.symbols: dict[Operation, dict[str, Operation]] = {}
        """Those of each symbol table that an op refers to."""
        self.signatures: dict[FuncOp, FunctionDomain] = {}
        self.domains: dict[SSAValue, Domain | None] = {}
        self.slots: dict[Operation, Sequence[Domain | None]] = {}
        """Where ops without regions take their operands."""
        self.sources: dict[SSAValue, Place] = {}
        """Values whose operation has no operands on a device, to tell where they are."""
        self.copied: list[tuple[Flow, Place]] = []
        self.is_special = _IsSpecial()

    def analyse(self, module: ModuleOp) -> None:
        """Find what is in one place."""
        self.ops = _transparent(module)
        for op in self.ops:
            self.define(op)
        flows = [flow for op in self.ops for flow in self.flows(op)]
        for flow in sorted(flows, key=lambda flow: flow.rank):
            self.follow(flow)

    # Definitions

    def of(self, value: SSAValue) -> Domain | None:
        """The domain of a value."""
        if value not in self.domains:
            self.domains[value] = domain_of_type(value.type)
        return self.domains[value]

    def all_of(self, values: Sequence[SSAValue]) -> list[Domain | None]:
        return [self.of(value) for value in values]

    def define(self, op: Operation) -> None:
        """Find where an op takes its operands and has its results, as far as it says itself."""
        if not self.is_special[type(op)]:
            self.define_other(op)
            return
        match op:
            case FuncOp():
                self.signature(op)
            case LambdaOp():
                self.define_lambda(op)
            case CallOp() if isinstance(callee := self.callee(op), FuncOp):
                signature = self.signature(callee)
                self.slots[op] = signature.arguments
                self.domains |= zip(op.res, signature.results)
            case MakeClosureOp() if isinstance(callee := self.callee(op), FuncOp):
                signature = self.signature(callee)
                captured = len(op.captured)
                self.slots[op] = signature.arguments[:captured]
                rest = FunctionDomain(signature.arguments[captured:], signature.results)
                self.domains[op.result] = rest
            case OnDeviceOp():
                self.define_on_device(op)
            case DeviceCopyOp():
                self.slots[op] = [body := domain_of_type(op.input.type)]
                self.constrain(body, op.src, Site(op, "copies from"))
                self.constrain(self.of(op.result), op.dst, Site(op, "copies to"))
            case CallTIROp():
                self.define_call_tir(op)
            case ForOp():
                self.domains |= zip(op.results, self.all_of(op.body.block.args[1:]))
            case WhileOp():
                self.domains |= zip(op.results, self.all_of(op.after_region.block.args))
            case InvokeOp() | IfOp() | IndexSwitchOp() | GraphOp() | ModuleOp():
                pass
            case ReturnOp() | LambdaYieldOp() | OutputOp() | YieldOp() | ConditionOp():
                pass
            case _:
                self.define_other(op)

    def signature(self, func: FuncOp) -> FunctionDomain:
        """Where a function has its parameters and results, as its attributes say; if it is opaque,
        the others are together, for each call by itself."""
        if func in self.signatures:
            return self.signatures[func]
        type = func.function_type
        arguments = [domain_of_type(input) for input in type.inputs]
        results = [domain_of_type(output) for output in type.outputs]
        rest = [*arguments, *results]
        attributes = [*(func.arg_attrs or ())], [*(func.res_attrs or ())]
        for kind, domains, given in zip(("parameter", "result"), (arguments, results), attributes):
            for number, (domain, entry) in enumerate(zip(domains, given)):
                if (attribute := entry.data.get(DEVICE)) is not None:
                    self.constrain(domain, attribute, Site(func, f"has {kind} {number} on"))
                    rest = [other for other in rest if other is not domain]
        signature = FunctionDomain(arguments, results)
        if _is_opaque(func):
            together = Place()
            for domain in rest:
                unify(together, domain)
        else:
            self.signatures[func] = signature
            self.domains |= zip(func.args, arguments)
        return signature

    def callee(self, op: CallOp | MakeClosureOp | CallTIROp) -> Operation | None:
        """What an op refers to."""
        table = op.parent_op()
        while table is not None and not table.has_trait(SymbolTable):
            table = table.parent_op()
        if table is None:
            return None
        if table not in self.symbols:
            ops = table.regions[0].block.ops
            self.symbols[table] = {name: op for op in ops if (name := symbol_of(op))}
        return self.symbols[table].get(op.callee.string_value())

    def define_lambda(self, op: LambdaOp) -> None:
        """A lambda is where its attribute says, if it has one."""
        outputs = op.result.type.outputs
        results = [domain_of_type(output) for output in outputs]
        domain = FunctionDomain(self.all_of(op.body.block.args), results)
        self.domains[op.result] = domain
        if (attribute := op.attributes.get(DEVICE)) is not None:
            self.constrain(domain, attribute, Site(op, "is on"))

    def define_on_device(self, op: OnDeviceOp) -> None:
        """The result of a function is where it is annotated to be computed; a function as a value
        has no place but that of its results and arguments."""
        body = domain_of_type(op.input.type)
        if isinstance(body, FunctionDomain):
            self.domains[op.result] = body
        returned = any(isinstance(u.operation, ReturnOp | LambdaYieldOp) for u in op.result.uses)
        self.slots[op] = [body]
        site = Site(op, "puts it on")
        if op.constrain_body:
            self.constrain(body, op.device, site)
            if returned:
                self.constrain(self.of(op.result), op.device, site)
        if op.constrain_result:
            self.constrain(self.of(op.result), op.device, site)

    def define_call_tir(self, op: CallTIROp) -> None:
        """A kernel runs on one device, each buffer in the memory that its type says."""
        kind: Unknown[Kind] = Unknown()
        slots = [Place(kind) for _ in (*op.arguments, *op.res)]
        callee = self.callee(op)
        type = None if callee is None else callee.get_attr_or_prop("function_type")
        if callee is not None and isinstance(type, FunctionType):
            for place, buffer in zip(slots, type.inputs):
                if isinstance(buffer, MemRefType | UnrankedMemRefType):
                    if isinstance(memory := buffer.memory_space, StringAttr):
                        place.memory.set(memory.data, Site(callee, "has a buffer on"))
        self.slots[op] = slots[: len(op.arguments)]
        results = slots[len(op.arguments) :]
        self.domains |= zip(op.res, results)
        if not op.arguments:
            self.sources |= zip(op.res, results)

    def define_other(self, op: Operation) -> None:
        """An op computes on one device, but for what it has on the host."""
        there = Place()
        operands, results = [there] * len(op.operands), [there] * len(op.results)
        if self.is_special[type(op)] and isinstance(op, OnHost):
            host = Place()
            self.constrain(host, HOST, Site(op, "has it on"))
            for places, indices in (operands, op.host_operands()), (results, op.host_results()):
                for index in indices:
                    places[index] = host
        self.slots[op] = operands
        for value, where in zip(op.results, results):
            if isinstance(domain := domain_of_type(value.type), Place):
                self.domains[value] = where
            else:
                self.domains[value] = domain
                unify(where, domain)
        data = [value for value, where in zip(op.operands, operands) if where is there]
        if not any(is_placed_type(value.type) for value in data):
            placed = [value for value in op.results if self.of(value) is there]
            self.sources |= dict.fromkeys(placed, there)

    def constrain(self, domain: Domain | None, attribute: Attribute, site: Site) -> None:
        """Say that a value is where an attribute says; an error if it says nothing."""
        if not constrain(domain, attribute, site):
            self.failed = True
            self.report(site.op, f"{site.message} {attribute}, which is no device of this value")

    # Uses

    def flows(self, op: Operation) -> list[Flow]:
        """What an op takes on a device, and where."""
        first, domains = self.taken(op) if self.is_special[type(op)] else (0, self.slots[op])
        numbered = enumerate(domains, first)
        return [Flow(op, index, domain) for index, domain in numbered if domain is not None]

    def taken(self, op: Operation) -> tuple[int, Sequence[Domain | None]]:
        """Where an op takes its operands from a certain one on."""
        match op:
            case ReturnOp() | LambdaYieldOp() | OutputOp() | YieldOp():
                return 0, self.given_by(op.parent_op())
            case ConditionOp() if isinstance(loop := op.parent_op(), WhileOp):
                return 1, self.all_of(loop.after_region.block.args)
            case ForOp():
                return 3, self.all_of(op.body.block.args[1:])
            case WhileOp():
                return 0, self.all_of(op.before_region.block.args)
            case InvokeOp() if isinstance(called := self.of(op.callee), FunctionDomain):
                for result, domain in zip(op.res, called.results):
                    unify(self.of(result), domain)
                return 1, called.arguments
            case _:
                return 0, self.slots.get(op, ())

    def given_by(self, holder: Operation | None) -> Sequence[Domain | None]:
        """Where an op takes what its regions end with."""
        match holder:
            case FuncOp():
                return self.signature(holder).results
            case LambdaOp() if isinstance(domain := self.of(holder.result), FunctionDomain):
                return domain.results
            case ForOp():
                return self.all_of(holder.body.block.args[1:])
            case WhileOp():
                return self.all_of(holder.before_region.block.args)
            case Operation():
                return self.all_of(holder.results)
            case None:
                return ()

    def follow(self, flow: Flow) -> None:
        """Let an operand be where its user takes it, or else be copied."""
        domain = self.of(flow.value)
        if domain is None or (conflict := unify(domain, flow.domain)) is None:
            return
        if isinstance(flow.user, DeviceCopyOp) or not isinstance(domain, Place):
            self.fail(flow, conflict)
        elif isinstance(flow.domain, Place):
            self.copied.append((flow, domain))
        else:
            self.fail(flow, conflict)

    def fail(self, flow: Flow, conflict: Conflict) -> None:
        """Report that an operand that cannot be copied is on two devices."""
        self.failed = True
        here, there = conflict
        if isinstance(flow.user, DeviceCopyOp):
            message = f"copies from {there.device} what is on {here.device}"
        else:
            message = f"takes a function on {there.device} that is on {here.device}"
        diagnostic = self.report(flow.user, message)
        same_kind = here.kind.fits(there.kind)
        for place in conflict:
            site = (place.memory if same_kind else place.kind).site
            if site is not None and site.op is not flow.user:
                diagnostic.note(site.op, f"{site.message} {place.device}")

    # What is left open

    def choose_defaults(self) -> None:
        """Put what nothing is said about where the result of its function is."""
        for signature in self.signatures.values():
            self.settle(signature.results, self.fallback)
            self.settle(signature.arguments, self.first_device(signature.results, self.fallback))
        for op in self.ops:
            if isinstance(op, LambdaOp):
                results = self.given_by(op)
                self.settle(results, self.implied(op))
                self.settle(
                    self.all_of(op.body.block.args), self.first_device(results, self.implied(op))
                )
            blocks = [block for region in op.regions for block in region.blocks]
            domains = [
                *self.all_of(op.results),
                *(self.of(value) for block in blocks for value in block.args),
                *self.slots.get(op, ()),
            ]
            if any(self.is_open(domain) for domain in domains):
                self.settle(domains, self.implied(op))

    def is_open(self, domain: Domain | None) -> bool:
        return any(place.kind.value is None for place in leaves(domain))

    def settle(self, domains: Sequence[Domain | None], device: DeviceAttr) -> None:
        """Put what is not placed yet on a device."""
        for domain in domains:
            for place in leaves(domain):
                if place.kind.value is None:
                    place.kind.set((device.device_type.data, device.index.data), None)

    def implied(self, op: Operation) -> DeviceAttr:
        """Where an op computes if nothing else is said: where the result of its function is."""
        holder = op.parent_op()
        while holder is not None:
            match holder:
                case FuncOp() if holder in self.signatures:
                    return self.first_device(self.signatures[holder].results, self.fallback)
                case LambdaOp():
                    results = self.given_by(holder)
                    if any(map(_is_placed, results)):
                        return self.first_device(results, self.fallback)
                case _:
                    pass
            holder = holder.parent_op()
        return self.fallback

    def first_device(self, domains: Sequence[Domain | None], default: DeviceAttr) -> DeviceAttr:
        """The device of the first of these that is on one."""
        places = (place for domain in domains for place in leaves(domain))
        found = (place.device for place in places if place.kind.value is not None)
        return next(found, default)

    # Rewriting

    def rewrite(self) -> int:
        """Write down what has been found; returns how many copies are inserted."""
        copies: dict[tuple[Operation, SSAValue, DeviceAttr], SSAValue] = {}
        for flow, place in self.copied:
            assert isinstance(flow.domain, Place)
            key = (flow.user, flow.value, flow.domain.device)
            if key not in copies:
                copy = DeviceCopyOp(flow.value, src=place.device, dst=flow.domain.device)
                copy.location = flow.user.location
                _insert_before(flow.user, copy)
                copies[key] = copy.result
            flow.user.operands[flow.index] = copies[key]
        count = len(copies)
        for op in self.ops:
            if isinstance(op, OnDeviceOp):
                count += self.rewrite_on_device(op)
        for value, place in self.sources.items():
            self.annotate_source(value, place)
        for func, signature in self.signatures.items():
            func.arg_attrs = _annotate(func.arg_attrs, signature.arguments)
            func.res_attrs = _annotate(func.res_attrs, signature.results)
        for op in self.ops:
            if isinstance(op, LambdaOp):
                if _is_placed(domain := self.of(op.result)):
                    op.attributes[DEVICE] = devices_of(domain)
        return count

    def rewrite_on_device(self, op: OnDeviceOp) -> bool:
        """Replace an annotation by its operand, or a copy of it, unless the operand is a source,
        which says nowhere else where it is; whether it is copied."""
        (body,) = self.slots[op]
        result = self.of(op.result)
        value = op.input
        copy: DeviceCopyOp | None = None
        if isinstance(body, Place) and isinstance(result, Place) and body.device != result.device:
            copy = DeviceCopyOp(value, src=body.device, dst=result.device)
            copy.location = op.location
            op.result.replace_all_uses_with(copy.result)
            _insert_after(op, copy)
        place = self.sources.get(value)
        if place is not None and place.device != self.implied(op):
            op.properties["device"] = place.device
            op.properties["constrain_result"] = op.properties["constrain_body"] = TRUE
            if copy is not None:
                copy.operands[0] = op.result
        else:
            op.result.replace_all_uses_with(value)
            _erase(op)
        return copy is not None

    def annotate_source(self, value: SSAValue, place: Place) -> None:
        """Say where a value is, if nothing else does."""
        owner = value.owner
        assert isinstance(owner, Operation)
        annotated = any(isinstance(use.operation, OnDeviceOp) for use in value.uses)
        if annotated or place.device == self.implied(owner):
            return
        op = OnDeviceOp(value, device=place.device, constrain_result=True)
        op.location = owner.location
        value.replace_uses_with_if(op.result, lambda use: use.operation is not op)
        _insert_after(owner, op)


TRUE = BoolAttr.from_bool(True)


def _annotate(
    given: ArrayAttr[DictionaryAttr] | None, domains: Sequence[Domain | None]
) -> ArrayAttr[DictionaryAttr] | None:
    """The attributes of the parameters or results of a function, with where these are."""
    if not any(_is_placed(domain) for domain in domains):
        return given
    entries = given.data if given else [DictionaryAttr({})] * len(domains)
    placed = [{DEVICE: devices_of(domain)} if _is_placed(domain) else {} for domain in domains]
    return ArrayAttr(
        DictionaryAttr({**entry.data, **added}) for entry, added in zip(entries, placed)
    )


def _is_placed(domain: Domain | None) -> bool:
    """Whether there is a place in a domain."""
    return next(leaves(domain), None) is not None


@dataclass(frozen=True)
class PlanDevices(ModulePass):
    """Give each tensor a device and insert copies between devices; source: `relay.PlanDevices`.

    The config option `relax.fallback_device_type` names the device of what nothing is said about.
    """

    name = "plan-devices"
    preserves = ("infer-type",)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        kind = ctx.get_config("relax.fallback_device_type")
        fallback = DeviceAttr((kind if isinstance(kind, DeviceType) else DeviceType.cpu).name)
        ctx.count("copies", plan_devices(module, fallback, ctx.diagnostics.error))
