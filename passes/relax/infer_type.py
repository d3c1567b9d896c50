"""InferType: types as precise as the operations that compute the values allow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.scf import ConditionOp, ForOp, IfOp, WhileOp, YieldOp
from xdsl.dialects.tensor import CastOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue, Use
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import VerifyException

from ...analysis.call_graph import CallGraph
from ...analysis.traversal import in_order
from ...dialects.relax.closures import InvokeOp, LambdaOp, MakeClosureOp
from ...dialects.relax.closures import YieldOp as LambdaYieldOp
from ...dialects.relax.graph import GraphOp, OutputOp
from ...dialects.relax.interfaces import InfersType
from ...dialects.relax.kernels import CallTIROp
from ...dialects.relax.tuples import MatchCastOp
from ...dialects.relax.types import is_tensor, refine, unify
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext

__all__ = ["InferType", "infer_types"]

Report: TypeAlias = Callable[[Operation, str], object]
Types: TypeAlias = Sequence[Attribute]


def infer_types(module: ModuleOp, report: Report, graph: CallGraph | None = None) -> int:
    """Retype values as precisely as can be inferred, never less; returns how many it retyped.

    Types flow through operations that infer them, branches, loops, graphs, functions and calls, of
    `func.func` and of `relax.lambda`. Parameters keep their declared type, and an operation that is
    none of these goes on to see the type that it saw before, through a cast. What a loop carries
    gets a type that fits each time around, and a recursive function returns what fits at any depth
    of the recursion. A contradiction is reported, and its operation left as it is.
    """
    inference = Inference()
    graphs = [CallGraph(module) if graph is None else graph]
    while graphs:
        inner = graphs.pop()
        inference.infer_module(inner)
        graphs += [CallGraph(op) for op in inner.callees_first() if isinstance(op, ModuleOp)]
    for op, message in inference.errors:
        report(op, message)
    return inference.insert_casts()


class Inference:
    """The state of one inference; casts are inserted at its end, when all types are known."""

    def __init__(self) -> None:
        self.errors: dict[tuple[Operation, str], None] = {}
        self.declared: dict[SSAValue, Attribute] = {}
        """The types that retyped values were given in the input."""
        self.unknown: set[SSAValue] = set()
        """Values that depend on a recursive call of which nothing is known yet."""
        self.holders: dict[Operation, None] = {}
        """The operations with regions."""
        self.functions: dict[str, FuncOp] = {}
        self.signatures: dict[FuncOp, Types] = {}
        """The result types that functions were given in the input."""
        self.returned: dict[FuncOp, Sequence[Attribute | None]] = {}
        """What functions return by what is known so far; None for nothing."""

    # Order

    def infer_module(self, graph: CallGraph) -> None:
        """Infer the types in each function after those it calls; again when these change later.

        A recursive call counts for nothing until it is known what else the function returns. If it
        returns nothing else, it is what is declared.
        """
        self.functions = {name: op for name, op in graph.symbols.items() if isinstance(op, FuncOp)}
        for op in self.functions.values():
            self.signatures[op] = op.function_type.outputs.data
        done: set[Operation] = set()
        pending = dict.fromkeys(reversed([*graph.callees_first()]))
        while pending:
            op, _ = pending.popitem()
            done.add(op)
            if not isinstance(op, ModuleOp) and self.infer_op(op):
                pending |= dict.fromkeys(c for c in graph.callers(op) if c in done)
            if not pending:
                for endless in [f for f, types in self.returned.items() if None in types]:
                    pairs = zip(self.returned[endless], self.signatures[endless], strict=True)
                    self.returned[endless] = [type or declared for type, declared in pairs]
                    pending |= dict.fromkeys((endless, *graph.callers(endless)))

    def infer_op(self, root: Operation) -> bool:
        """Infer the types in a top-level op; whether it is a function that returns other types.

        Ops with regions are entered and left, loops until their types fit. Nothing recurses, so any
        depth will do.
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
                        self.refine(op, _carried(op), self.types(op.operands[_first_carried(op) :]))
                    pending += self.enter(op)
                    break
                self.infer(op)
        return isinstance(root, FuncOp) and self.returned[root] != before

    def enter(self, op: Operation) -> list[Iterator[Operation] | Operation]:
        """What is to do in an op with regions, last first; forgets the errors of the last time."""
        if self.errors:
            self.errors = {key: None for key in self.errors if not op.is_ancestor(key[0])}
        self.holders[op] = None
        blocks = [block for region in op.regions for block in region.blocks]
        return [op, *map(in_order, reversed(blocks))]

    # The rules

    def infer(self, op: Operation) -> None:
        """Infer the results of an op without regions."""
        match op:
            case CastOp() | MatchCastOp():
                self.check_cast(op)
            case InfersType():
                self.infer_results(op)
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
        """The results have the types that the operation infers."""
        if self.unknown and not self.unknown.isdisjoint(op.operands):
            self.unknown.update(op.results)
            return
        try:
            types = op.infer_types()
        except VerifyException as error:
            self.error(op, str(error))
            self.unknown.difference_update(op.results)
        else:
            self.refine(op, op.results, types)

    def closure_type(self, op: MakeClosureOp, callee: FuncOp) -> Attribute | None:
        """The type of a closure of a function, by what is known of this."""
        known = [type for type in self.returned.get(callee, [None]) if type is not None]
        if len(known) < len(callee.function_type.outputs):
            return None
        inputs = callee.function_type.inputs.data
        return op.closure_type(FunctionType.from_lists(inputs, known))

    def check_cast(self, op: CastOp | MatchCastOp) -> None:
        """A cast keeps its type, which must not contradict what is known of its operand by now."""
        value, type = op.operands[0], op.result_types[0]
        if value not in self.unknown and refine(type, value.type) is None:
            self.error(op, f"casts {value.type} to {type}")

    def leave(self, op: Operation) -> bool:
        """Infer the results of an op from what its regions end with; whether to enter it again."""
        match op:
            case FuncOp():
                self.infer_function(op)
            case IfOp() | GraphOp():
                self.refine(op, op.results, self.given(op, op.result_types))
            case LambdaOp():
                types = self.given(op, op.result.type.outputs.data)
                known = [type for type in types if type is not None]
                type = FunctionType.from_lists(op.body.block.arg_types, known)
                self.refine(op, op.results, [type if len(known) == len(types) else None])
            case ForOp() | WhileOp():
                if self.widen(op):
                    return True
                given = _carried(op) if isinstance(op, ForOp) else op.after_region.block.args
                self.refine(op, op.results, self.types(given))
            case _:
                pass
        return False

    def widen(self, op: ForOp | WhileOp) -> bool:
        """Let what a loop carries also be what its body passes on; whether that changes a type."""
        end = op.regions[-1].block.last_op
        before = self.types(_carried(op))
        passed = [] if end is None else self.types(end.operands)
        if len(passed) != len(before):
            self.error(op, f"carries {len(before)} values, but its body passes on {len(passed)}")
            return False
        types = [self.unified(op, pair, pair[0]) for pair in zip(before, passed)]
        self.refine(op, _carried(op), types)
        return self.types(_carried(op)) != before

    def infer_function(self, op: FuncOp) -> None:
        """The function returns the types that all its returns do, or more precise declared ones."""
        declared = self.signatures.setdefault(op, op.function_type.outputs.data)
        before = self.returned.get(op, [None] * len(declared))
        returned: list[Attribute | None] = []
        for old, was, type in zip(declared, before, self.given(op, declared), strict=True):
            type = self.unified(op, (was, type), old)
            returned.append(None if type is None else self.refined(op, old, type))
        self.returned[op] = returned
        outputs = [old if type is None else type for old, type in zip(declared, returned)]
        if outputs != list(op.function_type.outputs):
            inputs = op.function_type.inputs.data
            op.properties["function_type"] = FunctionType.from_lists(inputs, outputs)

    # What they have in common

    def error(self, op: Operation, message: str) -> None:
        """Note a contradiction."""
        self.errors[op, message] = None

    def types(self, values: Iterable[SSAValue]) -> list[Attribute | None]:
        """The types of values; None for unknown ones."""
        return [None if value in self.unknown else value.type for value in values]

    def given(self, op: Operation, declared: Types) -> Sequence[Attribute | None]:
        """The types of what an op gives, at whichever of its ends; as declared if it has none."""
        ends = [end.operands for end in _ends(op)]
        if any(len(values) != len(declared) for values in ends):
            counts = " and ".join(str(len(values)) for values in ends)
            self.error(op, f"has {len(declared)} results, but is given {counts} values")
            return declared
        if not ends:
            return declared
        columns = zip(*map(self.types, ends), strict=True)
        return [self.unified(op, *pair) for pair in zip(columns, declared, strict=True)]

    def unified(
        self, op: Operation, types: Sequence[Attribute | None], declared: Attribute | None
    ) -> Attribute | None:
        """The type of a value that is of one of these types; None if nothing is known of it, and as
        declared if there is no such type."""
        known = [type for type in types if type is not None]
        type = known[0] if known else None
        for other in known[1:]:
            type = type and unify(type, other)
        if known and type is None:
            self.error(op, f"gives values of types {' and '.join(map(str, known))}")
            return declared
        return type

    def refined(self, op: Operation, declared: Attribute, inferred: Attribute) -> Attribute:
        """The type of a value that has both types, or as declared if they contradict."""
        if (type := refine(declared, inferred)) is None:
            self.error(op, f"has result type {declared}, but {inferred} is inferred")
            return declared
        return type

    def refine(
        self, op: Operation, values: Sequence[SSAValue], types: Sequence[Attribute | None]
    ) -> None:
        """Give values that `op` determines the types that it infers, where they say more than the
        declared ones."""
        if len(values) != len(types):
            self.error(op, f"gives {len(types)} values for {len(values)}")
            return
        for value, inferred in zip(values, types, strict=True):
            if inferred is None:
                self.unknown.add(value)
                continue
            self.unknown.discard(value)
            if inferred is not value.type:
                type = self.refined(op, self.declared.get(value, value.type), inferred)
                if type != value.type:
                    self.retype(value, type)

    def retype(self, value: SSAValue, type: Attribute) -> None:
        """Change the type of a value, whatever its users make of that."""
        declared = self.declared.pop(value, value.type)
        new = Rewriter.replace_value_with_new_type(value, type)
        if isinstance(value, BlockArgument) and isinstance(new, BlockArgument):
            new.location = value.location
        self.declared[new] = declared

    # Casts

    def insert_casts(self) -> int:
        """Give control flow values of exactly the types that it passes on, and users that cannot
        follow the types that they had; returns how many values were retyped."""
        for holder in self.holders:
            for user, start, types in _flows(holder):
                for index, (value, type) in enumerate(zip(user.operands[start:], types), start):
                    if value.type != type and refine(value.type, type) is not None:
                        user.operands[index] = _cast(value, type, InsertPoint.before(user))
        retyped = {value: old for value, old in self.declared.items() if value.type != old}
        for value, old in retyped.items():
            stuck = [use for use in value.uses if not _follows(use)]
            if stuck:
                cast = _cast(value, old, _after_definition(value))
                for use in stuck:
                    use.operation.operands[use.index] = cast
        return len(retyped)


