"""The text of a pipeline as a tree of the ops that passes visit, as mlir-opt dumps it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from .anchors import Anchored
from .base import FunctionPass
from .options import options_text, pass_text
from .runner import info_of
from .sequential import Fixpoint, Repeat, Sequential

__all__ = ["pipeline_tree"]


def pipeline_tree(pipeline: ModulePass) -> str:
    """Return the text of a pipeline as mlir-opt's `--dump-pass-pipeline` prints it: a line for each
    pass, with all options, within the anchors of the ops that it visits. `parse_pipeline` reads it.
    """
    passes = pipeline.passes if isinstance(pipeline, Sequential) else (pipeline,)
    return "\n".join(_tree_of(ModuleOp.name, [*map(_anchored, passes)]))


class _Anchored(NamedTuple):
    """The lines of a pass, and the anchors around them, outermost first."""

    anchors: tuple[str, ...]
    lines: list[str]


def _anchored(pass_: ModulePass) -> _Anchored:
    match pass_:
        case Anchored():
            inner, last = _anchored(pass_.pass_), pass_.anchors[-1].op
            own = () if inner.anchors[:1] in ((last,), ()) else inner.anchors
            return _Anchored((*map(str, pass_.anchors), *own), inner.lines)
        case Sequential():
            texts = ",".join(info_of(child).text for child in pass_.passes)
            heading = pass_.info.text.removesuffix(f"({texts})")
            return _Anchored((), _tree_of(heading, [*map(_anchored, pass_.passes)]))
        case Fixpoint() | Repeat():
            (child,) = pass_.children
            heading = f"{pass_.name}{options_text(pass_.options, defaults=True)}"
            return _Anchored((), _tree_of(heading, [_anchored(child)]))
        case _:
            visited = (pass_.anchor.name,) if isinstance(pass_, FunctionPass) else ()
            text = pass_text(cast(ModulePass, pass_), defaults=True)
            return _Anchored(visited, [text])


def _tree_of(heading: str, passes: Sequence[_Anchored]) -> list[str]:
    """Return the lines of passes in parentheses; those in a row with one anchor are in it."""
    parts: list[list[str]] = []
    for anchor, group in groupby(passes, lambda pass_: pass_.anchors[:1]):
        if anchor:
            inner = [each._replace(anchors=each.anchors[1:]) for each in group]
            parts.append(_tree_of(anchor[0], inner))
        else:
            parts += [each.lines for each in group]
    lines = [f"  {line}" for part in parts for line in (*part[:-1], f"{part[-1]},")]
    return [f"{heading}(", *lines[:-1], *(line[:-1] for line in lines[-1:]), ")"]
