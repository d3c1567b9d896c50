"""The atoms of an analyzer, each of them one object."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from .....passes.generic.analysis.scoped_dict import ScopedDict
from ..linear_form import DIVISIONS, Atom, AtomKind, LinearForm

__all__ = ["AtomTable", "factors_of"]


class AtomTable(ScopedDict[tuple[object, ...], Atom]):
    """Hash-consed atoms, found by a key of the caller's choice."""

    def __init__(self) -> None:
        super().__init__()
        self._count = 0

    def new(self, kind: AtomKind, operands: tuple[LinearForm, ...], value: SSAValue | None) -> Atom:
        """Return a new atom, which is not in the table."""
        atoms = [atom for operand in operands for atom, _ in operand.terms]
        depth = max((atom.depth for atom in atoms), default=0) + 1
        has_division = kind in DIVISIONS or (
            kind is AtomKind.MUL and any(atom.has_division for atom in atoms)
        )
        # Not the length of the table, which lacks VALUE atoms and shrinks at the end of a scope. If
        # two atoms had one number, equal sums could be sorted in two ways, and be different forms.
        self._count += 1
        return Atom(self._count, kind, operands, value, depth, has_division)

    def function(self, kind: AtomKind, *operands: LinearForm) -> LinearForm:
        """Return the atom that is a function of `operands`; it is not an SSA value."""
        key = (kind, operands)
        if (atom := self.get(key)) is None:
            atom = self.new(kind, operands, None)
            self.put(key, atom)
        return LinearForm.of(atom)

    def product(self, factors: Sequence[Atom]) -> Atom:
        """Return the atom that is the product of one or more atoms, in any order."""
        if len(factors) == 1:
            return factors[0]
        # Sorted and flat (`factors_of`), so that `(a * b) * c` and `c * (b * a)` are one atom.
        in_order = sorted(factors, key=lambda atom: atom.number)
        product = self.function(AtomKind.MUL, *map(LinearForm.of, in_order)).atom
        assert product is not None
        return product


def factors_of(atom: Atom) -> list[Atom]:
    """Return the atoms whose product `atom` is; itself if it is no product of atoms."""
    if atom.kind is AtomKind.MUL:
        factors = [operand.atom for operand in atom.operands]
        if None not in factors:
            return [factor for factor in factors if factor is not None]
    return [atom]