def _cast(value: SSAValue, type: Attribute, where: InsertPoint) -> SSAValue:
    """The value as one of another type."""
    owner = value.owner
    location = owner.location if isinstance(owner, Operation) else None
    cast = CastOp if is_tensor(type) else MatchCastOp
    op = cast.create(operands=[value], result_types=[type], location=location)
    Rewriter.insert_op(op, where)
    return op.results[0]


def _after_definition(value: SSAValue) -> InsertPoint:
    owner = value.owner
    return InsertPoint.at_start(owner) if isinstance(owner, Block) else InsertPoint.after(owner)


# Where values flow


def _ends(op: Operation) -> list[Operation]:
    """The terminators that give what an op gives."""
    lasts = [block.last_op for region in op.regions for block in region.blocks]
    return [end for end in lasts if isinstance(end, ReturnOp | YieldOp | LambdaYieldOp | OutputOp)]


def _carried(loop: ForOp | WhileOp) -> Sequence[BlockArgument]:
    """What the body of a loop gets from the last time around, but for the index."""
    return loop.regions[0].block.args[1 if isinstance(loop, ForOp) else 0 :]


def _first_carried(loop: ForOp | WhileOp) -> int:
    """The index of the first operand that is carried: those of `scf.for` start with the bounds."""
    return 3 if isinstance(loop, ForOp) else 0


