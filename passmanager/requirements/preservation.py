"""The verification of the `preserves` of passes, for `verify_preserves`."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ..analysis_manager import AnalysisManager
from ..context import PassContext
from ..errors import PassContractError
from ..ir.changes.changes import Changes, Snapshot
from ..ir.clone import clone
from ..registration.info import PassInfo
from ..registration.names import name_key
from ..run import Run

__all__ = ["check_preserved"]


def check_preserved(
    info: PassInfo, preserves: Iterable[str | type], changes: Changes, run: Run
) -> None:
    """Raise PassContractError if a pass, which changed the module, did not preserve an item of
    `preserves`.

    A preserved pass that was valid is run again on a copy, and must change nothing. A cached
    analysis is computed again and must be equal; the attributes are compared if it defines no
    equality.
    """
    for claim in preserves:
        if isinstance(claim, type):
            _check_analysis(claim, info, changes, run)
        elif run.is_valid(claim) and (pass_ := run.passes.get(name_key(claim))) is not None:
            _check_pass(pass_, info, run)


def _check_pass(pass_: ModulePass, info: PassInfo, run: Run) -> None:
    copy = clone(run.module)
    snapshot = Snapshot(copy)
    config = PassContext.current().config
    with PassContext(verify_each=False):  # without instruments: the user did not run this pass
        config.apply(pass_, pass_.name).apply(run.ir_context, copy)
    if snapshot.update():
        raise PassContractError(
            f"pass '{info.name}' claims to preserve '{pass_.name}', "
            "but running it again changes the module"
        )


def _check_analysis(analysis: type[object], info: PassInfo, changes: Changes, run: Run) -> None:
    gone: set[Operation] = set(changes.removed)
    for cls, op in run.analyses:
        if cls is not analysis or op in gone:
            continue
        fresh: object = AnalysisManager().get(cls, op)
        kept: object = run.analyses.cached(cls, op)
        if not _equal(kept, fresh):
            raise PassContractError(
                f"pass '{info.name}' claims to preserve {analysis.__name__}, "
                f"but the analysis of '{op.name}' has changed"
            )


def _equal(a: object, b: object) -> bool:
    """Return whether two values are equal, by their attributes if their class defines no
    equality.
    """
    if type(a) is not type(b):
        return False
    if type(a).__eq__ is not object.__eq__ or not hasattr(a, "__dict__"):
        return a == b
    ours, theirs = vars(a), vars(b)
    return ours.keys() == theirs.keys() and all(_equal(ours[key], theirs[key]) for key in ours)
