"""The device analysis: unifies the domains of all values that one device has to hold.

Source: TVM's `DeviceAnalyzer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import FunctionType, MemRefType, ModuleOp, StringAttr, UnrankedMemRefType
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.scf import ConditionOp, ForOp, IfOp, IndexSwitchOp, WhileOp, YieldOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import SymbolTable

from ...dialects.relax.closures import InvokeOp, LambdaOp, MakeClosureOp
from ...dialects.relax.closures import YieldOp as LambdaYieldOp
from ...dialects.relax.device import DeviceAttr, DeviceCopyOp, OnDeviceOp
from ...dialects.relax.graph import GraphOp, OutputOp
from ...dialects.relax.interfaces import OnHost
from ...dialects.relax.kernels import CallTIRInplaceOp, CallTIROp
from ...passes.generic.call_graph import is_opaque
from ...passmanager.actions import SILENT, Actions
from ...passmanager.ir.per_class import PerClass
from ...passmanager.ir.walk import ancestors, symbol_of, walk
from .device_domains import (
    Conflict,
    DevicePlace,
    Domain,
    FunctionDomain,
    Kind,
    Site,
    Variable,
    constrain,
    domain_of_type,
    has_domain,
    has_place,
    places,
    unify,
)
from .region_flow import forwarded

DEVICE = "relax.device"
"""The attribute with the devices of a parameter, a result or a lambda."""
HOST = DeviceAttr("cpu")

_SPECIAL = (
    CallOp,
    CallTIRInplaceOp,
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
"""The operations with rules of their own; any other computes on one device."""


def _is_special(cls: type[Operation]) -> bool:
    return issubclass(cls, _SPECIAL)


def transparent_ops(module: ModuleOp) -> list[Operation]:
    """Return the ops in `module` in order, without those in declarations and opaque functions."""
    ops: list[Operation] = []
    inside: FuncOp | None = None
    for op in walk(module):
        # Pre-order: the operations in a function come right after it.
        if inside is not None and inside.is_ancestor(op):
            continue
        inside = op if isinstance(op, FuncOp) and _has_unknown_body(op) else None
        ops.append(op)
    return ops


def _has_unknown_body(func: FuncOp) -> bool:
    return func.is_declaration or is_opaque(func)


@dataclass(frozen=True)
class DomainUse:
    """An operand of `user`, and the domain in which it is used."""

    user: Operation
    index: int
    domain: Domain

    @property
    def value(self) -> SSAValue:
        """The operand."""
        return self.user.operands[self.index]

    @property
    def rank(self) -> int:
        """The order in which flows are unified: annotations first, so that an annotated value is
        computed on its device, and not copied there."""
        match self.user:
            case DeviceCopyOp():
                return 0
            case OnDeviceOp() if self.user.constrain_body:
                return 1
            case _:
                return 2


class DeviceAnalyzer:
    """Unifies the domains of a module in two steps.

    Each operation first gets a domain for each result, and a slot for each operand: the domain in
    which it uses the operand. Then each operand's domain is unified with its slot; where they
    conflict, the operand has to be copied. `failed` is true after an error.
    """

    def __init__(self, module: ModuleOp, actions: Actions = SILENT) -> None:
        self.actions = actions
        self.failed = False
        self.ops = transparent_ops(module)
        self.symbols: dict[Operation, dict[str, Operation]] = {}
        """The ops by name in each symbol table."""
        self.signatures: dict[FuncOp, FunctionDomain] = {}
        self.domains: dict[SSAValue, Domain | None] = {}
        self.slots: dict[Operation, Sequence[Domain | None]] = {}
        """The slots of ops without regions."""
        self.sources: dict[SSAValue, DevicePlace] = {}
        """Results of ops that have no operand on a device: nothing else determines their place."""
        self.copies: list[tuple[DomainUse, DevicePlace]] = []
        """The flows that need a copy, from the given place."""
        self.is_special = PerClass(_is_special)

    def run(self) -> None:
        """Analyze the module."""
        for op in self.ops:
            self.define(op)
        flows = [flow for op in self.ops for flow in self.flows(op)]
        # Unification commutes, but a conflict is blamed on the flow that comes second, and that
        # gets the copy. The sort is stable: among equals the first use in the program decides.
        for flow in sorted(flows, key=lambda flow: flow.rank):
            self.follow(flow)

    # Definitions

    def of(self, value: SSAValue) -> Domain | None:
        """Return the domain of `value`."""
        if value not in self.domains:
            self.domains[value] = domain_of_type(value.type)
        return self.domains[value]

    def all_of(self, values: Sequence[SSAValue]) -> list[Domain | None]:
        """Return the domains of `values`."""
        return [self.of(value) for value in values]

    def define(self, op: Operation) -> None:
        """Set the slots and the domains of the results of `op`."""
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
                # As in TVM, all calls of a function have the same domains: it is compiled for one
                # device.
                self.slots[op] = signature.arguments
                self.domains |= zip(op.res, signature.results)
            case MakeClosureOp() if isinstance(callee := self.callee(op), FuncOp):
                signature = self.signature(callee)
                captured = len(op.captured)
                self.slots[op] = signature.arguments[:captured]
                # A closure has the places of the function itself: calling the one is calling the
                # other.
                rest = FunctionDomain(signature.arguments[captured:], signature.results)
                self.domains[op.result] = rest
            case OnDeviceOp():
                self.define_on_device(op)
            case DeviceCopyOp():
                # Operand and result are not unified: that they may differ is the purpose of a copy.
                self.slots[op] = [body := domain_of_type(op.input.type)]
                self.constrain(body, op.src, Site(op, "copies from"))
                self.constrain(self.of(op.result), op.dst, Site(op, "copies to"))
            case CallTIROp() | CallTIRInplaceOp():
                self.define_call_tir(op)
            case ForOp():
                # All carried values are in one place; otherwise each iteration would copy.
                self.domains |= zip(op.results, self.all_of(op.body.block.args[1:]))
            case WhileOp():
                self.domains |= zip(op.results, self.all_of(op.after_region.block.args))
            case CallOp() | MakeClosureOp() | OnHost():
                self.define_other(op)
            case _:
                pass

    def signature(self, func: FuncOp) -> FunctionDomain:
        """Return the domains of the parameters and results of `func`, on the devices of their
        attributes.

        The body of an opaque function is unknown: it computes on one device, which may differ from
        call to call, so each call gets a signature of its own.
        """
        if func in self.signatures:
            return self.signatures[func]
        type = func.function_type
        arguments = [domain_of_type(input) for input in type.inputs]
        results = [domain_of_type(output) for output in type.outputs]
        unplaced = [*arguments, *results]
        attributes = [*(func.arg_attrs or ())], [*(func.res_attrs or ())]
        for kind, domains, given in zip(("parameter", "result"), (arguments, results), attributes):
            for number, (domain, entry) in enumerate(zip(domains, given)):
                if (attribute := entry.data.get(DEVICE)) is not None:
                    self.constrain(domain, attribute, Site(func, f"has {kind} {number} on"))
                    unplaced = [other for other in unplaced if other is not domain]
        signature = FunctionDomain(arguments, results)
        if _has_unknown_body(func):
            # Code of another compiler takes and returns memory of one device.
            shared = DevicePlace()
            for domain in unplaced:
                unify(shared, domain)
        else:
            self.signatures[func] = signature
            self.domains |= zip(func.args, arguments)
        return signature

    def callee(self, op: CallOp | MakeClosureOp | CallTIROp | CallTIRInplaceOp) -> Operation | None:
        """Return the op that `op.callee` refers to in the nearest symbol table."""
        # By hand, since xDSL's look-up walks over all operations of the table in each call.
        table = next(
            (a for a in ancestors(op) if a.has_trait(SymbolTable, value_if_unregistered=False)),
            None,
        )
        if table is None:
            return None
        if table not in self.symbols:
            ops = table.regions[0].block.ops
            self.symbols[table] = {name: op for op in ops if (name := symbol_of(op))}
        return self.symbols[table].get(op.callee.string_value())

    def define_lambda(self, op: LambdaOp) -> None:
        """Give a lambda a domain on the devices of its attribute."""
        outputs = op.result.type.outputs
        results = [domain_of_type(output) for output in outputs]
        domain = FunctionDomain(self.all_of(op.body.block.args), results)
        self.domains[op.result] = domain
        if (attribute := op.attributes.get(DEVICE)) is not None:
            self.constrain(domain, attribute, Site(op, "is on"))

    def define_on_device(self, op: OnDeviceOp) -> None:
        """Constrain the operand and the result of `op` to its device, each if its flag is set.

        The result of a function is on the device where it is annotated to be computed. A function
        value has no place of its own, only the places of its arguments and results.
        """
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

    def define_call_tir(self, op: CallTIROp | CallTIRInplaceOp) -> None:
        """Put all operands and results of a kernel on one device, each in its memory space."""
        kind: Variable[Kind] = Variable()
        # One device, but a memory for each: a kernel may read "global" and write "global.texture".
        slots = [DevicePlace(kind) for _ in (*op.arguments, *op.new_results())]
        callee = self.callee(op)
        type = None if callee is None else callee.get_attr_or_prop("function_type")
        if callee is not None and isinstance(type, FunctionType):
            for place, buffer in zip(slots, type.inputs):
                if isinstance(buffer, MemRefType | UnrankedMemRefType):
                    if isinstance(memory := buffer.memory_space, StringAttr):
                        place.memory.set(memory.data, Site(callee, "has a buffer on"))
        self.slots[op] = slots[: len(op.arguments)]
        new = iter(slots[len(op.arguments) :])
        in_place = op.inplace_indices if isinstance(op, CallTIRInplaceOp) else [-1] * len(op.res)
        # A result in place is the memory of its operand.
        results = [next(new) if index < 0 else slots[index] for index in in_place]
        self.domains |= zip(op.res, results)
        if not op.arguments:
            self.sources |= zip(op.res, results)

    def define_other(self, op: Operation) -> None:
        """Put all operands and results of `op` on one device, except those on the host."""
        device = DevicePlace()
        operands, results = [device] * len(op.operands), [device] * len(op.results)
        if self.is_special[type(op)] and isinstance(op, OnHost):
            # For instance sizes: the host program allocates, so it reads the sizes of a reshape.
            host = DevicePlace()
            self.constrain(host, HOST, Site(op, "has it on"))
            for sides, indices in (operands, op.host_operands()), (results, op.host_results()):
                for index in indices:
                    sides[index] = host
        self.slots[op] = operands
        for value, place in zip(op.results, results):
            if isinstance(domain := domain_of_type(value.type), DevicePlace):
                self.domains[value] = place
            else:
                self.domains[value] = domain
                unify(place, domain)
        data = [value for value, place in zip(op.operands, operands) if place is device]
        if not any(has_domain(value.type) for value in data):
            placed = [value for value in op.results if self.of(value) is device]
            self.sources |= dict.fromkeys(placed, device)

    def constrain(self, domain: Domain | None, attribute: Attribute, site: Site) -> None:
        """Put `domain` on the devices of `attribute`; an error if it is malformed."""
        if not constrain(domain, attribute, site):
            self.failed = True
            self.actions.error(
                site.op, f"{site.message} {attribute}, which is not a device of this value"
            )

    # Uses

    def flows(self, op: Operation) -> list[DomainUse]:
        """Return the operands of `op` that are on devices."""
        first, domains = self.uses(op) if self.is_special[type(op)] else (0, self.slots[op])
        numbered = enumerate(domains, first)
        return [DomainUse(op, index, domain) for index, domain in numbered if domain is not None]

    def uses(self, op: Operation) -> tuple[int, Sequence[Domain | None]]:
        """Return the index of the first operand of `op` that may be on a device, and the domains of
        the operands from there on."""
        match op:
            case ReturnOp() | LambdaYieldOp():
                return 0, self.terminator_uses(op.parent_op())
            case OutputOp() | YieldOp() | ConditionOp() | ForOp() | WhileOp():
                first, values = forwarded(op)
                return first, self.all_of(values)
            case InvokeOp() if isinstance(callee := self.of(op.callee), FunctionDomain):
                # Not in `define`: a later operation may define the domain of the callee.
                for result, domain in zip(op.res, callee.results):
                    unify(self.of(result), domain)
                return 1, callee.arguments
            case _:
                return 0, self.slots.get(op, ())

    def terminator_uses(self, parent: Operation | None) -> Sequence[Domain | None]:
        """Return the domains in which `parent` uses the operands of its terminators."""
        match parent:
            case FuncOp():
                return self.signature(parent).results
            case LambdaOp() if isinstance(domain := self.of(parent.result), FunctionDomain):
                return domain.results
            case _:
                return ()

    def follow(self, flow: DomainUse) -> None:
        """Unify an operand with its slot; if they conflict, record a copy or report an error.

        A function cannot be copied, and neither can the operand of `relax.device_copy`, whose
        source device is part of the program.
        """
        domain = self.of(flow.value)
        # Functions may be unified in part before a conflict is met. The conflict is an error, so
        # nothing is undone.
        if domain is None or (conflict := unify(domain, flow.domain)) is None:
            return
        copyable = isinstance(domain, DevicePlace) and isinstance(flow.domain, DevicePlace)
        if isinstance(domain, DevicePlace) and copyable and not isinstance(flow.user, DeviceCopyOp):
            self.copies.append((flow, domain))
        else:
            self.fail(flow, conflict)

    def fail(self, flow: DomainUse, conflict: Conflict) -> None:
        """Report that an operand that cannot be copied is on two devices."""
        self.failed = True
        here, there = conflict
        if isinstance(flow.user, DeviceCopyOp):
            message = f"copies from {there.device} a value that is on {here.device}"
        else:
            message = f"takes a function on {there.device} that is on {here.device}"
        diagnostic = self.actions.error(flow.user, message)
        same_kind = here.kind.can_unify(there.kind)
        for place in conflict:
            site = (place.memory if same_kind else place.kind).site
            if site is not None and site.op is not flow.user:
                diagnostic.note(site.op, f"{site.message} {place.device}")


# The devices of values that the device analysis leaves open.
#
# Source: TVM's `DeviceDefaulter`.


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
