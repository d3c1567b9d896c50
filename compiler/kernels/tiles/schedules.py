"""The schedules of a contraction: the space from which its kernel chooses one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import FixedBitwidthType

from ....dialects.relax.types import is_integer
from ....dialects.target import Target
from ....dialects.tir.builder import Index
from ....dialects.tir.functions import SymbolicExtent, volume
from ..choices import Form, Space
from ..contraction.byte_products import ByteProducts
from ..contraction.contraction import Contraction
from .cost_model import candidates, cycles, schedule_of
from .schedule import NOMINAL, NOMINAL_IMAGE, ContractionOperand, Extents, Schedule


@dataclass(frozen=True)
class Schedules(Space[Schedule]):
    """The schedules of a contraction."""

    extents: Extents
    target: Target

    kind = "schedule"

    def problem(self) -> Form:
        constant = self.extents.constant
        given = None if constant is None else constant.value
        # Fields that came later are left out at their defaults: databases of measured schedules
        # that were written before still match.
        absent = {
            "margin": 0,
            "edge": None,
            "of_integers": False,
            "exact_pairs": None,
            "m_known": True,
        }
        form = {k: v for k, v in vars(self.extents).items() if k not in absent or v != absent[k]}
        return {**form, "constant": given}

    def candidates(self) -> Iterator[Schedule]:
        return candidates(self.extents, self.target)

    def estimate(self, candidate: Schedule) -> float:
        return self.extents.batch * cycles(candidate, self.extents, self.target)

    def best(self) -> Schedule:
        return schedule_of(self.extents, self.target)


def extents_of(t: Contraction) -> Extents:
    """Return the extents of a contraction, for the cost model; nominal ones for those that are not
    known."""
    inputs, *taps = (nominal(extent) for extent in t.terms)
    block = taps.pop() if t.rhs_along_terms and taps else 1
    image = NOMINAL_IMAGE if t.rows else NOMINAL
    if isinstance(t.columns, SymbolicExtent) and len({*t.columns.size.symbols()}) > 1:
        # A product of two symbols, height and width merged into one dimension.
        image = NOMINAL_IMAGE**2  # all points of one
    assert isinstance(t.total, FixedBitwidthType)
    bits = max(8, t.total.bitwidth)
    constant = None
    if t.weights is not None:
        constant = ContractionOperand.LHS if t.weights.is_lhs else ContractionOperand.RHS
    rows, columns = (volume([nominal(n, image) for n in part]) for part in (t.rows, (t.columns,)))
    return Extents(
        m=nominal(t.m),
        rows=rows,
        columns=columns,
        inputs=max(1, inputs),
        taps=volume(taps) * block,
        bits=bits,
        merged=t.merged,
        constant=constant,
        taps_across=taps[-1] if taps else 1,
        columns_known=isinstance(t.columns, int),
        m_known=isinstance(t.m, int),
        batch=nominal_volume(t.batch),
        block=block,
        rows_together=t.rows_together,
        margin=t.margin,
        of_integers=is_integer(t.total),
        exact_pairs=t.exact_pairs if isinstance(t, ByteProducts) else None,
        edge=None if t.edges is None else t.edges.most,
    )


def nominal_volume(shape: Sequence[Index]) -> int:
    """Return the number of elements of a shape, with nominal extents for those that are not
    known."""
    return prod(map(nominal, shape))


def nominal(extent: Index, assumed: int = NOMINAL) -> int:
    """Return an extent, or the `assumed` one if it is not known."""
    return extent if isinstance(extent, int) else assumed
