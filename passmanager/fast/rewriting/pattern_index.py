"""The index of rewrite patterns by the class of operation that they match."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import FunctionType, UnionType
from typing import NamedTuple, TypeAlias, cast

from xdsl.folder import Folder
from xdsl.ir import Operation
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.traits import (
    ConstantLike,
    HasCanonicalizationPatternsTrait,
    HasFolder,
)
from xdsl.transforms.canonicalize import CanonicalizationRewritePattern

from ...ir.effects import OBSERVABLE, class_effects, is_kept, would_be_dead
from ...ir.per_class import PerClass
from ...releases.rewriting import fold
from ..acceleration import choose
from ..interface import OpClass, PatternReader

__all__ = [
    "Attempt",
    "DeclaredPatterns",
    "Fold",
    "PatternIndex",
    "RemoveDead",
    "matched_class",
]

Rule: TypeAlias = Callable[[type[Operation]], Iterable[RewritePattern]]


class Attempt(NamedTuple):
    """A pattern to try on the ops of a class."""

    pattern: RewritePattern
    rewrite: Callable[[Operation, PatternRewriter], None]
    """The method `match_and_rewrite` of the pattern."""


class DeclaredPatterns(RewritePattern):
    """The canonicalization patterns that operations declare (`HasCanonicalizationPatternsTrait`).

    In place of each pattern whose class is in `replaced`, those given there are tried.
    """

    def __init__(self, replaced: Mapping[type[RewritePattern], Sequence[RewritePattern]]) -> None:
        self._replaced = replaced

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        patterns = [*self.patterns_of(type(op))]
        GreedyRewritePatternApplier(patterns).match_and_rewrite(op, rewriter)

    def patterns_of(self, op_class: type[Operation]) -> Iterator[RewritePattern]:
        """Yield the patterns for a class of op, in order."""
        for trait in op_class.get_traits_of_type(HasCanonicalizationPatternsTrait):
            for pattern in trait.get_patterns(op_class):
                yield from self._replaced.get(type(pattern), (pattern,))


class PatternIndex(PerClass[Operation, tuple[Attempt, ...]]):
    """An index of rewrite patterns: for each class of op the patterns to try, in order.

    Patterns that try several others in turn are flattened: GreedyRewritePatternApplier, whose
    folding and removal of dead ops become patterns too, and the patterns that ops declare
    (DeclaredPatterns, CanonicalizationRewritePattern).
    """

    def __init__(self, pattern: RewritePattern) -> None:
        super().__init__(self._patterns_for)
        self._rules = tuple(_rules(pattern))

    def _patterns_for(self, op_class: type[Operation]) -> tuple[Attempt, ...]:
        """Return the patterns for a class of op, each once."""
        # By identity: patterns are often dataclasses, which do not hash.
        found = {id(pattern): pattern for rule in self._rules for pattern in rule(op_class)}
        return tuple(Attempt(pattern, pattern.match_and_rewrite) for pattern in found.values())


class RemoveDead(RewritePattern):
    """A pattern that erases an op without users and side effects."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        for result in op.results:
            if result.first_use is not None:
                return
        if would_be_dead(op):
            rewriter.erase(op)


class Fold(RewritePattern):
    """A pattern that replaces an op by the result of its folder."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        fold(op, self._folder, rewriter)


@op_type_rewrite_pattern
def _typed(self: RewritePattern, op: Operation, rewriter: PatternRewriter, /) -> None: ...


# xDSL's decorator checks the class of the op inside of the function that it returns, and offers no
# way to ask for that class. But all these functions share one code object, and each has the class
# in its closure. Without the class each pattern would be called for every op: 20 patterns take 9
# times as long (0.5 against 4.4 us per op).
assert isinstance(_typed, FunctionType)
_TYPED_CODE = _typed.__code__


def _class_in_closure(pattern: RewritePattern) -> OpClass:
    method = getattr(pattern.match_and_rewrite, "__func__", None)
    if isinstance(method, FunctionType) and method.__code__ is _TYPED_CODE:
        for cell in method.__closure__ or ():
            if isinstance(found := cell.cell_contents, type | UnionType):
                return cast(OpClass, found)
    return Operation


def _any_class(pattern: RewritePattern) -> OpClass:
    return Operation


matched_class: PatternReader = choose("rewriting", lambda: _class_in_closure, lambda: _any_class)


def _rules(pattern: RewritePattern) -> Iterator[Rule]:
    # Exact classes: a subclass may do anything.
    if type(pattern) is GreedyRewritePatternApplier:
        if pattern.dce_enabled:
            yield _removals
        if pattern.folding_enabled:
            yield _folds(pattern)
        for part in pattern.rewrite_patterns:
            yield from _rules(part)
    elif type(pattern) is CanonicalizationRewritePattern:
        yield partial(_canonicalizations, DeclaredPatterns({}))
    elif isinstance(pattern, DeclaredPatterns):
        yield partial(_canonicalizations, pattern)
    else:
        matched = matched_class(pattern)
        yield lambda op_class: (pattern,) if issubclass(op_class, matched) else ()


_REMOVE_DEAD = (RemoveDead(),)


def _removals(op_class: type[Operation]) -> Iterable[RewritePattern]:
    return () if is_kept[op_class] or class_effects[op_class] & OBSERVABLE else _REMOVE_DEAD


def _folds(applier: GreedyRewritePatternApplier) -> Rule:
    if applier.ctx is None:
        raise ValueError("folding needs ctx: the dialects in it create the constants")
    fold = (Fold(Folder(applier.ctx)),)

    def rule(op_class: type[Operation]) -> Iterable[RewritePattern]:
        folds = op_class.has_trait(HasFolder, value_if_unregistered=False)
        # Folding a constant creates the same constant again, without end.
        return (
            fold
            if folds and not op_class.has_trait(ConstantLike, value_if_unregistered=True)
            else ()
        )

    return rule


def _canonicalizations(
    declared: DeclaredPatterns, op_class: type[Operation]
) -> Iterator[RewritePattern]:
    patterns = [*declared.patterns_of(op_class)]
    applier = GreedyRewritePatternApplier(patterns, dce_enabled=len(patterns) > 1)  # as xDSL does
    for rule in _rules(applier):
        yield from rule(op_class)
