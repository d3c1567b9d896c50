"""InferType: infer types as precise as the operations that compute the values allow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.scf import ConditionOp, ForOp, IfOp, WhileOp
from xdsl.dialects.tensor import CastOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from ...compiler.analysis.region_flow import forwarded, result_terminators
from ...dialects.relax.closures import LambdaOp, MakeClosureOp
from ...dialects.relax.graph import GraphOp, MatchCastOp
from ...dialects.relax.interfaces import InfersType
from ...dialects.relax.types import refine, unify
from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.ir.ordering import in_order
from ...passmanager.ir.per_class import PerClass
from ..generic.call_graph import CallGraph, symbols_of
from ..sizes import cast_at_regions, cast_for_users

Types: TypeAlias = Sequence[Attribute]


def infer_types(
    module: ModuleOp, graph: CallGraph | None = None, actions: Actions = SILENT
) -> None:
    """Retype the values in `module` as precisely as can be inferred, never less precisely.

    Types flow through operations that implement `InfersType`, branches, loops, graphs, and
    functions and their calls, of `func.func` and `relax.lambda`. Parameters keep their declared
    types. Any other operation keeps the operand types that it had, through a cast. A value that a
    loop carries gets a type that holds in each iteration, and a recursive function result types
    that hold at any depth of the recursion.
    A contradiction is an error of `actions`; the operation keeps its declared types.
    """
    inferrer = TypeInferrer()
    graphs = [CallGraph(module) if graph is None else graph]
    while graphs:
        inner = graphs.pop()
        inferrer.infer_module(inner)
        graphs += [CallGraph(op) for op in inner.callees_first() if isinstance(op, ModuleOp)]
    for op, message in inferrer.errors:
        actions.error(op, message)
    cast_at_regions(inferrer.holders)
    retyped = inferrer.retyped()
    cast_for_users(retyped)
    actions.count("retyped", len(retyped))


def are_settled(module: ModuleOp) -> bool:
    """Return whether `infer_types` is known to change and report nothing in `module`: it has
    functions alone, without nested regions, and each value has the type that is inferred.
    """
    symbols = symbols_of(module)
    for function in module.body.block.ops:
        if not isinstance(function, FuncOp):
            return False
        outputs = function.function_type.outputs.data
        for block in function.body.blocks:
            for op in block.ops:
                if not _is_settled(op, outputs, symbols):
                    return False
    return True


def _is_settled(op: Operation, outputs: Types, symbols: Mapping[str, Operation]) -> bool:
    """Return whether an op in a function with these result types is known to need no change."""
    kind = _kind_of[type(op)]
    if op.regions:
        return False
    if kind is InfersType:
        try:
            return _have_types(op.results, cast(InfersType, op).inferred_types())
        except VerifyException:
            return False
    if kind is CallOp:
        callee = symbols.get(cast(CallOp, op).callee.string_value())
        types = callee.function_type.outputs.data if isinstance(callee, FuncOp) else None
        return types is None or _have_types(op.results, types)
    return _have_types(op.operands, outputs) if kind is ReturnOp else kind is None


def _have_types(values: Sequence[SSAValue], types: Types) -> bool:
    """Return whether each of the values has the type that is given for it."""
    if len(values) != len(types):
        return False
    for value, type in zip(values, types):
        if value.type is not type and value.type != type:
            return False
    return True


_SPECIAL = (CastOp, MatchCastOp, CallOp, MakeClosureOp, ConditionOp, ReturnOp)


def _kind(cls: type[Operation]) -> type[Operation] | None:
    """Return the class by which an op without regions is inferred, or None if it is not."""
    return next((kind for kind in (*_SPECIAL, InfersType) if issubclass(cls, kind)), None)


# A look-up takes a tenth of the time of `isinstance` of several abstract classes.
_kind_of = PerClass[Operation, type[Operation] | None](_kind)


class TypeInferrer:
    """Retypes values; functions, loops and calls are revisited until no type changes.

    A revisit unifies the types that a loop carries, or a function returns, with the earlier ones.
    Such types only become less precise, which bounds the number of revisits.
    """

    def __init__(self) -> None:
        self.errors: dict[tuple[Operation, str], None] = {}
        self.declared: dict[SSAValue, Attribute] = {}
        """The types that retyped values had before."""
        self.unknown: set[SSAValue] = set()
        """Values that depend on a recursive call whose result types are still unknown."""
        self.holders: dict[Operation, None] = {}
        """The operations with regions, in the order of the first visit."""
        self.functions: dict[str, FuncOp] = {}
        self.signatures: dict[FuncOp, Types] = {}
        """The result types that functions had before."""
        self.returned: dict[FuncOp, Sequence[Attribute | None]] = {}
        """The result types inferred so far; None for an unknown one."""

    # Order

    def infer_module(self, graph: CallGraph) -> None:
        """Infer the types in each function after its callees, and again when theirs change.

        Recursive calls contribute no type until the other returns of the function are known: in
        `f(x) = if c then x else f(x)`, `f` returns the type of `x`. A function that returns only
        recursive calls has its declared result types.
        """
        self.functions = {name: op for name, op in graph.symbols.items() if isinstance(op, FuncOp)}
        for op in self.functions.values():
            self.signatures[op] = op.function_type.outputs.data
        done: set[Operation] = set()
        # A dict as an ordered set that is also a stack: `popitem` takes the last, callees first.
        pending = dict.fromkeys(reversed([*graph.callees_first()]))
        while pending:
            op, _ = pending.popitem()
            done.add(op)
            if not isinstance(op, ModuleOp) and self.infer_op(op):
                # Callers that were not visited yet will be in any case.
                pending |= dict.fromkeys(c for c in graph.callers(op) if c in done)
            if not pending:
                # Only recursive calls can determine these results: use the declared types.
                for endless in [f for f, types in self.returned.items() if None in types]:
                    pairs = zip(self.returned[endless], self.signatures[endless], strict=True)
                    self.returned[endless] = [type or declared for type, declared in pairs]
                    pending |= dict.fromkeys((endless, *graph.callers(endless)))

    def infer_op(self, root: Operation) -> bool:
        """Infer the types in the top-level op `root`; return whether it is a function whose result
        types have changed.

        Ops with regions are entered and left, loops until their types are stable; nothing
        recurses, so the depth of nesting is unlimited.
        """
        before = self.returned.get(root) if isinstance(root, FuncOp) else None
        pending: list[Iterator[Operation] | Operation] = [iter((root,))]
        while pending:
            item = pending.pop()
            if isinstance(item, Operation):
                if self.leave(item):
                    pending += self.enter(item)
                continue
            for op in item:
                if op.regions and not isinstance(op, ModuleOp):
                    pending.append(item)
                    if isinstance(op, ForOp | WhileOp):
                        # An optimistic start: the types of the first iteration, which `widen` makes
                        # less precise until they hold in all.
                        first, carried = forwarded(op)
                        self.refine(op, carried, self.types(op.operands[first:]))
                    pending += self.enter(op)
                    break
                self.infer(op)
        return isinstance(root, FuncOp) and self.returned[root] != before

    def enter(self, op: Operation) -> list[Iterator[Operation] | Operation]:
        """Return the items to visit in `op`, last first; drop the errors of an earlier visit."""
        if self.errors:
            # An error of a visit with types that were still too precise says nothing.
            self.errors = {key: None for key in self.errors if not op.is_ancestor(key[0])}
        self.holders[op] = None
        blocks = [block for region in op.regions for block in region.blocks]
        return [op, *map(in_order, reversed(blocks))]

    # The rules

    def infer(self, op: Operation) -> None:
        """Infer the result types of an op without regions."""
        kind = _kind_of[type(op)]
        if kind is InfersType:  # nearly all ops
            self.infer_results(cast(InfersType, op))
        elif kind is not None:
            self.infer_special(op)

    def infer_special(self, op: Operation) -> None:
        """Infer the result types of an op with a rule of its own."""
        match op:
            case CastOp() | MatchCastOp():
                self.check_cast(op)
            case CallOp():
                if (callee := self.functions.get(op.callee.string_value())) is not None:
                    unknown = [None] * len(op.results)
                    self.refine(op, op.results, self.returned.get(callee, unknown))
            case MakeClosureOp():
                if (callee := self.functions.get(op.callee.string_value())) is not None:
                    self.refine(op, op.results, [self.closure_type(op, callee)])
            case ConditionOp():
                if isinstance(loop := op.parent_op(), WhileOp):
                    self.refine(op, loop.after_region.block.args, self.types(op.args))
            case _:
                pass

    def infer_results(self, op: InfersType) -> None:
        """Give the results of `op` the types that it infers itself."""
        if self.unknown and not self.unknown.isdisjoint(op.operands):
            self.unknown.update(op.results)
            return
        try:
            types = op.inferred_types()
        except VerifyException as error:
            self.error(op, str(error))
            self.unknown.difference_update(op.results)
        else:
            results = op.results
            # Most types are as precise as they can be: the loop of `refine` is longer.
            if len(results) == len(types) == 1 and types[0] is results[0].type:
                if self.unknown:
                    self.unknown.discard(results[0])
                return
            self.refine(op, results, types)

    def closure_type(self, op: MakeClosureOp, callee: FuncOp) -> Attribute | None:
        """Return the type of a closure of `callee`, or None if result types are still unknown."""
        known = [type for type in self.returned.get(callee, [None]) if type is not None]
        if len(known) < len(callee.function_type.outputs):
            return None
        inputs = callee.function_type.inputs.data
        return op.closure_type(FunctionType.from_lists(inputs, known))

    def check_cast(self, op: CastOp | MatchCastOp) -> None:
        """Report a cast whose type contradicts the type of its operand; its type stays."""
        value, type = op.operands[0], op.result_types[0]
        if value not in self.unknown and refine(type, value.type) is None:
            self.error(op, f"casts {value.type} to {type}")

    def leave(self, op: Operation) -> bool:
        """Infer the result types of `op` from the terminators of its regions; return whether a loop
        has to be entered again."""
        match op:
            case FuncOp():
                self.infer_function(op)
            case IfOp() | GraphOp():
                self.refine(op, op.results, self.yielded_types(op, op.result_types))
            case LambdaOp():
                types = self.yielded_types(op, op.result.type.outputs.data)
                known = [type for type in types if type is not None]
                type = FunctionType.from_lists(op.body.block.arg_types, known)
                self.refine(op, op.results, [type if len(known) == len(types) else None])
            case ForOp() | WhileOp():
                if self.widen(op):
                    return True
                passed = op if isinstance(op, ForOp) else op.before_region.block.last_op
                carried = () if passed is None else forwarded(passed)[1]
                self.refine(op, op.results, self.types(carried))
            case _:
                pass
        return False

    def widen(self, op: ForOp | WhileOp) -> bool:
        """Unify the types that `op` carries with those that its body yields; return whether one
        changes."""
        end = op.regions[-1].block.last_op
        _, carried = forwarded(op)
        before = self.types(carried)
        passed = [] if end is None else self.types(end.operands)
        if len(passed) != len(before):
            self.error(op, f"carries {len(before)} values, but its body yields {len(passed)}")
            return False
        types = [self.unified(op, pair, pair[0]) for pair in zip(before, passed)]
        self.refine(op, carried, types)
        # The lattice of types is finite in height: known size, unknown size, unknown rank.
        return self.types(forwarded(op)[1]) != before  # values that got another type are new ones

    def infer_function(self, op: FuncOp) -> None:
        """Infer the result types of `op` from its returns; more precise declared types stay."""
        declared = self.signatures.setdefault(op, op.function_type.outputs.data)
        before = self.returned.get(op, [None] * len(declared))
        returned: list[Attribute | None] = []
        for old, earlier, type in zip(
            declared, before, self.yielded_types(op, declared), strict=True
        ):
            type = self.unified(op, (earlier, type), old)
            returned.append(None if type is None else self.refined(op, old, type))
        self.returned[op] = returned
        outputs = [old if type is None else type for old, type in zip(declared, returned)]
        if outputs != list(op.function_type.outputs):
            inputs = op.function_type.inputs.data
            op.properties["function_type"] = FunctionType.from_lists(inputs, outputs)

    # Shared by the rules

    def error(self, op: Operation, message: str) -> None:
        """Record a contradiction."""
        self.errors[op, message] = None

    def types(self, values: Iterable[SSAValue]) -> list[Attribute | None]:
        """Return the types of `values`; None for unknown ones."""
        return [None if value in self.unknown else value.type for value in values]

    def yielded_types(self, op: Operation, declared: Types) -> Sequence[Attribute | None]:
        """Return the unified types of the operands of the terminators of `op`; `declared` if `op`
        has no terminators, or if their operands differ in number."""
        ends = [end.operands for end in result_terminators(op)]
        if any(len(values) != len(declared) for values in ends):
            counts = " and ".join(str(len(values)) for values in ends)
            self.error(op, f"has {len(declared)} results, but its regions yield {counts} values")
            return declared
        if not ends:
            return declared
        columns = zip(*map(self.types, ends), strict=True)
        return [self.unified(op, *pair) for pair in zip(columns, declared, strict=True)]

    def unified(
        self, op: Operation, types: Sequence[Attribute | None], declared: Attribute | None
    ) -> Attribute | None:
        """Return the most precise type that includes all known `types`.

        None if all are unknown; `declared`, with an error, if they contradict each other.
        """
        known = [type for type in types if type is not None]
        type = known[0] if known else None
        for other in known[1:]:
            type = type and unify(type, other)
        if known and type is None:
            self.error(op, f"the types {' and '.join(map(str, known))} have no common type")
            return declared
        return type

    def refined(self, op: Operation, declared: Attribute, inferred: Attribute) -> Attribute:
        """Return the type that combines both types, or `declared` if they contradict."""
        if (type := refine(declared, inferred)) is None:
            self.error(op, f"has result type {declared}, but {inferred} is inferred")
            return declared
        return type

    def refine(
        self, op: Operation, values: Sequence[SSAValue], types: Sequence[Attribute | None]
    ) -> None:
        """Give `values`, which `op` defines, the inferred `types` where these are more precise than
        the declared ones."""
        if len(values) != len(types):
            self.error(op, f"expected {len(values)} values, got {len(types)}")
            return
        for value, inferred in zip(values, types, strict=True):
            if inferred is None:
                self.unknown.add(value)
                continue
            self.unknown.discard(value)
            if inferred is not value.type:
                # With the declared type, not that of the last visit: a type may become less precise
                # again, but never less than it was declared.
                type = self.refined(op, self.declared.get(value, value.type), inferred)
                if type != value.type:
                    self.retype(value, type)

    def retype(self, value: SSAValue, type: Attribute) -> None:
        """Change the type of `value`; users that cannot adapt get casts at the end."""
        declared = self.declared.pop(value, value.type)
        new = Rewriter.replace_value_with_new_type(value, type)
        if isinstance(value, BlockArgument) and isinstance(new, BlockArgument):
            new.location = value.location
        self.declared[new] = declared

    def retyped(self) -> dict[SSAValue, Attribute]:
        """Return the values whose types have changed, with their declared types."""
        return {value: old for value, old in self.declared.items() if value.type != old}


class InferType(ModulePass):
    """Infer types as precise as possible, and check them.

    Source: `relay.InferType`.

    Before:

        func.func @main(%x: tensor<2x3xf32>) -> tensor<*xf32> {
          %0 = relax.exp %x : (tensor<2x3xf32>) -> tensor<*xf32>
          %1 = relax.sum %0 {axis = [1]} : (tensor<*xf32>) -> tensor<*xf32>
          func.return %1 : tensor<*xf32>
        }

    After:

        func.func @main(%x: tensor<2x3xf32>) -> tensor<2xf32> {
          %0 = relax.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
          %1 = relax.sum %0 {axis = [1]} : (tensor<2x3xf32>) -> tensor<2xf32>
          func.return %1 : tensor<2xf32>
        }
    """

    name = "infer-type"
    preserves = (CallGraph,)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        if are_settled(module):
            ctx.actions.count("retyped", 0)
            return
        graph = ctx.analyses.get(CallGraph, module)
        infer_types(module, graph, ctx.actions)
