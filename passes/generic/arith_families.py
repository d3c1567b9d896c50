"""Families of the operations of `arith`."""

from __future__ import annotations

from typing import Final

from xdsl.dialects import arith
from xdsl.ir import Operation, OpResult, SSAValue

from ...passmanager.ir.per_class import PerClass

Family = frozenset[type[Operation]]

_BY_NAME = {op.name.removeprefix("arith."): op for op in arith.Arith.operations}


def family(names: str) -> Family:
    """Return the operations with these names, without the dialect."""
    return frozenset(_BY_NAME[name] for name in names.split())


REORDERABLE: Final = family("addi muli andi ori xori minsi maxsi minui maxui")
"""Associative and commutative operations; on floats, another order gives another result."""
COMMUTATIVE: Final = REORDERABLE | family("addf mulf maximumf minimumf maxnumf minnumf")
"""MLIR's commutative operations; xDSL 0.74 has the trait for five of them."""
DIVISIONS: Final = family("divsi divui remsi remui floordivsi ceildivsi ceildivui")
"""Operations that are undefined for some divisors, and trap."""


def _kind(cls: type[Operation]) -> type[Operation]:
    dialect, _, name = cls.name.partition(".")
    return _BY_NAME.get(name, cls) if dialect == "arith" else cls


_kinds: Final = PerClass[Operation, type[Operation]](_kind)


def kind_of(op: Operation) -> type[Operation]:
    """Return xDSL's class of an operation of `arith`, also of one on vectors or with flags, which
    are classes of their own where xDSL's is for scalars; any other operation's own class."""
    return _kinds[type(op)]


def definition(value: SSAValue, *kinds: type[Operation]) -> Operation | None:
    """Return the operation that defines a value, if it is of one of these kinds (`kind_of`)."""
    if isinstance(value, OpResult) and kind_of(value.op) in kinds:
        return value.op
    return None
