"""Placement: the order of a pipeline with passes that say where they belong, by `after`, `before`
and `stage`.

The passes that the pipeline names keep their order. Each further pass stands directly after the
last of its `after`, else directly before the first of its `before`, else at the end of its `stage`,
else at the end of the pipeline.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, cast

from xdsl.passes import ModulePass

from .base import Pass
from .errors import PassPlacementError
from .names import closest_name, did_you_mean, name_key, unknown_pass
from .registry import installed
from .runner import info_of, is_own, nested_passes


class Placement(NamedTuple):
    """The place of a pass in a pipeline: names of passes and stages that it stands after and
    before, and the stage that it is in; `said_by` is the setting that says so, if not its class."""

    after: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    stage: str = ""
    said_by: str = ""

    def __bool__(self) -> bool:
        return bool(self.after or self.before or self.stage)

    def __str__(self) -> str:
        parts = [f"after {', '.join(self.after)}" if self.after else ""]
        parts += [f"before {', '.join(self.before)}" if self.before else ""]
        parts += [f"in stage {self.stage}" if self.stage else ""]
        return ", ".join(filter(None, parts)) or "at the end"


def placement_of(pass_: ModulePass | type[ModulePass]) -> Placement:
    """Return the placement that the class of a pass declares, or for a pass that runs another one,
    as `fixpoint(a)`, that of the other. Fields of a dataclass are options."""
    cls = pass_ if isinstance(pass_, type) else type(pass_)
    fields: Mapping[str, object] = getattr(cls, "__dataclass_fields__", {})
    given = [
        () if name in fields else getattr(cls, name, ()) for name in ("after", "before", "stage")
    ]
    after, before = ((names,) if isinstance(names, str) else names for names in given[:2])
    stage = given[2] if isinstance(given[2], str) else ""
    found = Placement(_strings(after), _strings(before), stage)
    if not found and isinstance(inner := getattr(pass_, "pass_", None), ModulePass):
        return placement_of(inner)
    return found


def _strings(names: object) -> tuple[str, ...]:
    if not isinstance(names, list | tuple):
        return ()
    given = cast(Sequence[object], names)
    return tuple(name for name in given if isinstance(name, str))


class Addition(NamedTuple):
    """A pass to add to a pipeline, with its place.

    `by` says who adds it, and `source` which project brought it. One that takes part by itself is
    left out of a pipeline that has none of its places.
    """

    pass_: ModulePass
    placement: Placement
    by: str = "added"
    source: str = ""
    by_itself: bool = False

    @property
    def reason(self) -> str:
        """Why the pass stands where it does."""
        return f"{f'from {self.source}' if self.source else self.by}: {self.placement}"


class Place(NamedTuple):
    """The stage that a pass of a pipeline is in, and the reason if the pipeline does not name
    it."""

    stage: str = ""
    reason: str = ""


class PassOrder(NamedTuple):
    """The passes of a pipeline in order; the range of each stage among them; the place of each
    pass, by its `id`; and warnings about places that do not exist."""

    passes: tuple[ModulePass, ...]
    stages: Mapping[str, range]
    places: Mapping[int, Place]
    warnings: tuple[str, ...]


def order_passes(
    written: Sequence[ModulePass], stages: Mapping[str, range], additions: Iterable[Addition]
) -> PassOrder:
    """Return the order of `written`, which have the ranges `stages`, with further passes.

    Further passes without a place stand in the order of `additions`.
    Errors: PassPlacementError, with the chain of constraints, if these contradict each other.
    """
    return _Ordering(written, stages, additions).order()


class _Further:
    """A further pass, and what is known of its place while the order is determined.

    The pipeline is seen as fixed nodes: its written passes, and a marker for the start and the end
    of each stage. Gap `g` is in front of the fixed node `g`.
    """

    __slots__ = (
        *("addition", "key", "low", "high", "after", "before", "anchors_after", "anchors_before"),
        *("ahead", "behind", "number", "wish", "gap", "is_open"),
    )

    def __init__(self, addition: Addition, key: str, gaps: int) -> None:
        self.addition = addition
        self.key = key
        self.number = 0
        self.low, self.high = 0, gaps
        """The first and the last gap that the constraints leave."""
        self.after, self.before = -1, gaps
        """The gaps directly after the last of `after`, and directly before the first of `before`,
        as far as these are fixed nodes."""
        self.anchors_after: list[_Further] = []
        self.anchors_before: list[_Further] = []
        """The further passes that `after` and `before` name."""
        self.ahead: list[_Further] = []
        self.behind: list[_Further] = []
        """The further passes that have to stand before and after this one."""
        self.wish: tuple[int, int] | None = None
        """The gap in which the rule puts the pass, and its kind there: 0 directly after a place, 1
        at an end, 2 directly before a place."""
        self.gap = 0
        self.is_open = False

    @property
    def name(self) -> str:
        return name_of_pass(self.addition.pass_)

    def rank(self) -> tuple[int, int]:
        """Return the position among equals in the same gap, the last one first."""
        assert self.wish is not None
        return -self.wish[1], -self.number


class _Ordering:
    """The order of one pipeline."""

    def __init__(
        self,
        written: Sequence[ModulePass],
        stages: Mapping[str, range],
        additions: Iterable[Addition],
    ) -> None:
        self.fixed: list[ModulePass | tuple[str, bool]] = []
        """The fixed nodes; a marker is the name of a stage, and whether the stage starts."""
        self.first: dict[str, int] = {}
        self.last: dict[str, int] = {}
        """The key of a written pass, or of one nested in it, or of a stage -> its fixed nodes."""
        self.stages = {name_key(name): name for name in stages}
        self.warnings: dict[str, None] = {}
        self.further: list[_Further] = []
        self._add_fixed(written, stages)
        self.further = self._taking_part(list(additions))
        self.by_key: dict[str, list[_Further]] = defaultdict(list)
        for number, pass_ in enumerate(self.further):
            pass_.number = number
            for key in (pass_.key, *inner_keys(pass_.addition.pass_)):
                self.by_key[key].append(pass_)
        for pass_ in self.further:
            self._constrain(pass_)
        for node, pass_ in enumerate(self.fixed):
            if not isinstance(pass_, tuple) and (at := placement_of(pass_)):
                self._constrain_by_written(node, at)

    # What there is

    def _add_fixed(self, written: Sequence[ModulePass], stages: Mapping[str, range]) -> None:
        starts, ends = defaultdict[int, list[str]](list), defaultdict[int, list[str]](list)
        for name, span in stages.items():
            starts[span.start].append(name)
            ends[span.stop].append(name)
        nested: dict[str, int] = {}
        for i in range(len(written) + 1):
            for name in ends[i]:
                if stages[name]:
                    self._mark(name, False)
            for name in starts[i]:
                self._mark(name, True)
                if not stages[name]:  # an empty stage ends where it starts
                    self._mark(name, False)
            if i < len(written):
                node = len(self.fixed)
                self.fixed.append(written[i])
                own = key_of(written[i])
                self.first.setdefault(own, node)
                self.last[own] = node
                for key in () if _is_open(written[i]) else inner_keys(written[i]):
                    nested.setdefault(key, node)
        # A pass that is nested only stands for the first pipeline that has it: those after it may
        # repeat it for themselves.
        self.first, self.last = nested | self.first, nested | self.last

    def _mark(self, stage: str, starts: bool) -> None:
        (self.first if starts else self.last)[name_key(stage)] = len(self.fixed)
        self.fixed.append((stage, starts))

    def _taking_part(self, additions: Sequence[Addition]) -> list[_Further]:
        """Return the passes that are added to this pipeline.

        One that takes part by itself needs its stage here, or else one of its other places; what
        other projects bring is left out if the pipeline has a pass of that name already.
        """
        gaps = len(self.fixed)
        passes = [_Further(a, key_of(a.pass_), gaps) for a in additions]
        named = {pass_.key for pass_ in passes if not pass_.addition.source}
        pending = deque[_Further]()
        waiting: dict[str, list[_Further]] = defaultdict(list)
        for pass_ in passes:
            at = pass_.addition.placement
            if pass_.addition.source and (pass_.key in named or pass_.key in self.first):
                continue
            if not pass_.addition.by_itself or not at or name_key(at.stage) in self.stages:
                pending.append(pass_)
            elif not at.stage:
                for name in (*at.after, *at.before):
                    waiting[name_key(name)].append(pass_)
            elif closest_name(at.stage, self.stages, cutoff=0.8):
                self._warn_of_stage(pass_)
        for key in waiting.keys() & self.first:
            pending += waiting.pop(key)
        while pending:
            pass_ = pending.popleft()
            pass_.is_open = True
            pending += waiting.pop(pass_.key, ())
        for pass_ in (pass_ for found in waiting.values() for pass_ in found):
            if not pass_.is_open:
                self._warn_of_mistakes(pass_)
        chosen = [pass_ for pass_ in passes if pass_.is_open]
        for pass_ in chosen:
            pass_.is_open = False
        return chosen

    # Constraints

    def _constrain(self, pass_: _Further) -> None:
        """Add what a further pass says of its place."""
        at = pass_.addition.placement
        for name in at.after:
            key = name_key(name)
            others = self.by_key.get(key, ())
            if (node := self.last.get(key)) is not None:
                pass_.after = max(pass_.after, node + 1)
            elif not others:
                self._warn_of_name(pass_, "after", name)
            for other in others:
                pass_.anchors_after.append(other)
                _link(other, pass_)
        for name in at.before:
            key = name_key(name)
            others = self.by_key.get(key, ())
            if (node := self.first.get(key)) is not None:
                pass_.before = min(pass_.before, node)
            elif not others:
                self._warn_of_name(pass_, "before", name)
            for other in others:
                pass_.anchors_before.append(other)
                _link(pass_, other)
        pass_.low, pass_.high = max(pass_.low, pass_.after), min(pass_.high, pass_.before)
        if at.stage:
            key = name_key(at.stage)
            if key in self.stages:
                pass_.low = max(pass_.low, self.first[key] + 1)
                pass_.high = min(pass_.high, self.last[key])
            else:
                self._warn_of_stage(pass_)

    def _constrain_by_written(self, node: int, at: Placement) -> None:
        """Add what a written pass says of further ones; written ones stand as written."""
        for name in at.after:
            for other in self.by_key.get(name_key(name), ()):
                other.high = min(other.high, node)
        for name in at.before:
            for other in self.by_key.get(name_key(name), ()):
                other.low = max(other.low, node + 1)

    # The order

    def order(self) -> PassOrder:
        """Give each further pass its gap, and the passes of each gap an order."""
        passes = self._sorted()
        for pass_ in passes:
            for other in pass_.behind:
                other.low = max(other.low, pass_.low)
        for pass_ in reversed(passes):
            for other in pass_.ahead:
                other.high = min(other.high, pass_.high)
        if any(pass_.low > pass_.high for pass_ in passes):
            raise self._contradiction()
        self._wish_all()
        members: dict[int, list[_Further]] = defaultdict(list)
        for pass_ in passes:
            assert pass_.wish is not None
            pass_.gap = max([pass_.wish[0], *(other.gap for other in pass_.ahead)])
            members[pass_.gap].append(pass_)
        return self._laid_out({gap: _in_gap(found) for gap, found in members.items()})

    def _sorted(self) -> list[_Further]:
        """Return the further passes, each after those that have to stand before it."""
        waiting = [len(pass_.ahead) for pass_ in self.further]
        found = [pass_ for pass_ in self.further if not pass_.ahead]
        for pass_ in found:  # which grows
            for other in pass_.behind:
                waiting[other.number] -= 1
                if waiting[other.number] == 0:
                    found.append(other)
        if len(found) < len(self.further):
            raise self._contradiction()
        return found

    def _wish_all(self) -> None:
        """Set the gap in which its rule puts each further pass, after those of its anchors."""
        for start in self.further:
            stack = [start]
            while stack:
                pass_ = stack[-1]
                if pass_.wish is None and not pass_.is_open:
                    pass_.is_open = True
                    anchors = (*pass_.anchors_after, *pass_.anchors_before)
                    if pending := [a for a in anchors if a.wish is None and not a.is_open]:
                        stack += pending
                        continue
                stack.pop()
                if pass_.wish is None:
                    gap, kind = self._wish(pass_)
                    pass_.wish = min(max(gap, pass_.low), pass_.high), kind

    def _wish(self, pass_: _Further) -> tuple[int, int]:
        low, high = 0, len(self.fixed)
        if key := name_key(pass_.addition.placement.stage):
            low, high = self.first.get(key, low), self.last.get(key, high)
        wish = max([(pass_.after, 0), *(a.wish for a in pass_.anchors_after if a.wish)])
        if wish[0] >= low and (pass_.after >= 0 or pass_.anchors_after):
            return wish
        wish = min([(pass_.before, 2), *(a.wish for a in pass_.anchors_before if a.wish)])
        if wish[0] <= high and (pass_.before < len(self.fixed) or pass_.anchors_before):
            return wish
        return high, 1

    def _laid_out(self, in_gaps: Mapping[int, Sequence[_Further]]) -> PassOrder:
        passes: list[ModulePass] = []
        places: dict[int, Place] = {}
        starts: dict[str, int] = {}
        stages: dict[str, range] = {}
        stage = ""
        for gap, node in enumerate([*self.fixed, None]):
            for further in in_gaps.get(gap, ()):
                passes.append(pass_ := further.addition.pass_)
                places[id(pass_)] = Place(stage, further.addition.reason)
            if isinstance(node, tuple):
                name, begins = node
                stage = name if begins else ""
                if begins:
                    starts[name] = len(passes)
                else:
                    stages[name] = range(starts[name], len(passes))
            elif node is not None:
                passes.append(node)
                places[id(node)] = Place(stage)
        return PassOrder(tuple(passes), stages, places, tuple(self.warnings))

    # Warnings

    def _warn_of_mistakes(self, pass_: _Further) -> None:
        """Warn about a pass that takes no part, if its places exist nowhere."""
        for verb, name in _named(pass_.addition.placement):
            self._warn_of_name(pass_, verb, name)

    def _warn_of_name(self, pass_: _Further, verb: str, name: str) -> None:
        is_pass = name_key(name) in installed().names
        if pass_.addition.by_itself and is_pass:
            return  # of another pipeline, or a project that is not installed
        names = [*self.stages.values(), *(p.name for p in self.further if p is not pass_)]
        written = [node for node in self.fixed if not isinstance(node, tuple)]
        names += (name_of_pass(p) for node in written for p in nested_passes(node))
        hint = did_you_mean(name, names)
        what = "which is not in the pipeline"
        if not is_pass:
            what = "which is neither a pass nor a stage"
            hint = hint or unknown_pass(name, installed().passes)
        self._warn(pass_, f"{verb} '{name}', {what}{hint}")

    def _warn_of_stage(self, pass_: _Further) -> None:
        stage, names = pass_.addition.placement.stage, [*self.stages.values()]
        hint = did_you_mean(stage, names)
        if not hint and names:
            hint = f"; it has {', '.join(names)}"
        self._warn(pass_, f"in stage '{stage}', which the pipeline does not have{hint}")

    def _warn(self, pass_: _Further, text: str) -> None:
        self.warnings[f"'{pass_.name}' is placed {text}"] = None

    # Contradictions

    def _contradiction(self) -> PassPlacementError:
        """Return the error with the shortest of some chains of facts that lead from a pass back to
        it."""
        edges, chains = self._edges(), list[list[tuple[int, _Edge]]]()
        for pass_ in self.further:
            if chain := _chain_from(len(self.fixed) + pass_.number, edges):
                chains.append(chain)
                if len(chains) == 16:
                    break
        chain = min(chains, key=len)
        said = ", ".join(self._said(chain))
        count = len(self.fixed)
        further = [self.further[node - count].addition for node, _ in chain if node >= count]
        if sources := ", ".join(dict.fromkeys(a.source for a in further if a.source)):
            said += (
                f" (passes from {sources} take part by themselves: PassContext(extensions=False) "
                "or --no-plugins-in-pipelines leaves them out)"
            )
        return PassPlacementError(f"placements contradict each other: {said}")

    def _edges(self) -> Mapping[int, list[_Edge]]:
        """Return what has to stand before what: fixed nodes have the numbers from 0, further passes
        those after them."""
        edges: dict[int, list[_Edge]] = defaultdict(list)
        count = len(self.fixed)
        for node in range(count - 1):
            edges[node].append(_Edge(node + 1, ""))
        for pass_ in self.further:
            me, at = count + pass_.number, pass_.addition.placement
            for verb, name in _named(at):
                key, by = name_key(name), at.said_by or f"{pass_.name}.{verb}"
                text = f"'{pass_.name}' is {verb} '{name}' ({by})"
                others = [count + other.number for other in self.by_key.get(key, ())]
                if key in self.first:
                    others.append(self.last[key] if verb == "after" else self.first[key])
                for other in others:
                    first, second = (other, me) if verb == "after" else (me, other)
                    edges[first].append(_Edge(second, text))
            if (key := name_key(at.stage)) in self.stages:
                by = at.said_by or f"{pass_.name}.stage"
                text = f"'{pass_.name}' is in stage '{at.stage}' ({by})"
                edges[self.first[key]].append(_Edge(me, text))
                edges[me].append(_Edge(self.last[key], text))
        for node, fixed in enumerate(self.fixed):
            if isinstance(fixed, tuple):
                continue
            for verb, name in _named(placement_of(fixed)):
                text = f"'{name_of_pass(fixed)}' is {verb} '{name}' ({name_of_pass(fixed)}.{verb})"
                for other in self.by_key.get(name_key(name), ()):
                    first, second = node, count + other.number
                    if verb == "after":
                        first, second = second, first
                    edges[first].append(_Edge(second, text))
        return edges

    def _said(self, chain: Sequence[tuple[int, _Edge]]) -> Iterator[str]:
        """Yield the facts of a chain; the way from one fixed node to another is one fact."""
        start: int | None = None
        for node, edge in chain:
            if not edge.text:
                start = node if start is None else start
                continue
            if start is not None:
                yield f"{self._name(start)} stands before {self._name(node)} in the pipeline"
                start = None
            yield edge.text

    def _name(self, node: int) -> str:
        fixed = self.fixed[node]
        if isinstance(fixed, tuple):
            return f"the {'start' if fixed[1] else 'end'} of stage '{fixed[0]}'"
        return f"'{name_of_pass(fixed)}'"


class _Edge(NamedTuple):
    """The fact that one node stands before another, as text; none for the written order."""

    target: int
    text: str


def _link(first: _Further, second: _Further) -> None:
    first.behind.append(second)
    second.ahead.append(first)


def _in_gap(passes: Sequence[_Further]) -> list[_Further]:
    """Return the passes of one gap in order: each after those that have to stand before it, and
    directly after the last of these."""
    if len(passes) == 1:
        return [*passes]
    gap = passes[0].gap
    waiting = {p.number: sum(other.gap == gap for other in p.ahead) for p in passes}
    stack = sorted((p for p in passes if not waiting[p.number]), key=_Further.rank)
    found: list[_Further] = []
    while stack:
        found.append(pass_ := stack.pop())
        ready: list[_Further] = []
        for other in pass_.behind:
            if other.gap == gap:
                waiting[other.number] -= 1
                if waiting[other.number] == 0:
                    ready.append(other)
        stack += sorted(ready, key=_Further.rank) if len(ready) > 1 else ready
    return found


def _chain_from(start: int, edges: Mapping[int, list[_Edge]]) -> list[tuple[int, _Edge]]:
    """Return the shortest way from `start` back to it; empty if there is none."""
    came: dict[int, tuple[int, _Edge]] = {}
    pending = deque([start])
    while pending and start not in came:
        node = pending.popleft()
        for edge in edges.get(node, ()):
            if edge.target not in came:
                came[edge.target] = node, edge
                pending.append(edge.target)
    chain: list[tuple[int, _Edge]] = []
    node = start
    while node in came and (not chain or node != start):
        chain.append(came[node])
        node = came[node][0]
    return chain[::-1]


def _named(at: Placement) -> Iterator[tuple[str, str]]:
    """Yield the names in `after` and `before`, each with that word."""
    yield from (("after", name) for name in at.after)
    yield from (("before", name) for name in at.before)


def name_of_pass(pass_: ModulePass) -> str:
    """Return the name of a pass; that of a leaf without its PassInfo, which takes long to make."""
    is_leaf = not is_own(pass_) or type(pass_).info is Pass.info
    return pass_.name if is_leaf else info_of(pass_).name


def key_of(pass_: ModulePass) -> str:
    """Return the key of the name of a pass."""
    return name_key(name_of_pass(pass_))


def inner_keys(pass_: ModulePass) -> Iterator[str]:
    """Yield the keys of the passes nested in a pass; not those in a staged pipeline in it, where
    they are places themselves."""
    for child in pass_.children if is_own(pass_) else ():
        yield key_of(child)
        if not _is_open(child):
            yield from inner_keys(child)


def _is_open(pass_: ModulePass) -> bool:
    return is_own(pass_) and pass_.is_open
