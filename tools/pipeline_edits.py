"""The options that edit the pipeline: --add-pass and --replace-pass."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Callable, Mapping

from xdsl.passes import ModulePass

from ..passmanager.additions import extend, replace_pass
from ..passmanager.errors import PasslineError, PassNotFoundError
from ..passmanager.names import did_you_mean
from ..passmanager.pipeline import parse_pipeline
from ..passmanager.placement import Placement
from ..passmanager.sequential import Sequential

_PLACE = re.compile(r"\s*@\s*([\w-]+)\s*:\s*([\w.\-]+)\s*$")
_WORDS = ("after", "before", "stage")

Passes = Mapping[str, Callable[[], type[ModulePass]]]


def edited(
    pipeline: Sequential, args: Namespace, passes: Passes, warn: Callable[[str], None]
) -> Sequential:
    """Return the pipeline with what --replace-pass and --add-pass say, in this order.

    Errors: PipelineSyntaxError for an unknown pass; PasslineError for a malformed option or a pass
    that is not there to be replaced; PassPlacementError for places that contradict each other.
    """
    for option in args.replace_pass:
        name, equals, text = option.partition("=")
        if not (name.strip() and equals and text.strip()):
            raise PasslineError(f"--replace-pass {option}: expected NAME=PASS")
        new = parse_pipeline(text, passes, warn).passes
        try:
            pipeline = replace_pass(pipeline, name.strip(), new)
        except PassNotFoundError as error:
            raise PasslineError(f"--replace-pass: {error}") from None
    for option in args.add_pass:
        text, at = _with_place(option)
        new = parse_pipeline(text, passes, warn).passes
        if not new:
            raise PasslineError(f"--add-pass '{option}': expected the name of a pass")
        pipeline = extend(pipeline, new, at, lambda said: warn(f"--add-pass: {said}"), "--add-pass")
    return pipeline


def _with_place(option: str) -> tuple[str, Placement | None]:
    """Return the pass in the value of --add-pass, and its place, if one is given."""
    places: dict[str, list[str]] = {word: [] for word in _WORDS}
    text = option
    while (match := _PLACE.search(text)) is not None:
        word, name = match.groups()
        if word not in places:
            hint = did_you_mean(word, _WORDS) or f"; expected one of {', '.join(_WORDS)}"
            raise PasslineError(f"--add-pass: there is no place '@{word}:'{hint}")
        places[word].insert(0, name)
        text = text[: match.start()]
    if len(places["stage"]) > 1:
        raise PasslineError(f"--add-pass '{option}': a pass is in one stage")
    if not any(places.values()):
        return option, None
    stage = "".join(places["stage"])
    return text, Placement((*places["after"],), (*places["before"],), stage, "--add-pass")