def _flows(holder: Operation) -> Iterator[tuple[Operation, int, Sequence[Attribute]]]:
    """The operands that must be of certain types for values to flow into and out of regions: the
    user, the index of the first, the types."""
    match holder:
        case FuncOp():
            yield from ((end, 0, holder.function_type.outputs.data) for end in _ends(holder))
        case LambdaOp():
            yield from ((end, 0, holder.result.type.outputs.data) for end in _ends(holder))
        case IfOp() | GraphOp():
            yield from ((end, 0, holder.result_types) for end in _ends(holder))
        case ForOp() | WhileOp():
            carried = [value.type for value in _carried(holder)]
            yield holder, _first_carried(holder), carried
            yield from ((end, 0, carried) for end in _ends(holder))
            if isinstance(condition := holder.regions[0].block.last_op, ConditionOp):
                yield condition, 1, holder.result_types
        case _:
            pass


def _follows(use: Use) -> bool:
    """Whether a user takes operands of more precise types, or is given a rule for them."""
    match use.operation:
        case InvokeOp():
            return use.index == 0
        case YieldOp() as end:
            return isinstance(end.parent_op(), IfOp | ForOp | WhileOp)
        case user:
            return isinstance(user, _FOLLOWING)


_FOLLOWING = (
    CallTIROp,
    CastOp,
    ConditionOp,
    ForOp,
    InfersType,
    LambdaYieldOp,
    OutputOp,
    ReturnOp,
    WhileOp,
)


class InferType(ModulePass):
    """Make types as precise as can be inferred, and check them; source: `relay.InferType`."""

    name = "infer-type"
    preserves = (CallGraph,)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        graph = ctx.analyses.get(CallGraph, module)
        ctx.count("retyped", infer_types(module, ctx.diagnostics.error, graph))
