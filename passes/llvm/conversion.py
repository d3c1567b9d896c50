"""The conversion of operations to the dialect llvm, one table of patterns at a time.

A pattern computes from an operation the values that stand for its results. Between operations of
converted dialects and others stand casts (`builtin.unrealized_conversion_cast`), as in MLIR; a cast
goes as soon as both of its sides are converted, so that after the last of the passes none is left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias, cast

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    NoneAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    UnrealizedConversionCastOp,
    VectorType,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from ...dialects.arith_types import is_vector
from ...dialects.llvm_extension import comparison_class, selection_class, truth
from ...dialects.numbers import Function, folded
from ...passmanager.errors import PasslineError
from ...passmanager.fast.creation import create_before
from ...passmanager.fast.edit import erase, insert_before, replace_all_uses
from ...passmanager.ir.location import place_of
from ...passmanager.ir.walk import walk
from ...passmanager.releases.floats import key_of
from ...passmanager.releases.memref import strides_of
from .types import POINTER, LLVMBuffer, Number, Word, lowered_type, lowered_types

Values: TypeAlias = "SSAValue | Sequence[SSAValue] | None"
"""The values that stand for the one result of an operation; None if it has none, or if the pattern
has set them."""
Pattern: TypeAlias = "Callable[[Any, Lowering], Values]"
Patterns: TypeAlias = Mapping[type[Operation], Pattern]

NO_FLAGS = llvm.FastMathAttr(None)
NO_BUNDLES = DenseArrayBase.from_list(i32, ())
NO_WRAP = IntegerAttr(3, i32)
"""No signed and no unsigned wrap, as a property of arithmetic."""
WORD_OPERATIONS: Mapping[Function, tuple[type[Operation], Attribute]] = {
    "add": (llvm.AddOp, NO_WRAP),
    "sub": (llvm.SubOp, IntegerAttr(0, i32)),  # may be negative
    "mul": (llvm.MulOp, NO_WRAP),
}
UNIT = UnitAttr()
C_CONVENTION = llvm.CallingConventionAttr("ccc")
NO_TAIL_CALL = llvm.TailCallKindAttr(llvm.TailCallKind.NONE)
IN_BOUNDS = IntegerAttr(7, i32)
"""In bounds, and no unsigned wrap, as a property of `llvm.getelementptr`."""


@cache
def integers32(*numbers: int) -> DenseArrayBase:
    """Return an array of integers as an attribute."""
    return DenseArrayBase.from_list(i32, numbers)


def convert(module: ModuleOp, patterns: Patterns) -> None:
    """Convert the operations of a module that have a pattern. PasslineError from a pattern for an
    operation that has no form in the dialect llvm; the module is then unfinished."""
    lowering = Lowering(module, patterns)
    for op in [*module.ops]:
        lowering.convert(op)


class Lowering:
    """The conversion of the operations of a module, one after the other, and what patterns ask."""

    def __init__(self, module: ModuleOp, patterns: Patterns) -> None:
        self.module = module
        self.patterns = patterns
        self.op: Operation = module
        """The operation at hand."""
        names = (op.properties.get("sym_name") for op in module.ops)
        self._declared = {name.data for name in names if isinstance(name, StringAttr)}
        self._forget()

    def _forget(self) -> None:
        """Begin with another operation of the module."""
        self._values: dict[int, tuple[SSAValue, ...]] = {}
        """The values that stand for others, by their ids."""
        self._buffers: dict[int, LLVMBuffer] = {}
        self._indices: dict[int, Number] = {}
        self._integers: dict[tuple[int, Attribute], SSAValue] = {}
        self._constants: dict[tuple[object, Attribute], SSAValue] = {}
        self._converted: list[Operation] = []
        self._arguments: list[BlockArgument] = []
        self._sources: list[UnrealizedConversionCastOp] = []
        """Casts of values that are not converted, as far as is known."""
        self._start: Operation | None = None

    def convert(self, root: Operation) -> None:
        """Convert an operation of the module, and all operations in it."""
        patterns = self.patterns
        # A copy of the list: patterns insert operations before the one at hand, and move blocks.
        for op in [*walk(root)]:
            self.op = op
            if type(op) is UnrealizedConversionCastOp:
                self._visit_cast(op)
            elif (pattern := patterns.get(type(op))) is not None:
                self._converted.append(op)
                if (new := pattern(op, self)) is not None:
                    self.set(result := op.results[0], new)
                    self._check(result)
        self._finish()

    def _check(self, result: SSAValue) -> None:
        """Raise PasslineError if a value has another type than the one that its old type becomes:
        xDSL's verifier passes some operations that MLIR's refuses."""
        values = self._values[id(result)]
        # The usual case, without a look-up of the lowered types.
        if len(values) == 1 and values[0].type is result.type:
            return
        found = tuple([value.type for value in values])
        if found != lowered_types(result.type):
            raise self.error(f"returns {result.type}, but computes {found[0]}")

    # Values

    def value(self, old: SSAValue) -> SSAValue:
        """Return the one value that stands for another."""
        return self.values(old)[0]

    def values(self, old: SSAValue) -> tuple[SSAValue, ...]:
        """Return the values that stand for another; a cast of it, if it is not converted."""
        if (found := self._values.get(id(old))) is not None:
            return found
        types = lowered_types(old.type)
        # A type of the dialect llvm already, or one that is not known and left alone.
        if types == (old.type,):
            found = (old,)
        else:
            source = UnrealizedConversionCastOp.create(operands=[old], result_types=types)
            # Where the value is defined, not where it is used, so that one cast serves all uses.
            insert_before(following(old), source)
            self._sources.append(source)
            found = tuple(source.results)
        self._values[id(old)] = found
        return found

    def set(self, old: SSAValue, new: SSAValue | Sequence[SSAValue]) -> None:
        """Let `new` stand for `old`, a result of the operation at hand or an argument of a block,
        which is removed in the end."""
        values = (new,) if isinstance(new, SSAValue) else tuple(new)
        if (hint := old.name_hint) is not None:
            for each in values:
                each.name_hint = each.name_hint or hint
        self._values[id(old)] = values
        # Removed in the end: operations that are not converted may still use it.
        if isinstance(old, BlockArgument):
            self._arguments.append(old)

    def buffer(self, old: SSAValue) -> LLVMBuffer:
        """Return the buffer that stands for a memref."""
        if (found := self._buffers.get(id(old))) is None:
            found = self._buffers[id(old)] = self._made_buffer(old)
        return found

    def set_buffer(self, old: SSAValue, new: LLVMBuffer) -> None:
        """Let `new` stand for a memref that the operation at hand returns."""
        type = cast("MemRefType[Attribute]", old.type)
        numbers = [
            self.number(value)
            for value, size in zip(new.sizes, type.get_shape(), strict=True)
            if size == DYNAMIC_INDEX
        ]
        if not isinstance(type.layout, NoneAttr):
            known = strides_of(type) or [None] * len(new.strides)
            numbers += [
                self.number(value)
                for value, stride in zip(new.strides, known, strict=True)
                if stride is None
            ]
        self.set(old, (new.pointer, *numbers))
        self._buffers[id(old)] = new

    def _made_buffer(self, old: SSAValue) -> LLVMBuffer:
        """Make a buffer of the values that stand for a memref; the strides are computed where that
        is defined, so that every use has them."""
        type = cast("MemRefType[Attribute]", old.type)
        pointer, *numbers = self.values(old)
        given = (Word(self, number) for number in numbers)
        sizes = tuple(next(given) if s == DYNAMIC_INDEX else s for s in type.get_shape())
        if not isinstance(type.layout, NoneAttr):
            if (known := strides_of(type)) is None:
                raise self.error(f"has the layout {type.layout}, which has no strides")
            strides = tuple(next(given) if s is None else s for s in known)
        elif all(isinstance(size, int) for size in sizes[1:]):
            strides = contiguous(sizes)
        else:
            op, self.op = self.op, following(numbers[-1])
            strides = contiguous(sizes)
            self.op = op
        return LLVMBuffer(pointer, sizes, strides, lowered_type(type.element_type))

    # Operations

    def add(
        self,
        kind: type[Operation],
        operands: Sequence[SSAValue],
        *results: Attribute,
        **properties: Attribute,
    ) -> SSAValue:
        """Insert an operation before the one at hand, with its location; return its result."""
        new = create_before(self.op, kind, operands, results, properties)
        return new.results[0] if results else cast("SSAValue", None)

    def add_branch(
        self,
        kind: type[Operation],
        operands: Sequence[SSAValue],
        successors: Sequence[Block],
        **properties: Attribute,
    ) -> None:
        """Insert a branch before the operation at hand."""
        new = kind.create(
            operands=operands,
            successors=successors,
            properties=properties,
            location=self.op.location,
        )
        insert_before(self.op, new)

    def constant(self, value: Attribute, type: Attribute) -> SSAValue:
        """Return a constant, which is inserted once, at the start of the function."""
        # Hoisted, as in `canonicalize`: LLVM merges constants anyway, and equal ones need not be
        # printed.
        if (found := self._constants.get(key := (key_of(value), type))) is None:
            new = llvm.ConstantOp.create(properties={"value": value}, result_types=[type])
            insert_before(self._first(), new)
            found = self._constants[key] = new.result
        return found

    def _first(self) -> Operation:
        """Return the first operation of the function around the one at hand."""
        # The same for the whole function: later constants come after earlier ones, in the order of
        # use.
        if self._start is None:
            function = self.op
            while (parent := function.parent_op()) is not None and parent is not self.module:
                function = parent
            entry = function.regions[0].first_block
            assert entry is not None
            self._start = entry.first_op or self.op
        return self._start

    def at_start(
        self,
        kind: type[Operation],
        operands: Sequence[SSAValue],
        *results: Attribute,
        **properties: Attribute,
    ) -> SSAValue:
        """Insert an operation at the start of the function, after the constants that are there."""
        op, self.op = self.op, self._first()
        new = self.add(kind, operands, *results, **properties)
        self.op = op
        return new

    def inside(self, op: Operation) -> Lowering:
        """Return a builder of operations before `op`, in a function that is not in the module
        yet."""
        inner = Lowering(self.module, self.patterns)
        inner.op, inner._declared = op, self._declared
        return inner

    def integer(self, value: int, type: Attribute = i64) -> SSAValue:
        """Return an integer; of a vector type, all lanes are `value`."""
        key = value, type
        if (found := self._integers.get(key)) is None:
            if is_vector(type):
                vector = cast("VectorType[IntegerType]", type)
                attribute: Attribute = DenseIntOrFPElementsAttr.from_list(vector, [value])
            else:
                attribute = IntegerAttr(value, cast("IntegerType", type))
            found = self._integers[key] = self.constant(attribute, type)
        return found

    def float(self, value: float, type: Attribute) -> SSAValue:
        """Return a float; of a vector type, all lanes are `value`."""
        if is_vector(type):
            vector = cast("VectorType[AnyFloat]", type)
            return self.constant(DenseIntOrFPElementsAttr.from_list(vector, [value]), type)
        return self.constant(FloatAttr(value, cast("AnyFloat", type)), type)

    def number(self, value: Number) -> SSAValue:
        """Return a number as an i64."""
        return self.integer(value) if isinstance(value, int) else value.value

    def numbers(self, given: Sequence[int], open: Sequence[SSAValue]) -> tuple[Number, ...]:
        """Return `given` with the converted values of `open` in the places that it leaves open."""
        rest = iter(open)
        return tuple(Word(self, self.value(next(rest))) if n == DYNAMIC_INDEX else n for n in given)

    def emit(self, function: Function, a: Number, b: Number) -> Number:
        """Return the sum, the difference or the product of two numbers."""
        if (known := folded(function, a, b)) is not None:
            return known
        op, flags = WORD_OPERATIONS[function]
        return Word(self, self.add(op, (self.number(a), self.number(b)), i64, overflowFlags=flags))

    def select(self, condition: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
        """Return one of two values; of vectors, select lane by lane."""
        kind = selection_class(condition.type)
        return self.add(kind, (condition, yes, no), yes.type, fastmathFlags=NO_FLAGS)

    def compare_floats(
        self, a: SSAValue, predicate: Attribute, b: SSAValue, flags: Attribute = NO_FLAGS
    ) -> SSAValue:
        """Return whether floats compare by a predicate of `llvm.fcmp`."""
        kind, type = comparison_class(a.type), truth(a.type)
        return self.add(kind, (a, b), type, predicate=predicate, fastmathFlags=flags)

    def element(self, buffer: LLVMBuffer, indices: Sequence[SSAValue]) -> SSAValue:
        """Return the pointer to the element of a buffer at unconverted indices."""
        place: Number = 0
        for index, stride in zip(indices, buffer.strides, strict=True):
            place = place + self.index(index) * stride
        return self.offset(buffer.pointer, place, buffer.element)

    def index(self, old: SSAValue) -> Number:
        """Return an index, as a number where it is a constant."""
        if (found := self._indices.get(id(old))) is None:
            found = self._indices[id(old)] = self._made_index(old)
        return found

    def _made_index(self, old: SSAValue) -> Number:
        """Look for a constant behind an index, before and after its conversion."""
        new = self.value(old)
        for value in (old, new):
            constant = value.owner
            if isinstance(constant, arith.ConstantOp | llvm.ConstantOp):
                if isinstance(number := constant.value, IntegerAttr):
                    return number.value.data
        return Word(self, new)

    def offset(self, pointer: SSAValue, place: Number, element: Attribute) -> SSAValue:
        """Return the pointer to the element `place` elements further on in the same buffer."""
        if place == 0:
            return pointer
        # A constant index has 32 bits.
        if isinstance(place, int) and -(1 << 31) < place < 1 << 31:
            indices, operands = [place], [pointer]
        else:
            indices, operands = [llvm.GEP_USE_SSA_VAL], [pointer, self.number(place)]
        return self.add(
            llvm.GEPOp,
            operands,
            POINTER,
            elem_type=element,
            rawConstantIndices=integers32(*indices),
            noWrapFlags=IN_BOUNDS,
            inbounds=UNIT,
        )

    def intrinsic(
        self,
        name: str,
        operands: Sequence[SSAValue],
        *results: Attribute,
        flags: Attribute = NO_FLAGS,
    ) -> SSAValue:
        """Call an intrinsic of LLVM, given by its name without the types in it."""
        return self.add(
            llvm.CallIntrinsicOp,
            operands,
            *results,
            intrin=StringAttr(name),
            fastmathFlags=flags,
            op_bundle_sizes=NO_BUNDLES,
            operandSegmentSizes=integers32(len(operands), 0),
        )

    def call(self, name: str, operands: Sequence[SSAValue], *results: Attribute) -> SSAValue:
        """Call a function of the C library or another one, which is declared if it is not yet."""
        self.declare(name, [operand.type for operand in operands], *results)
        return self.call_defined(name, operands, *results)

    def call_defined(
        self, name: str, operands: Sequence[SSAValue], *results: Attribute
    ) -> SSAValue:
        """Call a function of the module."""
        return self.add(
            llvm.CallOp,
            operands,
            *results,
            callee=SymbolRefAttr(name),
            fastmathFlags=NO_FLAGS,
            CConv=C_CONVENTION,
            op_bundle_sizes=NO_BUNDLES,
            TailCallKind=NO_TAIL_CALL,
            operandSegmentSizes=integers32(len(operands), 0),
        )

    def call_variadic(
        self, name: str, operands: Sequence[SSAValue], others: Sequence[SSAValue]
    ) -> None:
        """Call a function of the runtime that takes `others` in place of an ellipsis."""
        type = llvm.LLVMFunctionType([each.type for each in operands], is_variadic=True)
        self.define(llvm.FuncOp(name, type, llvm.LinkageAttr("external")))
        op = llvm.CallOp(name, *operands, *others)
        op.properties["var_callee_type"] = type
        op.location = self.op.location
        insert_before(self.op, op)

    def declare(self, name: str, inputs: Sequence[Attribute], *results: Attribute) -> None:
        """Declare a function in the module, unless there is one of that name."""
        if name not in self._declared:
            type = llvm.LLVMFunctionType(inputs, results[0] if results else None)
            self.define(llvm.FuncOp(name, type, llvm.LinkageAttr("external")))

    def define(self, op: llvm.FuncOp | llvm.GlobalOp) -> None:
        """Add a function or a global to the module, unless there is one of its name."""
        if op.sym_name.data not in self._declared:
            self._declared.add(op.sym_name.data)
            self.module.body.block.add_op(op)

    def error(self, message: str) -> PasslineError:
        """Return the error that the operation at hand cannot be converted."""
        return PasslineError(f"'{self.op.name}'{place_of(self.op)} {message}")

    # Casts

    def _visit_cast(self, op: UnrealizedConversionCastOp) -> None:
        """Record the converted values that a cast of an earlier pass names."""
        # A cast to an old type: an earlier pass has converted the definition, and its value is used
        # as is.
        if len(op.results) == 1 and lowered_types(op.results[0].type) == tuple(op.operand_types):
            self._values[id(op.results[0])] = tuple(op.operands)
            self._converted.append(op)
        # A cast from an old type: an earlier pass has converted the user. If the definition is
        # converted here, the cast is not needed any more.
        elif len(op.operands) == 1 and lowered_types(op.operands[0].type) == tuple(op.result_types):
            old = op.operands[0]
            self._values.setdefault(id(old), tuple(op.results))
            self._sources.append(op)

    def _finish(self) -> None:
        """Erase the converted operations; insert casts for users that are not converted."""
        casts: list[Operation] = []
        replaced: dict[SSAValue, SSAValue] = {}
        # First the casts, so that converted users read the new values; then definitions, users
        # first.
        for op in self._sources:
            # A cast to the old type and back again stands for a value that is replaced by now.
            values = [replaced.get(value, value) for value in self._values[id(op.operands[0])]]
            if values[0] is op.results[0]:
                casts.append(op)
                continue
            for result, new in zip(op.results, values, strict=True):
                replace_all_uses(result, new)
                replaced[result] = new
            erase(op)
        for op in reversed(self._converted):
            for result in op.results:
                self._cast_for_others(result, op)
            if all(result.first_use is None for result in op.results):
                erase(op)
        for argument in self._arguments:
            self._cast_for_others(argument, argument.block.first_op)
            argument.block.erase_arg(argument)
        for op in casts:
            if all(result.first_use is None for result in op.results):
                erase(op)
        self._forget()

    def _cast_for_others(self, old: SSAValue, before: Operation | None) -> None:
        """Let the users of `old` that are left use its converted values, cast to the old type."""
        if old.first_use is None or isinstance(old.owner, UnrealizedConversionCastOp):
            return
        new = self._values[id(old)]
        if len(new) == 1 and new[0].type == old.type:
            replace_all_uses(old, new[0])
            return
        assert before is not None
        cast = UnrealizedConversionCastOp.create(operands=new, result_types=[old.type])
        insert_before(before, cast)
        replace_all_uses(old, cast.results[0])


def contiguous(sizes: Sequence[Number]) -> tuple[Number, ...]:
    """Return the strides of elements in row-major order."""
    strides: list[Number] = []
    stride: Number = 1
    for size in reversed(sizes):
        strides.append(stride)
        if len(strides) < len(sizes):
            stride = stride * size
    return tuple(strides[::-1])


def following(value: SSAValue) -> Operation:
    """Return an operation before which a value is there, as early as possible."""
    if isinstance(value, BlockArgument):
        found = value.block.first_op
    else:
        assert isinstance(value.owner, Operation)
        found = value.owner.next_op
    assert found is not None
    return found
