"""All errors of invalid IR, where verification raises the first."""

from __future__ import annotations

from xdsl.ir import Operation

from ..errors import InvalidIRError
from .dominance import DominanceVerifier
from .verifier import OpVerifier
from .walk import ancestors, walk


class _DominanceErrors(DominanceVerifier):
    """The check of all uses in one isolated scope, which keeps the errors."""

    def __init__(self, root: Operation, errors: list[InvalidIRError]) -> None:
        super().__init__(root)
        self._errors = errors

    def report(self, error: InvalidIRError) -> None:
        self._errors.append(error)


def all_errors(op: Operation, *, is_whole: bool = True) -> list[InvalidIRError]:
    """Return the errors of `op` and all ops nested in it, dominance included, in the order of the
    checks; none of an op around one that is invalid, as it may be the consequence.

    If the text was not read as a whole, operations with regions and the last one of each block are
    not verified.
    """
    errors: list[InvalidIRError] = []
    verifier = OpVerifier(checks_isolation=False)
    holders: list[Operation] = []
    failed: set[Operation] = set()

    def check(inner: Operation) -> None:
        try:
            verifier.verify_op(inner)
        except InvalidIRError as error:
            errors.append(error)
            failed.update(ancestors(inner))

    for inner in walk(op):
        if inner.regions:
            holders.append(inner)
        elif is_whole or inner.next_op is not None:
            check(inner)
    for holder in reversed(holders):
        if is_whole and holder not in failed:
            check(holder)
    scopes = [op]
    for scope in scopes:
        dominance = _DominanceErrors(scope, errors)
        dominance.run()
        scopes += dominance.isolated
    return errors
