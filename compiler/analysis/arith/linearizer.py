"""SSA values as linear forms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerAttr, MemRefType
from xdsl.ir import Block, Operation, OpResult, SSAValue

from ....dialects.tir.ops import ForOp
from ....passes.generic.scoped_dict import ScopedDict
from ....passmanager.releases.floats import key_of
from .canonical import CanonicalArithmetic
from .expressions import (
    BOOLEAN,
    INDEX,
    INDEX_WIDTH,
    SIGNED,
    ULT,
    Predicate,
    bit_width,
    has_pure_class,
    is_integer,
    range_of_rounded_log2,
    range_of_type,
    rounded_log2_argument,
)
from .linear_form import ONE, ZERO, AtomKind, LinearForm
from .ranges import Range

MAX_TERMS = 16
"""A sum of more terms is read as an atom: sums of sums would take quadratic time."""

MAX_DEPTH = 32
"""Functions that are nested deeper are read as an atom: ranges and costs are computed
recursively."""

MAX_SHIFT = 63
"""The maximum shift of an index that is read as a multiplication or division."""

NSW = arith.IntegerOverflowFlag.NSW


class Linearizer(CanonicalArithmetic, ABC):
    """Reads SSA values as linear forms, each value once.

    Indices do not overflow. An operation on an `iN` is taken apart only if its range shows that it
    does not overflow, or if it must not (`nsw`); otherwise its result is an atom.
    """

    def __init__(self, *, transitive: bool = False) -> None:
        super().__init__(transitive=transitive)
        self.forms: ScopedDict[SSAValue, LinearForm] = ScopedDict()

    @abstractmethod
    def prove(self, condition: SSAValue) -> bool | None:
        """Return whether a condition, of type i1, holds; None if unknown."""

    def linear(self, value: SSAValue) -> LinearForm:
        """Return the form of `value`; a value that is not an integer is an atom.

        Values with equal forms are equal wherever both are computed.
        """
        if (form := self.forms.get(value)) is not None:
            return form
        pending = [value]  # a worklist instead of recursion: chains of operations may be long
        while pending:
            value = pending[-1]
            if value in self.forms:
                pending.pop()
                continue
            unread = [source for source in _sources(value) if source not in self.forms]
            if unread:
                pending += unread
                continue
            pending.pop()
            # All sources are read, so nothing in `_read` recurses into the IR.
            form = self._read(value)
            # The value becomes a leaf with the range of its type: facts about its parts are lost,
            # which costs proofs, never soundness.
            if len(form.terms) > MAX_TERMS or any(atom.depth > MAX_DEPTH for atom, _ in form.terms):
                form = self._opaque(value)
            self.forms.put(value, form)
        return self.forms[value]

    def comparison(self, op: arith.CmpiOp) -> tuple[Predicate, LinearForm] | None:
        """Return a comparison as a signed one of a form with 0.

        None if it does not compare scalars, or if it is unsigned and the signs are unknown.
        """
        if not is_integer(op.lhs.type):
            return None
        a, b = self.linear(op.lhs), self.linear(op.rhs)
        number = op.predicate.value.data
        # `true < false` as signed i1, since true is -1 there, but 1 in a form.
        if op.lhs.type == BOOLEAN and number > 1:
            return None
        if number >= ULT and not (self.is_non_negative(a) and self.is_non_negative(b)):
            return None
        return SIGNED[number], a - b

    # Atoms

    def _opaque(self, value: SSAValue) -> LinearForm:
        """Return a new atom; only its type is known."""
        atom = self.atoms.new(AtomKind.VALUE, (), value)
        self.constraints.set_initial(atom, range_of_type(value.type))
        return LinearForm.of(atom)

    def _result_atom(self, op: Operation) -> LinearForm:
        """Return the atom of an operation and its operands: equal for equal expressions."""
        forms = tuple(map(self.linear, op.operands))
        value = op.results[0]
        # Properties belong to the key: `cmpi slt` and `cmpi eq` on the same operands differ in
        # these alone.
        properties = [(name, key_of(op.properties[name])) for name in sorted(op.properties)]
        key = (type(op), forms, value.type, *properties)
        if (atom := self.atoms.get(key)) is None:
            atom = self.atoms.new(AtomKind.OP, forms, value)
            self.atoms.put(key, atom)
            self.constraints.set_initial(atom, self._initial_range(op))
        return LinearForm.of(atom)

    def _initial_range(self, op: Operation) -> Range:
        if isinstance(op, memref.DimOp):
            return Range(0)
        within = range_of_type(op.results[0].type)
        if isinstance(op, arith.FPToSIOp | arith.FPToUIOp):
            if (argument := rounded_log2_argument(op.input)) is not None:
                found = self.constraints.range_of(self.linear(argument))
                return within.meet(range_of_rounded_log2(op.input, found))
        return within

    # Reading

    def _read(self, value: SSAValue) -> LinearForm:
        """Return the form of a value; the forms of its sources are in `forms`."""
        if not isinstance(value, OpResult):
            assert isinstance(value.owner, Block)
            return self._read_argument(value, value.owner)
        form = self._read_operation(value.op) if is_integer(value.type) else None
        if form is not None:
            return form
        return self._result_atom(value.op) if has_pure_class(value.op) else self._opaque(value)

    def _read_argument(self, value: SSAValue, block: Block) -> LinearForm:
        loop = block.parent_op()
        if isinstance(loop, ForOp):
            first, extent = self.linear(loop.min), self.linear(loop.extent)
            # A loop that runs once: its variable is its minimum, so the loop disappears from all
            # forms.
            if extent == ONE:
                return first
            last = self.add(first, extent) - 1
        # The step is not used: with a step above 1 the last value is smaller, and the range still
        # right.
        elif isinstance(loop, scf.ForOp) and value is block.args[0] and value.type == INDEX:
            first, last = self.linear(loop.lb), self.linear(loop.ub) - 1
        else:
            return self._opaque(value)
        return LinearForm.of(self.atoms.new(AtomKind.LOOP, (first, last), value))

    def _read_operation(self, op: Operation) -> LinearForm | None:
        """Return the form of the result of an integer operation; None if it is an atom."""
        match op:
            case arith.ConstantOp():
                return _read_constant(op)
            case arith.AddiOp():
                return self._unless_wrapped(self.add(self.linear(op.lhs), self.linear(op.rhs)), op)
            case arith.SubiOp():
                difference = self.add(self.linear(op.lhs), self.linear(op.rhs), -1)
                return self._unless_wrapped(difference, op)
            case arith.MuliOp():
                product = self.multiply(self.linear(op.lhs), self.linear(op.rhs))
                return self._unless_wrapped(product, op)
            case (
                arith.FloorDivSIOp() | arith.DivSIOp() | arith.RemSIOp() | arith.CeilDivSIOp()
                | arith.DivUIOp() | arith.RemUIOp() | arith.CeilDivUIOp()
            ):  # fmt: skip
                return self._read_division(op)
            case arith.MinSIOp() | arith.MaxSIOp() | arith.MinUIOp() | arith.MaxUIOp():
                return self._read_extremum(op)
            case arith.ShLIOp() | arith.ShRSIOp() | arith.ShRUIOp():
                return self._read_shift(op)
            case arith.AndIOp() if op.result.type != BOOLEAN:
                return self._read_mask(op)
            case arith.IndexCastOp() | arith.ExtSIOp() | arith.ExtUIOp() | arith.TruncIOp():
                return self._read_cast(op)
            case arith.SelectOp():
                return self._read_select(op)
            case memref.DimOp():
                return self._read_dim(op)
            case _:
                return None

    def _read_division(self, op: arith.SignlessIntegerBinaryOperation) -> LinearForm | None:
        a, b = self.linear(op.lhs), self.linear(op.rhs)
        # Undefined; an atom keeps the operation as it is, so that it can still trap at run time.
        if b == ZERO:
            return None
        match op:
            case arith.FloorDivSIOp() | arith.DivSIOp():
                quotient = (self.floordiv if isinstance(op, arith.FloorDivSIOp) else self.div)(a, b)
                # Only the minimum integer by -1 overflows, which is undefined behavior.
                # A quotient of unknown range is read as an atom instead, which has the range of the
                # type.
                return quotient if b.constant == -1 else self._unless_wrapped(quotient, op)
            case arith.RemSIOp():
                return self.rem(a, b)
            case arith.CeilDivSIOp() if not b.terms and b.constant > 0:
                return self.floordiv(a + (b.constant - 1), b)
            case _:
                pass
        if not (self.is_non_negative(a) and self.is_non_negative(b)):
            return None
        match op:
            case arith.DivUIOp():
                return self.floordiv(a, b)
            case arith.RemUIOp():
                return self.mod(a, b)
            case _:
                # `ceildivui` by any positive b. The signed one needs a constant b, whose sign is
                # known.
                return self.floordiv(self.add(a, b) - 1, b)

    def _read_extremum(self, op: arith.SignlessIntegerBinaryOperation) -> LinearForm | None:
        a, b = self.linear(op.lhs), self.linear(op.rhs)
        if op.result.type == BOOLEAN:
            return None
        is_unsigned = isinstance(op, arith.MinUIOp | arith.MaxUIOp)
        if is_unsigned and not (self.is_non_negative(a) and self.is_non_negative(b)):
            return None
        is_minimum = isinstance(op, arith.MinSIOp | arith.MinUIOp)
        return self.minimum(a, b) if is_minimum else self.maximum(a, b)

    def _read_shift(self, op: arith.SignlessIntegerBinaryOperation) -> LinearForm | None:
        a, b = self.linear(op.lhs), self.linear(op.rhs)
        width = bit_width(op.result.type)
        if b.terms or not 0 <= b.constant <= (MAX_SHIFT if width == INDEX_WIDTH else width - 1):
            return None
        power = 1 << b.constant
        # An arithmetic shift rounds down for negative numbers too, unlike `divsi`.
        if isinstance(op, arith.ShRSIOp):
            return self.floordiv(a, power)
        if not self.is_non_negative(a):
            return None
        if isinstance(op, arith.ShLIOp):
            return self._unless_wrapped(a * power, op)
        return self.floordiv(a, power)

    def _read_mask(self, op: arith.AndIOp) -> LinearForm | None:
        """Read `x andi (2**n - 1)` as `x mod 2**n`."""
        # Also of a negative x: its two's complement has the low bits of `x mod 2**n`, which is not
        # negative.
        a, b = self.linear(op.lhs), self.linear(op.rhs)
        if a == b:
            return a
        for form, mask in ((a, b), (b, a)):
            if not mask.terms and mask.constant >= 0 and mask.constant & (mask.constant + 1) == 0:
                return self.mod(form, mask.constant + 1)
        return None

    def _read_cast(self, op: Operation) -> LinearForm | None:
        source = op.operands[0]
        # `extsi` of true is -1 and `trunci` to i1 keeps one bit: neither is the identity on forms.
        if source.type == BOOLEAN or op.results[0].type == BOOLEAN or not is_integer(source.type):
            return None
        form = self.linear(source)
        if isinstance(op, arith.ExtUIOp) and not self.is_non_negative(form):
            return None
        return self._unless_wrapped(form, op)

    def _read_select(self, op: arith.SelectOp) -> LinearForm | None:
        a, b = self.linear(op.lhs), self.linear(op.rhs)
        if a == b:
            return a
        chosen = self.prove(op.cond)
        return None if chosen is None else a if chosen else b

    def _read_dim(self, op: memref.DimOp) -> LinearForm | None:
        axis, type = self.linear(op.index), op.source.type
        if axis.terms or not isinstance(type, MemRefType):
            return None
        shape = type.get_shape()
        if not 0 <= axis.constant < len(shape):
            return None
        if (size := shape[axis.constant]) != DYNAMIC_INDEX:
            return LinearForm((), size)
        if isinstance(allocation := op.source.owner, memref.AllocOp | memref.AllocaOp):
            number = shape[: axis.constant].count(DYNAMIC_INDEX)
            return self.linear(allocation.dynamic_sizes[number])
        return None

    def _unless_wrapped(self, form: LinearForm, op: Operation) -> LinearForm | None:
        """Return `form` if the result of `op` provably does not overflow, or must not (`nsw`)."""
        type = op.results[0].type
        if isinstance(type, IndexType):
            return form
        flags = op.properties.get("overflowFlags")
        if isinstance(flags, arith.IntegerOverflowAttr) and NSW in flags.data:
            return form
        minimum, maximum, _ = range_of_type(type)
        low, high, _ = self.constraints.range_of(form)
        if low is None or high is None or minimum is None or maximum is None:
            return None
        return form if minimum <= low and high <= maximum else None


def _sources(value: SSAValue) -> Sequence[SSAValue]:
    """Return the values whose forms are needed to read `value`."""
    if isinstance(value, OpResult):
        op = value.op
        if not has_pure_class(op):
            return ()
        if isinstance(op, memref.DimOp) and isinstance(
            allocation := op.source.owner, memref.AllocOp | memref.AllocaOp
        ):
            return (*op.operands, *allocation.dynamic_sizes)
        return op.operands
    block = value.owner
    loop = block.parent_op() if isinstance(block, Block) else None
    match loop:
        case ForOp():
            return (loop.min, loop.extent)
        case scf.ForOp() if value is loop.body.block.args[0]:
            return (loop.lb, loop.ub)
        case _:
            return ()


def _read_constant(op: arith.ConstantOp) -> LinearForm | None:
    if not isinstance(op.value, IntegerAttr):
        return None
    value = op.value.value.data
    if not isinstance(op.result.type, IndexType):
        width = bit_width(op.result.type)
        # xDSL accepts `255 : i8` and `-1 : i8` for the same bits; forms need one number for both.
        value &= (1 << width) - 1
        if width > 1 and value >> (width - 1):
            value -= 1 << width
    return LinearForm((), value)
